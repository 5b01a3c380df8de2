#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace boost::asio {
class io_context;
}

namespace sluice::fetch {

struct HttpRequest {
  std::string url;
  // Sent as they are, `host` too, over those of the fetcher; but not to where a redirect leads.
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body = {};  // of a POST; such a request follows no redirect
};

struct HttpReply {
  int status = 0;    // of the last answer; 0: there was none
  std::string body;  // decompressed
  std::string url;   // after redirects
  std::string
      error;  // why there is no usable answer: connection, time-out, size, redirects; else empty
  std::string etag;  // of the answer, as they came; for conditional requests
  std::string last_modified;
  std::string content_type;
};

// GETs documents, and POSTs some, over http and https (certificates checked against the system's
// authorities), one connection each. Follows at most three redirects, never from https to http. A
// failed connection or a 5xx is tried once more within the total time-out, unless the options say
// otherwise.
class HttpFetcher {
 public:
  struct Options {
    std::chrono::milliseconds connect_timeout{5000};
    std::chrono::milliseconds total_timeout{10000};  // redirects and the second try included
    std::size_t max_body_bytes = 16u << 20;          // before and after decompression
    int max_connections = 32;  // at a time; further ones wait, within their time-out
    int max_tries = 2;
    std::string user_agent = "sluice";
  };

  // `io` runs on one thread and outlives the fetcher and what it runs.
  HttpFetcher(boost::asio::io_context& io, Options options);
  ~HttpFetcher();

  // Calls `done` once on the thread of `io`, within the total time-out; never if `io` is stopped
  // before. Any thread.
  void Get(HttpRequest request, std::function<void(HttpReply)> done);
  void Get(std::string url, std::function<void(HttpReply)> done) {
    Get(HttpRequest{std::move(url), {}}, std::move(done));
  }
  // The same with `request.body`, which is not empty, as a POST.
  void Post(HttpRequest request, std::function<void(HttpReply)> done) {
    Get(std::move(request), std::move(done));
  }

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace sluice::fetch
