#include "streams/config_reader.h"

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <utility>

#include "core/log.h"
#include "streams/config_files.h"

namespace sluice::streams {
namespace {

using Outcome = ConfigReading::Outcome;

constexpr std::chrono::milliseconds kLongestPause{30000};

ConfigReading Failed(Outcome outcome, std::string message) {
  return {outcome, nullptr, std::move(message)};
}

std::size_t HashOf(const std::vector<ConfigText>& texts) {
  std::size_t hash = texts.size();
  for (const ConfigText& text : texts) {
    for (const std::string* part : {&text.name, &text.text})
      hash = hash * 0x9E3779B97F4A7C15u + std::hash<std::string>{}(*part);
  }
  return hash;
}

// What URLs of that API are often written with, and an URL cannot have.
std::string Encoded(const std::string& url) {
  constexpr std::string_view kNotInUrls = "|\"<>\\^`{} ";
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string encoded;
  for (const char c : url) {
    if (kNotInUrls.find(c) == std::string_view::npos) {
      encoded += c;
    } else {
      encoded += '%';
      encoded += kHex[static_cast<unsigned char>(c) >> 4];
      encoded += kHex[static_cast<unsigned char>(c) & 15];
    }
  }
  return encoded;
}

// The URL without the password that may stand in it.
std::string Shown(const std::string& url) {
  const std::size_t host = url.find("://") + 3;
  const std::size_t at = url.substr(0, url.find_first_of("/?#", host)).rfind('@');
  return at == std::string::npos ? url : url.substr(0, host) + url.substr(at + 1);
}

}  // namespace

struct ConfigReader::Impl : std::enable_shared_from_this<Impl> {
  Impl(boost::asio::io_context& context, const core::StreamOptions& s, Options o, Get g)
      : streams(s), options(std::move(o)), get(std::move(g)), pause(context) {
    if (get || !IsHttpUrl(streams.config_uri)) return;
    fetch::HttpFetcher::Options fetching;
    fetching.total_timeout = streams.config_timeout;
    fetching.connect_timeout = std::min(fetching.connect_timeout, streams.config_timeout);
    fetching.max_body_bytes = streams.config_max_bytes;
    fetching.max_tries = 1;  // repetitions are ours
    fetching.user_agent = options.user_agent;
    fetcher = std::make_unique<fetch::HttpFetcher>(context, std::move(fetching));
    get = [this](fetch::HttpRequest request, std::function<void(fetch::HttpReply)> answered) {
      fetcher->Get(std::move(request), std::move(answered));
    };
  }

  void Read() {
    auto read = ReadConfigFiles(streams);
    if (!read.has_value())
      return Finish(Failed(Outcome::kFileFailed, std::move(read.error().message)));
    texts = *std::move(read);
    files_hash = HashOf(texts);
    if (IsHttpUrl(streams.config_uri)) return Ask();
    if (accepted && files_hash == accepted_hash) return Finish({Outcome::kUnchanged, nullptr, {}});
    Finish(Assemble(files_hash));
  }

  void Ask() {
    fetch::HttpRequest request{Encoded(streams.config_uri), streams.config_headers};
    const bool same_files = accepted && files_hash == accepted_files_hash;
    const bool conditional = same_files && !(etag.empty() && last_modified.empty());
    if (conditional) {
      request.headers.emplace_back(etag.empty() ? "if-modified-since" : "if-none-match",
                                   etag.empty() ? last_modified : etag);
    }
    get(std::move(request), [weak = weak_from_this(), conditional](fetch::HttpReply reply) {
      if (const auto self = weak.lock()) self->OnReply(std::move(reply), conditional);
    });
  }

  void OnReply(fetch::HttpReply reply, bool conditional) {
    ConfigReading reading = Judge(std::move(reply), conditional);
    if (!reading.failed() || tries++ >= streams.config_retries) return Finish(std::move(reading));
    pause.expires_after(next_pause);
    next_pause = std::min(2 * next_pause, kLongestPause);
    pause.async_wait([weak = weak_from_this()](const boost::system::error_code& ec) {
      const auto self = weak.lock();
      if (self && !ec) self->Ask();
    });
  }

  ConfigReading Judge(fetch::HttpReply reply, bool conditional) {
    const std::string name = Shown(streams.config_uri);
    if (!reply.error.empty())
      return Failed(Outcome::kFetchFailed, "stream_config_uri " + name + ": " + reply.error);
    if (reply.status == 304 && conditional) return {Outcome::kUnchanged, nullptr, {}};
    if (reply.status != 200) {
      return Failed(Outcome::kStatusFailed,
                    "stream_config_uri " + name + " answered " + std::to_string(reply.status));
    }
    if (reply.content_type.starts_with("text/html")) {
      return Failed(Outcome::kContentFailed,
                    "stream_config_uri " + name + " answered with a page (text/html)");
    }
    const bool is_api = streams.config_uri.find("action=streamconfigs") != std::string::npos;
    ConfigText text{name, std::move(reply.body),
                    is_api ? ConfigText::Origin::kApi : ConfigText::Origin::kUri};
    texts.push_back(std::move(text));
    const std::size_t hash = HashOf(texts);
    ConfigReading reading{Outcome::kUnchanged, nullptr, {}};
    if (!accepted || hash != accepted_hash) reading = Assemble(hash);
    texts.pop_back();
    if (!reading.failed()) {
      etag = std::move(reply.etag);
      last_modified = std::move(reply.last_modified);
    }
    return reading;
  }

  ConfigReading Assemble(std::size_t hash) {
    auto assembled = AssembleConfig(streams, texts);
    if (!assembled.has_value())
      return Failed(Outcome::kContentFailed, std::move(assembled.error().message));
    accepted = true;
    accepted_hash = hash;
    accepted_files_hash = files_hash;
    return {Outcome::kChanged, *std::move(assembled), {}};
  }

  void Finish(ConfigReading reading) {
    texts.clear();
    texts.shrink_to_fit();
    std::exchange(done, nullptr)(std::move(reading));
  }

  const core::StreamOptions streams;
  const Options options;
  std::unique_ptr<fetch::HttpFetcher> fetcher;
  Get get;
  boost::asio::steady_timer pause;

  // Of the reading that is under way.
  std::function<void(ConfigReading)> done;
  std::vector<ConfigText> texts;
  std::size_t files_hash = 0;
  int tries = 0;
  std::chrono::milliseconds next_pause{0};

  // Of the last one that was accepted.
  bool accepted = false;
  std::size_t accepted_hash = 0;
  std::size_t accepted_files_hash = 0;
  std::string etag;
  std::string last_modified;
};

ConfigReader::ConfigReader(boost::asio::io_context& io, const core::StreamOptions& streams,
                           Options options, Get get)
    : impl_(std::make_shared<Impl>(io, streams, std::move(options), std::move(get))) {}
ConfigReader::~ConfigReader() = default;

void ConfigReader::Read(std::function<void(ConfigReading)> done) {
  impl_->done = std::move(done);
  impl_->tries = 0;
  impl_->next_pause = impl_->options.first_pause;
  impl_->Read();
}

ConfigReading ReadConfigNow(const core::StreamOptions& streams, ConfigReader::Options options) {
  boost::asio::io_context io(1);
  ConfigReader reader(io, streams, std::move(options));
  ConfigReading reading;
  reader.Read([&](ConfigReading result) {
    reading = std::move(result);
    io.stop();
  });
  io.run();
  return reading;
}

}  // namespace sluice::streams
