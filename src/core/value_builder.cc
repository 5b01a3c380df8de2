#include "core/value_builder.h"

#include <utility>

namespace sluice::core {

ValueBuilder::Problem ValueBuilder::Start(bool is_object) {
  if (frames_.size() >= limits_.depth) return "nested too deeply";
  if (++total_ > limits_.values) return "too many values";
  frames_.emplace_back();
  frames_.back().is_object = is_object;
  return nullptr;
}

ValueBuilder::Problem ValueBuilder::StartObject() { return Start(true); }
ValueBuilder::Problem ValueBuilder::StartArray() { return Start(false); }

ValueBuilder::Problem ValueBuilder::EndObject() {
  boost::json::value value(std::move(frames_.back().object));
  const std::size_t values = frames_.back().values;
  frames_.pop_back();
  return Place(std::move(value), values);
}

ValueBuilder::Problem ValueBuilder::EndArray() {
  boost::json::value value(std::move(frames_.back().array));
  const std::size_t values = frames_.back().values;
  frames_.pop_back();
  return Place(std::move(value), values);
}

ValueBuilder::Problem ValueBuilder::Key(std::string_view key) {
  Frame& frame = frames_.back();
  if (duplicates_ == Duplicates::kRefused && frame.object.contains(key) &&
      frame.merged.erase(std::string(key)) == 0) {
    return "this key stands twice in the same map";
  }
  frame.key.assign(key);
  frame.has_key = true;
  return nullptr;
}

ValueBuilder::Problem ValueBuilder::MergeKey() {
  frames_.back().has_key = true;
  frames_.back().merges = true;
  return nullptr;
}

ValueBuilder::Problem ValueBuilder::Merge(Frame& frame, const boost::json::value& value) {
  const auto merge_one = [&frame](const boost::json::value& source) {
    if (!source.is_object()) return false;
    for (const auto& member : source.get_object()) {
      if (frame.object.emplace(member.key(), member.value()).second) {
        frame.merged.emplace(member.key());
      }
    }
    return true;
  };
  constexpr Problem kNoMap = "<< takes a map or a list of maps";
  if (!value.is_array()) return merge_one(value) ? nullptr : kNoMap;
  for (const auto& source : value.get_array()) {
    if (!merge_one(source)) return kNoMap;
  }
  return nullptr;
}

ValueBuilder::Problem ValueBuilder::Add(boost::json::value&& value, std::size_t values) {
  total_ += values;
  if (total_ > limits_.values) return "too many values";
  return Place(std::move(value), values);
}

ValueBuilder::Problem ValueBuilder::Place(boost::json::value&& value, std::size_t values) {
  last_values_ = values;
  if (frames_.empty()) {
    root_ = std::move(value);
    last_ = &root_;
    return nullptr;
  }
  Frame& frame = frames_.back();
  frame.values += values;
  if (!frame.is_object) {
    frame.array.push_back(std::move(value));
    last_ = &frame.array.back();
    return nullptr;
  }
  frame.has_key = false;
  if (frame.merges) {
    frame.merges = false;
    merged_value_ = std::move(value);
    last_ = &merged_value_;
    return Merge(frame, merged_value_);
  }
  // The position of the first occurrence stays, as in JavaScript.
  boost::json::value& slot = frame.object[frame.key];
  slot = std::move(value);
  last_ = &slot;
  return nullptr;
}

}  // namespace sluice::core
