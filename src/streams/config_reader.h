#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/config.h"
#include "fetch/http_fetcher.h"
#include "streams/config_assembly.h"
#include "streams/static_snapshot.h"

namespace boost::asio {
class io_context;
}

namespace sluice::streams {

// What one reading of all sources came to.
struct ConfigReading {
  enum class Outcome : std::uint8_t {
    kChanged,        // `streams` is new
    kUnchanged,      // every source says what it said at the last accepted reading
    kFileFailed,     // a file could not be read
    kFetchFailed,    // no answer: connection, time-out, size, cut short
    kStatusFailed,   // an answer, but not 200
    kContentFailed,  // what was read is no stream configuration, or not a good one
  };
  Outcome outcome = Outcome::kContentFailed;
  std::shared_ptr<StaticSnapshot> streams;
  std::string message;  // of a failure: for a person, a problem a line

  bool failed() const { return outcome > Outcome::kUnchanged; }
};

// Reads all sources of stream configuration, again and again. Asks a remote one whether anything
// changed where it gave an ETag or a date, and repeats what failed there (config_retries). Lives on
// the thread of `io`; blocks it for files.
class ConfigReader {
 public:
  using Get = std::function<void(fetch::HttpRequest, std::function<void(fetch::HttpReply)>)>;
  struct Options {
    std::chrono::milliseconds first_pause{500};  // before a repetition, doubled each time
    std::string user_agent = "sluice";
  };

  // `get` replaces the HTTP client in tests.
  ConfigReader(boost::asio::io_context& io, const core::StreamOptions& streams, Options options,
               Get get = nullptr);
  ~ConfigReader();

  // Calls `done` once, on the thread of `io`, unless that stops. One at a time.
  void Read(std::function<void(ConfigReading)> done);

 private:
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

// Reads once, on this thread.
ConfigReading ReadConfigNow(const core::StreamOptions& streams, ConfigReader::Options options);

}  // namespace sluice::streams
