#include "streams/layered_snapshot.h"

#include <utility>

#include "core/yaml_json.h"

namespace sluice::streams {

core::Result<StreamSettings> ReadDeclared(const DeclaredStream& stream,
                                          const boost::json::object& defaults) {
  constexpr auto kCode = core::ErrorCode::kStreamConfigUnavailable;
  const std::string about = "declared stream '" + stream.name + "': ";
  if (stream.name.empty() || stream.name.front() == '/') {
    return core::Error{kCode, about + "needs a name, which cannot be a regular expression"};
  }
  const auto settings = core::ParseYamlOrJson(stream.settings_json, kCode);
  if (!settings.has_value()) return core::Error{kCode, about + settings.error().message};
  if (!settings->is_object()) return core::Error{kCode, about + "settings have to be a map"};
  std::vector<SettingsProblem> problems;
  StreamSettings read = ReadSettings(stream.name, defaults, *settings, "", problems);
  if (!problems.empty()) {
    std::string message;
    for (const SettingsProblem& problem : problems) {
      if (!message.empty()) message += '\n';
      message += about + problem.pointer + ": " + problem.text;
    }
    return core::Error{kCode, std::move(message)};
  }
  read.declared = true;
  return read;
}

LayeredSnapshot::LayeredSnapshot(std::shared_ptr<const StaticSnapshot> base,
                                 const std::vector<DeclaredStream>& declared, std::uint64_t number)
    : base_(std::move(base)) {
  generation = number;
  for (const DeclaredStream& stream : declared) {
    if (base_->FindKey(stream.name) != nullptr) continue;
    auto settings = ReadDeclared(stream, base_->defaults());
    if (!settings.has_value()) continue;  // good when it was set: other defaults do not fit it now
    declared_.push_back(std::make_unique<const StreamSettings>(*std::move(settings)));
    if (!by_name_.emplace(declared_.back()->key, declared_.back().get()).second)
      declared_.pop_back();
  }
}

const StreamSettings* LayeredSnapshot::FindKey(std::string_view key) const {
  if (const StreamSettings* found = base_->FindKey(key)) return found;
  if (by_name_.empty()) return nullptr;
  const auto found = by_name_.find(key);
  return found == by_name_.end() ? nullptr : found->second;
}

const StreamSettings* LayeredSnapshot::Find(std::string_view stream) const {
  const StreamSettings* found = FindKey(stream);
  return found != nullptr ? found : base_->FindRegex(stream);
}

const StreamSettings& LayeredSnapshot::entry(std::size_t i) const {
  return i < base_->size() ? base_->entry(i) : *declared_[i - base_->size()];
}

}  // namespace sluice::streams
