#include "fetch/http_fetcher.h"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/host_name_verification.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl/ssl_stream.hpp>
#include <boost/url/parse.hpp>
#include <boost/url/url.hpp>
#include <boost/url/url_view.hpp>
#include <deque>
#include <exception>
#include <optional>
#include <utility>

#include "fetch/gunzip.h"

namespace sluice::fetch {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using ErrorCode = boost::system::error_code;
using SteadyClock = std::chrono::steady_clock;
using Headers = std::vector<std::pair<std::string, std::string>>;

constexpr auto kAwait = asio::as_tuple(asio::use_awaitable);
constexpr int kMaxRedirects = 3;
constexpr std::chrono::milliseconds kBeforeNextTry{100};

// One answer, or why there is none. A redirect has `location`.
struct Answer {
  HttpReply reply;  // without its url
  std::string location;
};

Answer Failed(std::string_view step, const ErrorCode& ec) {
  Answer answer;
  answer.reply.error =
      std::string(step) + ": " + (ec == beast::error::timeout ? "timed out" : ec.message());
  return answer;
}

bool IsRedirect(int status) {
  return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

bool MayPass(const Answer& answer) {
  const int status = answer.reply.status;
  return status == 0 || (status >= 500 && status <= 504);
}

// Sends the request over a stream that is connected, and reads the answer.
template <class Stream>
asio::awaitable<Answer> Exchange(Stream& stream, const http::request<http::string_body>& request,
                                 std::size_t max_bytes) {
  auto [write_error, written] = co_await http::async_write(stream, request, kAwait);
  if (write_error) co_return Failed("send", write_error);
  beast::flat_buffer buffer;
  http::response_parser<http::string_body> parser;
  parser.body_limit(max_bytes);
  auto [read_error, read] = co_await http::async_read(stream, buffer, parser, kAwait);
  if (read_error) co_return Failed("receive", read_error);
  auto& response = parser.get();
  Answer answer;
  HttpReply& reply = answer.reply;
  reply.status = static_cast<int>(response.result_int());
  answer.location = response[http::field::location];
  reply.etag = response[http::field::etag];
  reply.last_modified = response[http::field::last_modified];
  reply.content_type = response[http::field::content_type];
  const auto encoding = response[http::field::content_encoding];
  if (encoding.empty() || beast::iequals(encoding, "identity")) {
    reply.body = std::move(response.body());
  } else if (beast::iequals(encoding, "gzip")) {
    if (const char* problem = Gunzip(response.body(), max_bytes, reply.body)) {
      reply.error = problem;
    }
  } else {
    reply.error = "content encoding " + std::string(encoding) + " was not asked for";
  }
  co_return answer;
}

// Sees to it that `done` is called once and in time: resolving a name cannot be cut short, so the
// time-out does not wait for the coroutine.
struct Call {
  Call(asio::io_context& io, HttpRequest what, std::function<void(HttpReply)> callback,
       SteadyClock::time_point until)
      : request(std::move(what)), done(std::move(callback)), deadline(until), timer(io, until) {}

  HttpReply Failure(std::string_view error) const {
    HttpReply reply;
    reply.url = request.url;
    reply.error = error;
    return reply;
  }
  void Finish(HttpReply reply) {
    if (!done) return;
    timer.cancel();
    std::exchange(done, nullptr)(std::move(reply));
  }

  const HttpRequest request;
  std::function<void(HttpReply)> done;
  const SteadyClock::time_point deadline;
  asio::steady_timer timer;
};

}  // namespace

struct HttpFetcher::Impl : std::enable_shared_from_this<HttpFetcher::Impl> {
  Impl(asio::io_context& context, Options opts) : io(context), options(std::move(opts)) {}

  // Loading the authorities takes megabytes, so only who fetches over https pays for it.
  asio::ssl::context& Tls() {
    if (!tls) {
      tls.emplace(asio::ssl::context::tls_client);
      tls->set_default_verify_paths();
      tls->set_verify_mode(asio::ssl::verify_peer);
    }
    return *tls;
  }

  http::request<http::string_body> RequestFor(const boost::urls::url_view& url,
                                              const Headers& headers,
                                              const std::string& body) const {
    const auto target = url.encoded_target();
    http::request<http::string_body> request{
        body.empty() ? http::verb::get : http::verb::post,
        target.empty() ? beast::string_view("/") : beast::string_view(target), 11};
    if (!body.empty()) {
      request.body() = body;
      request.content_length(body.size());
    }
    request.set(http::field::host, beast::string_view(url.encoded_host_and_port()));
    request.set(http::field::user_agent, options.user_agent);
    request.set(http::field::accept, "application/yaml, application/json, */*");
    request.set(http::field::accept_encoding, "gzip");
    for (const auto& [name, value] : headers) request.set(name, value);
    request.set(http::field::connection, "close");
    return request;
  }

  asio::awaitable<Answer> GetOnce(boost::urls::url_view url, const Headers& headers,
                                  const std::string& body, SteadyClock::time_point deadline) {
    const bool secure = url.scheme() == "https";
    const std::string host = url.host_address();
    const std::string port = url.has_port() ? std::string(url.port()) : secure ? "443" : "80";
    tcp::resolver resolver(io);
    auto [resolve_error, endpoints] = co_await resolver.async_resolve(host, port, kAwait);
    if (resolve_error) co_return Failed("resolve " + host, resolve_error);

    const auto connect_until = std::min(SteadyClock::now() + options.connect_timeout, deadline);
    const auto request = RequestFor(url, headers, body);
    if (!secure) {
      beast::tcp_stream stream(io);
      stream.expires_at(connect_until);
      auto [error, endpoint] = co_await stream.async_connect(endpoints, kAwait);
      if (error) co_return Failed("connect", error);
      stream.expires_at(deadline);
      co_return co_await Exchange(stream, request, options.max_body_bytes);
    }
    beast::ssl_stream<beast::tcp_stream> stream(io, Tls());
    stream.set_verify_callback(asio::ssl::host_name_verification(host));
    if (!SSL_set_tlsext_host_name(stream.native_handle(), host.c_str())) {
      co_return Failed("TLS", ErrorCode(asio::error::invalid_argument));
    }
    auto& socket = beast::get_lowest_layer(stream);
    socket.expires_at(connect_until);
    auto [error, endpoint] = co_await socket.async_connect(endpoints, kAwait);
    if (error) co_return Failed("connect", error);
    auto [tls_error] = co_await stream.async_handshake(asio::ssl::stream_base::client, kAwait);
    if (tls_error) co_return Failed("TLS", tls_error);
    socket.expires_at(deadline);
    co_return co_await Exchange(stream, request, options.max_body_bytes);
  }

  asio::awaitable<Answer> GetSome(boost::urls::url_view url, const Headers& headers,
                                  const std::string& body, SteadyClock::time_point deadline) {
    for (int tries = 1;; ++tries) {
      Answer answer = co_await GetOnce(url, headers, body, deadline);
      const bool again = tries < options.max_tries && MayPass(answer);
      if (!again || SteadyClock::now() + kBeforeNextTry >= deadline) co_return answer;
      asio::steady_timer pause(io, kBeforeNextTry);
      co_await pause.async_wait(kAwait);
    }
  }

  asio::awaitable<HttpReply> Fetch(HttpRequest request, SteadyClock::time_point deadline) {
    HttpReply reply;
    std::string text = std::move(request.url);
    Headers headers = std::move(request.headers);
    bool was_secure = false;
    for (int redirects = 0; redirects <= kMaxRedirects; ++redirects) {
      reply.url = text;
      const auto url = boost::urls::parse_uri(text);
      const bool secure = url && url->scheme() == "https";
      if (!url || (!secure && url->scheme() != "http") || url->encoded_host().empty()) {
        reply.error = "not an http URL";
        co_return reply;
      }
      if (was_secure && !secure) {
        reply.error = "redirected from https to http";
        co_return reply;
      }
      was_secure = secure;
      Answer answer = co_await GetSome(*url, headers, request.body, deadline);
      reply = std::move(answer.reply);
      reply.url = text;
      if (!IsRedirect(reply.status) || !request.body.empty()) co_return reply;
      headers.clear();  // they may be secret, and are about the first address
      boost::urls::url next;
      const auto location = boost::urls::parse_uri_reference(answer.location);
      if (!location || !boost::urls::resolve(*url, *location, next)) {
        reply.error = "redirected to something that is no URL";
        co_return reply;
      }
      next.remove_fragment();
      text = next.c_str();
    }
    reply.error = "too many redirects";
    co_return reply;
  }

  // Runs `call` now if a connection is free, else when one is.
  void Begin(const std::shared_ptr<Call>& call) {
    if (running == options.max_connections) {
      queue.push_back(call);
      return;
    }
    ++running;
    asio::co_spawn(io, Fetch(call->request, call->deadline),
                   [self = shared_from_this(), call](std::exception_ptr failure, HttpReply reply) {
                     if (failure) reply = call->Failure("failed inside the HTTP client");
                     call->Finish(std::move(reply));
                     self->OnEnd();
                   });
  }

  void OnEnd() {
    --running;
    while (!queue.empty() && running < options.max_connections) {
      auto next = std::move(queue.front());
      queue.pop_front();
      if (next->done) Begin(next);  // else its time is over
    }
  }

  asio::io_context& io;
  const Options options;
  std::optional<asio::ssl::context> tls;
  int running = 0;
  std::deque<std::shared_ptr<Call>> queue;
};

HttpFetcher::HttpFetcher(asio::io_context& io, Options options)
    : impl_(std::make_shared<Impl>(io, std::move(options))) {}
HttpFetcher::~HttpFetcher() = default;

void HttpFetcher::Get(HttpRequest request, std::function<void(HttpReply)> done) {
  asio::post(impl_->io,
             [impl = impl_, request = std::move(request), done = std::move(done)]() mutable {
               auto call = std::make_shared<Call>(impl->io, std::move(request), std::move(done),
                                                  SteadyClock::now() + impl->options.total_timeout);
               call->timer.async_wait([call](const ErrorCode& ec) {
                 if (!ec) call->Finish(call->Failure("timed out"));
               });
               impl->Begin(call);
             });
}

}  // namespace sluice::fetch
