#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "http_fixture.h"
#include "intake/admin_server.h"
#include "intake/unix_listener.h"
#include "support/certificates.h"
#include "support/temp_folder.h"

namespace sluice::test {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using intake::LoadTls;

// A signer, and a certificate of it in the files of `options`.
struct Files {
  Files() {
    signer.WriteCertificate(folder.path() + "/ca.pem");
    Renew({});
    options.certificate = folder.path() + "/certificate.pem";
    options.key = folder.path() + "/key.pem";
  }
  void Renew(const TestCertificate::Wish& wish) {
    const TestCertificate made(wish, &signer);
    made.WriteCertificate(folder.path() + "/certificate.pem");
    made.WriteKey(folder.path() + "/key.pem");
  }

  TempFolder folder;
  TestCertificate signer{{"test signer", "", -60, 3600, true}};
  core::TlsOptions options;
};

// One connection; everything has a time-out of ten seconds.
class TlsClient {
 public:
  explicit TlsClient(const Files& files, const TestCertificate* own = nullptr) {
    context_.load_verify_file(files.folder.path() + "/ca.pem");
    context_.set_verify_mode(asio::ssl::verify_peer);
    if (own == nullptr) return;
    TempFolder folder;
    own->WriteCertificate(folder.path() + "/c.pem");
    own->WriteKey(folder.path() + "/k.pem");
    context_.use_certificate_file(folder.path() + "/c.pem", asio::ssl::context::pem);
    context_.use_private_key_file(folder.path() + "/k.pem", asio::ssl::context::pem);
  }

  bool Connect(std::uint16_t port) {
    stream_.emplace(io_, context_);
    stream_->next_layer().connect({asio::ip::address_v4::loopback(), port});
    const timeval time{10, 0};
    ::setsockopt(stream_->next_layer().native_handle(), SOL_SOCKET, SO_RCVTIMEO, &time,
                 sizeof(time));
    boost::system::error_code ec;
    stream_->handshake(asio::ssl::stream_base::client, ec);
    return !ec;
  }
  void Send(std::string_view bytes) { asio::write(*stream_, asio::buffer(bytes), ec_); }
  // All that comes until the end, in steps of `step` bytes.
  std::string ReadAll(std::size_t step = 65536) {
    std::string all, piece(step, '\0');
    while (true) {
      const std::size_t got = stream_->read_some(asio::buffer(piece), ec_);
      all.append(piece, 0, got);
      if (ec_) return all;
    }
  }
  bool ended_well() const { return ec_ == asio::error::eof; }  // with close_notify
  std::string Subject() {
    X509* const shown = SSL_get0_peer_certificate(stream_->native_handle());
    char name[200];
    return X509_NAME_oneline(X509_get_subject_name(shown), name, sizeof(name));
  }

 private:
  asio::io_context io_;
  asio::ssl::context context_{asio::ssl::context::tls_client};
  std::optional<asio::ssl::stream<tcp::socket>> stream_;
  boost::system::error_code ec_;
};

std::string PostText(std::string_view body, std::string_view headers = "Connection: close\r\n") {
  return "POST /v1/events HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n" +
         std::string(headers) + "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         std::string(body);
}

struct Server : HttpServer {
  explicit Server(const Files& files)
      : HttpServer([&](core::Config& changed) {
          changed.http.tls = files.options;
          changed.http.max_body_bytes = 20u << 20;
        }) {}
};

TEST_CASE("TLS: requests, pipelined ones, large bodies and large answers to a slow reader") {
  const Files files;
  Server server(files);
  TlsClient client(files);
  REQUIRE(client.Connect(server.port()));
  client.Send(PostText("[1]", "") + PostText("[2]", "") + PostText("[3]"));
  std::string answers = client.ReadAll();
  std::size_t count = 0;
  for (std::size_t at = 0; (at = answers.find("HTTP/1.1 201 ", at)) != std::string::npos; ++at) {
    ++count;
  }
  CHECK(count == 3);
  CHECK(client.ended_well());

  REQUIRE(client.Connect(server.port()));
  client.Send(PostText("[\"" + std::string(5'000'000, 'a') + "\"]"));
  CHECK(client.ReadAll().starts_with("HTTP/1.1 201 "));

  REQUIRE(client.Connect(server.port()));
  client.Send(PostText("huge"));
  const std::string huge = client.ReadAll(1000);
  CHECK(huge.size() > 8'000'000);
  CHECK(huge.find_first_not_of('x', huge.find("\r\n\r\n") + 4) == std::string::npos);
  CHECK(client.ended_well());
}

TEST_CASE("TLS: what is no handshake, or none that ends, holds nobody up") {
  const Files files;
  Server server(files);
  HttpClient plain(server.port());
  plain.Send("GET /_info HTTP/1.1\r\nHost: x\r\n\r\n");
  CHECK(plain.Receive().status == 400);
  HttpClient silent(server.port());
  HttpClient half(server.port());
  half.Send("\x16\x03\x01\x02");
  TlsClient client(files);
  REQUIRE(client.Connect(server.port()));
  server.server->StartDrain();  // the fixture looks at what is left
}

TEST_CASE("LoadTls: each fault is one sentence with key and file") {
  Files files;
  const auto now = std::chrono::system_clock::now();
  const auto problem = [&] { return LoadTls(files.options, "tls.", now).Problem(); };
  const auto has = [](const std::string& text, std::string_view part) {
    INFO(text);
    CHECK(text.find(part) != std::string::npos);
  };
  CHECK(LoadTls(files.options, "tls.", now).context != nullptr);
  CHECK(LoadTls(files.options, "tls.", now).context->expires > now + std::chrono::minutes(50));

  files.Renew({"x", "DNS:x", -100, -10, false});
  has(problem(),
      "'tls.certificate' is " + files.options.certificate + ", a certificate that expired");
  files.Renew({"x", "DNS:x", 100, 1000, false});
  has(problem(), "is not valid before");
  files.Renew({});
  TestCertificate({}, &files.signer).WriteKey(files.options.key);
  has(problem(), "'tls.key' is " + files.options.key + ", which is not the key of the certificate");
  TestCertificate({}, &files.signer).WriteKey(files.options.key, "secret");
  has(problem(), "has a passphrase");
  std::ofstream(files.options.key) << "nothing\n";
  has(problem(), "has no private key in PEM form");
  std::ofstream(files.options.certificate) << "-----BEGIN CERTIFICATE-----\nAAAA\n";
  has(problem(), "is damaged");
  ::unlink(files.options.certificate.c_str());
  has(problem(), "cannot be read: No such file");
  files.options.key.clear();
  has(problem(), "'tls.key' is missing");
  files.options.key = "k";
  files.options.allowed_names = {"a"};
  has(problem(), "'tls.allowed_names'");
}

TEST_CASE("TLS: certificates of clients by their signer and their names") {
  Files files;
  files.options.client_ca = files.folder.path() + "/ca.pem";
  files.options.allowed_names = {"Producer.example", "spiffe://example/producer"};
  Server server(files);
  // With TLS 1.3 a client hears of it only when it reads.
  const auto is_served = [&](const TestCertificate* own) {
    TlsClient client(files, own);
    if (!client.Connect(server.port())) return false;
    client.Send(PostText("[1]"));
    return client.ReadAll().starts_with("HTTP/1.1 201 ");
  };
  const TestCertificate by_dns({"x", "DNS:a.example,DNS:producer.example"}, &files.signer);
  const TestCertificate by_uri({"x", "URI:spiffe://example/producer"}, &files.signer);
  const TestCertificate by_name({"producer.example", ""}, &files.signer);
  const TestCertificate stranger({"x", "DNS:producer.example.org"}, &files.signer);
  const TestCertificate expired({"producer.example", "", -100, -10}, &files.signer);
  const TestCertificate foreign({"producer.example", "DNS:producer.example"});
  CHECK(is_served(&by_dns));
  CHECK(is_served(&by_uri));
  CHECK(is_served(&by_name));
  CHECK_FALSE(is_served(&stranger));
  CHECK_FALSE(is_served(&expired));
  CHECK_FALSE(is_served(&foreign));
  CHECK_FALSE(is_served(nullptr));
}

TEST_CASE("TlsStore: a certificate that changes is for new connections; a bad one for none") {
  Files files;
  files.Renew({"first", "DNS:localhost"});
  Server server(files);
  TlsClient kept(files);
  REQUIRE(kept.Connect(server.port()));
  CHECK(kept.Subject() == "/CN=first");
  files.Renew({"second", "DNS:localhost"});
  const auto wait_for = [&](const std::string& subject) {
    for (int i = 0; i < 200; ++i) {
      TlsClient client(files);
      if (client.Connect(server.port()) && client.Subject() == subject) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    return false;
  };
  CHECK(wait_for("/CN=second"));
  kept.Send(PostText("[1]"));
  CHECK(kept.ReadAll().starts_with("HTTP/1.1 201 "));

  std::ofstream(files.options.key) << "nothing\n";
  CHECK_FALSE(server.tls->Check().has_value());
  const auto failed = server.tls->Reload();
  REQUIRE_FALSE(failed.has_value());
  CHECK(failed.error().message.find("'tls.key' is ") != std::string::npos);
  CHECK(wait_for("/CN=second"));
  files.Renew({"third", "DNS:localhost"});
  CHECK(server.tls->Reload().has_value());
  CHECK(wait_for("/CN=third"));
}

TEST_CASE("TLS: many connections on several threads while certificates change") {
  Files files;
  HttpServer server([&](core::Config& config) {
    config.http.tls = files.options;
    config.http.io_threads = 3;
  });
  std::atomic<int> good{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 10; ++i) {
        TlsClient client(files);
        if (!client.Connect(server.port())) continue;
        client.Send(PostText("[1]"));
        good += client.ReadAll().starts_with("HTTP/1.1 201 ") ? 1 : 0;
      }
    });
  }
  for (int i = 0; i < 10; ++i) CHECK(server.tls->Reload().has_value());
  for (std::thread& thread : threads) thread.join();
  CHECK(good == 30);
}

TEST_CASE("AdminServer: speaks TLS, and plain HTTP on its unix socket") {
  Files files;
  core::Metrics metrics({}, "test");
  intake::TlsStore tls(files.options, "admin", "admin.tls.", metrics);
  REQUIRE(tls.Start().has_value());
  intake::AdminServerOptions options;
  options.tls = &tls;
  options.unix_socket = files.folder.path() + "/admin.sock";
  intake::AdminServer server(options, {[] { return std::string(100'000, 'm'); },
                                       [] { return std::vector<intake::ReadinessCondition>(); }});
  REQUIRE(server.Start().has_value());
  TlsClient client(files);
  REQUIRE(client.Connect(server.port()));
  client.Send(
      "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"
      "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  const std::string answers = client.ReadAll(777);
  CHECK(answers.size() > 100'000);
  CHECK(answers.find("ok\n") != std::string::npos);
  CHECK(client.ended_well());

  asio::io_context io;
  asio::local::stream_protocol::socket local(io);
  local.connect({options.unix_socket});
  asio::write(local, asio::buffer(std::string_view(
                         "GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")));
  std::string answer;
  boost::system::error_code ec;
  asio::read(local, asio::dynamic_buffer(answer), ec);
  CHECK(answer.starts_with("HTTP/1.1 200 "));
  server.Stop();
  CHECK_FALSE(std::filesystem::exists(options.unix_socket));
}

TEST_CASE("UnixListener: replaces only what nobody listens at, and removes only its own file") {
  const TempFolder folder;
  const std::string path = folder.path() + "/a.sock";
  auto first = intake::UnixListener::Open(path, "unix_socket");
  REQUIRE(first.has_value());
  struct stat file {};
  REQUIRE(::stat(path.c_str(), &file) == 0);
  CHECK((file.st_mode & 0777) == 0660);
  const auto second = intake::UnixListener::Open(path, "unix_socket");
  REQUIRE_FALSE(second.has_value());
  CHECK(second.error().message.find("another process listens there") != std::string::npos);
  CHECK(second.error().message.find("'unix_socket'") != std::string::npos);
  // Left behind by a process that was killed.
  ::rename(path.c_str(), (folder.path() + "/kept.sock").c_str());
  first->Close();
  ::rename((folder.path() + "/kept.sock").c_str(), path.c_str());
  auto third = intake::UnixListener::Open(path, "unix_socket");
  REQUIRE(third.has_value());
  folder.Write("plain", "text");
  CHECK_FALSE(intake::UnixListener::Open(folder.path() + "/plain", "unix_socket").has_value());
  CHECK_FALSE(intake::UnixListener::Open(folder.path() + "/no/folder", "unix_socket").has_value());
  CHECK_FALSE(intake::UnixListener::Open("/" + std::string(200, 'a'), "unix_socket").has_value());
  third->Close();
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("EventServer: a unix socket takes requests, and forwarded addresses are believed") {
  const TempFolder folder;
  const std::string path = folder.path() + "/events.sock";
  {
    HttpServer server([&](core::Config& config) {
      config.http.unix_socket = path;
      config.http.io_threads = 2;
      config.limits.client.requests = 1;
      config.limits.rate_burst = std::chrono::milliseconds(1000);
    });
    const auto ask = [&](const std::string& headers) {
      asio::io_context io;
      asio::local::stream_protocol::socket local(io);
      local.connect({path});
      asio::write(local, asio::buffer(PostText("tell", "Connection: close\r\n" + headers)));
      std::string answer;
      boost::system::error_code ec;
      asio::read(local, asio::dynamic_buffer(answer), ec);
      return answer;
    };
    for (int i = 0; i < 3; ++i) CHECK(ask("").find("\"trusted\":\"yes\"") != std::string::npos);
    CHECK(ask("X-Client-IP: 192.0.2.1\r\n").starts_with("HTTP/1.1 207 "));
    CHECK(ask("X-Client-IP: 192.0.2.1\r\n").starts_with("HTTP/1.1 429 "));
    CHECK(ask("X-Client-IP: 192.0.2.2\r\n").starts_with("HTTP/1.1 207 "));
  }
  CHECK_FALSE(std::filesystem::exists(path));
}

}  // namespace
}  // namespace sluice::test
