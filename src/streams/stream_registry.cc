#include "streams/stream_registry.h"

#include <utility>

#include "core/log.h"
#include "streams/config_reader.h"
#include "streams/layered_snapshot.h"
#include "streams/static_snapshot.h"

namespace sluice::streams {
bool NamesStreamConfig(const core::StreamOptions& options) {
  return !options.inline_config.empty() || !options.config_files.empty() ||
         !options.config_uri.empty();
}

StreamRegistry::StreamRegistry(const core::StreamOptions& options)
    : options_(options), configured_(NamesStreamConfig(options)) {}
StreamRegistry::~StreamRegistry() = default;

core::Result<std::shared_ptr<const StaticSnapshot>> ReadStaticStreams(
    const core::StreamOptions& options) {
  ConfigReading reading = ReadConfigNow(options, {});
  if (reading.streams) return std::shared_ptr<const StaticSnapshot>(std::move(reading.streams));
  return core::Error{core::ErrorCode::kStreamConfigUnavailable, std::move(reading.message)};
}

core::Result<void> StreamRegistry::Load() {
  if (!configured()) return {};
  auto streams = ReadStaticStreams(options_);
  if (!streams.has_value()) return streams.error();
  Publish(*std::move(streams));
  return {};
}

void StreamRegistry::Publish(std::shared_ptr<const StaticSnapshot> streams) {
  const std::lock_guard changing(changing_);
  static_ = std::move(streams);
  Swap(changing);
}

core::Result<void> StreamRegistry::SetDeclared(std::vector<DeclaredStream> streams) {
  if (!configured()) {
    if (streams.empty()) return {};
    return core::Error{core::ErrorCode::kStreamConfigUnavailable,
                       "streams cannot be declared where there is no stream configuration: set "
                       "stream_config, which may be an empty map"};
  }
  const std::lock_guard changing(changing_);
  const boost::json::object none;
  std::string message;
  for (const DeclaredStream& stream : streams) {
    const auto alone = ReadDeclared(stream, none);
    if (!alone.has_value()) {
      if (!message.empty()) message += '\n';
      message += alone.error().message;
      continue;
    }
    // One that other defaults no longer fit must not hold up the others.
    if (!static_) continue;
    if (const auto merged = ReadDeclared(stream, static_->defaults()); !merged.has_value()) {
      core::Log(core::LogLevel::kWarn, "declared_stream_unfit", merged.error().message);
    }
  }
  if (!message.empty())
    return core::Error{core::ErrorCode::kStreamConfigUnavailable, std::move(message)};
  declared_ = std::move(streams);
  if (static_) Swap(changing);
  return {};
}

void StreamRegistry::Swap(const std::lock_guard<std::mutex>& /*changing*/) {
  const std::uint64_t generation = generation_.load(std::memory_order_relaxed) + 1;
  std::shared_ptr<const StreamSnapshot> snapshot =
      std::make_shared<LayeredSnapshot>(static_, declared_, generation);
  {
    const std::lock_guard lock(mutex_);
    current_.swap(snapshot);
    generation_.store(generation, std::memory_order_release);
  }
}  // the snapshot before goes outside of the lock, unless readers still have it

std::shared_ptr<const StreamSnapshot> StreamRegistry::Current() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

core::Result<std::shared_ptr<const StreamSnapshot>> ReadStreamConfig(
    const core::StreamOptions& options) {
  StreamRegistry registry(options);
  const auto loaded = registry.Load();
  if (!loaded.has_value()) return loaded.error();
  return registry.Current();
}

std::string TopicOf(std::string_view stream, std::string_view topic_prefix) {
  std::string topic;
  if (!stream.starts_with("eventlogging_")) topic += topic_prefix;
  topic += stream;
  return topic;
}

std::string TopicOf(std::string_view stream, const StreamSettings* settings,
                    const core::StreamOptions& options) {
  const bool without =
      options.follow_topic_prefixes && settings != nullptr && settings->without_topic_prefix;
  return TopicOf(stream, without ? std::string_view() : options.topic_prefix);
}

}  // namespace sluice::streams
