#include "fetch/admin_client.h"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core/basic_stream.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <boost/json/parse.hpp>
#include <boost/url/parse.hpp>
#include <utility>

#include "fetch/server_sent_events.h"

namespace sluice::fetch {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using asio::ip::tcp;
using ErrorCode = boost::system::error_code;
using Request = http::request<http::string_body>;
using Parser = http::response_parser<http::string_body>;

constexpr std::string_view kUnix = "unix:";

core::Error Failure(std::string message) {
  return {core::ErrorCode::kInternal, std::move(message)};
}

// Runs one asynchronous operation, whose handler `start` is given, to its end.
template <class Start>
ErrorCode Await(asio::io_context& io, Start start) {
  ErrorCode result = asio::error::operation_aborted;
  start([&result](const ErrorCode& ec, auto&&...) { result = ec; });
  io.restart();
  io.run();
  return result;
}

// What to do on a connection: `read` gets the body as it comes, false ends it.
struct Exchange {
  Request request;
  std::chrono::seconds patience;  // with one step
  std::function<bool(int status, std::string_view bytes)> read;
};

template <class Stream>
core::Result<void> Run(asio::io_context& io, Stream& stream, Exchange& exchange) {
  auto& socket = beast::get_lowest_layer(stream);
  socket.expires_after(exchange.patience);
  ErrorCode ec = Await(
      io, [&](auto handler) { http::async_write(stream, exchange.request, std::move(handler)); });
  if (ec) return Failure("cannot send: " + ec.message());
  beast::flat_buffer buffer;
  Parser parser;
  parser.body_limit(boost::none);
  while (!parser.is_done()) {
    socket.expires_after(exchange.patience);
    ec = Await(io, [&](auto handler) {
      http::async_read_some(stream, buffer, parser, std::move(handler));
    });
    if (ec == beast::error::timeout) {
      return Failure("nothing was heard for " + std::to_string(exchange.patience.count()) + " s");
    }
    if (ec && ec != http::error::end_of_stream && ec != asio::error::eof) {
      return Failure("cannot receive: " + ec.message());
    }
    if (!parser.is_header_done()) {
      if (ec) return Failure("the connection ended without an answer");
      continue;
    }
    std::string body = std::exchange(parser.get().body(), {});
    if (!exchange.read(static_cast<int>(parser.get().result_int()), body) || ec) break;
  }
  return {};
}

core::Result<void> RunOnUnixSocket(const std::string& path, Exchange& exchange) {
  asio::io_context io;
  beast::basic_stream<asio::local::stream_protocol> stream(io);
  ErrorCode ec;
  stream.socket().connect(asio::local::stream_protocol::endpoint(path), ec);
  if (ec) return Failure("cannot connect to " + path + ": " + ec.message());
  return Run(io, stream, exchange);
}

core::Result<void> RunOnTcp(const boost::urls::url_view& url, Exchange& exchange) {
  asio::io_context io;
  const bool secure = url.scheme() == "https";
  const std::string host = url.host_address();
  ErrorCode ec;
  tcp::resolver resolver(io);
  const auto endpoints = resolver.resolve(host,
                                          url.has_port() ? std::string(url.port())
                                          : secure       ? "443"
                                                         : "80",
                                          ec);
  if (ec) return Failure("cannot find " + host + ": " + ec.message());
  asio::ssl::context tls(asio::ssl::context::tls_client);
  beast::ssl_stream<beast::tcp_stream> stream(io, tls);
  beast::tcp_stream& plain = beast::get_lowest_layer(stream);
  plain.expires_after(exchange.patience);
  ec = Await(io, [&](auto handler) { plain.async_connect(endpoints, std::move(handler)); });
  if (ec) {
    return Failure("cannot connect to " + std::string(url.encoded_host_and_port()) + ": " +
                   ec.message());
  }
  if (!secure) return Run(io, plain, exchange);
  tls.set_default_verify_paths(ec);
  stream.set_verify_mode(asio::ssl::verify_peer);
  stream.set_verify_callback(asio::ssl::host_name_verification(host));
  SSL_set_tlsext_host_name(stream.native_handle(), host.c_str());
  ec = Await(io, [&](auto handler) {
    stream.async_handshake(asio::ssl::stream_base::client, std::move(handler));
  });
  if (ec) return Failure("TLS with " + host + " failed: " + ec.message());
  return Run(io, stream, exchange);
}

core::Result<void> RunAt(const std::string& address, Exchange& exchange) {
  Request& request = exchange.request;
  request.version(11);
  request.set(http::field::connection, "close");
  if (address.starts_with(kUnix)) {
    request.set(http::field::host, "localhost");
    return RunOnUnixSocket(address.substr(kUnix.size()), exchange);
  }
  const auto url = boost::urls::parse_uri(address);
  if (!url || (url->scheme() != "http" && url->scheme() != "https") ||
      url->encoded_host().empty()) {
    return Failure("\"" + address +
                   "\" is no address of an admin listener; write http://127.0.0.1:9102, or "
                   "unix:PATH for a socket");
  }
  request.set(http::field::host, beast::string_view(url->encoded_host_and_port()));
  return RunOnTcp(*url, exchange);
}

Request RequestFor(std::string_view method, std::string_view target, std::string_view body) {
  Request request;
  request.method_string(beast::string_view(method.data(), method.size()));
  request.target(beast::string_view(target.data(), target.size()));
  if (!body.empty()) {
    request.set(http::field::content_type, "application/json");
    request.body() = body;
  }
  request.prepare_payload();
  return request;
}

}  // namespace

std::string AdminClient::Answer::Detail() const {
  ErrorCode ec;
  const auto document = boost::json::parse(body, ec);
  if (!ec && document.is_object()) {
    const auto* detail = document.get_object().if_contains("detail");
    if (detail != nullptr && detail->is_string()) return std::string(detail->get_string());
  }
  return body;
}

core::Result<AdminClient::Answer> AdminClient::Ask(std::string_view method, std::string_view target,
                                                   std::string_view body) const {
  Answer answer;
  Exchange exchange{RequestFor(method, target, body), patience_,
                    [&](int status, std::string_view bytes) {
                      answer.status = status;
                      answer.body += bytes;
                      return true;
                    }};
  if (auto done = RunAt(address_, exchange); !done.has_value()) return done.error();
  return answer;
}

core::Result<void> AdminClient::Watch(std::string_view target, const OnEvent& on_event) const {
  Answer refusal;
  ServerSentEvents events(on_event);
  Exchange exchange{RequestFor("GET", target, {}), patience_,
                    [&](int status, std::string_view bytes) {
                      if (status == 200) return events.Add(bytes);
                      refusal.status = status;
                      refusal.body += bytes;
                      return true;
                    }};
  if (auto done = RunAt(address_, exchange); !done.has_value()) return done.error();
  if (refusal.status == 0) return {};
  return Failure(std::to_string(refusal.status) + ": " + refusal.Detail());
}

}  // namespace sluice::fetch
