#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "core/yaml_json.h"

namespace sluice::core {

// Puts a value together from the events of a parser, JSON or YAML. Every call that can fail returns
// what is wrong, or null; after a failure the builder is spent. Not thread-safe.
class ValueBuilder {
 public:
  enum class Duplicates { kLastCounts, kRefused };
  using Problem = const char*;

  ValueBuilder(const DocumentLimits& limits, Duplicates duplicates)
      : limits_(limits), duplicates_(duplicates) {}

  Problem StartObject();
  Problem StartArray();
  Problem EndObject();
  Problem EndArray();
  Problem Key(std::string_view key);
  // The next value is merged into the object, not put under a key (YAML's <<).
  Problem MergeKey();
  Problem Scalar(boost::json::value&& value) { return Add(std::move(value), 1); }
  // Something that counts as `values` values: the expansion of an alias.
  Problem Add(boost::json::value&& value, std::size_t values);

  bool in_object() const { return !frames_.empty() && frames_.back().is_object; }
  // In an object, where a key has to come next.
  bool wants_key() const { return in_object() && !frames_.back().has_key; }

  // What was added or ended last, valid until the next call, and how many values it consists of.
  const boost::json::value& last() const { return *last_; }
  std::size_t last_values() const { return last_values_; }
  boost::json::value Take() { return std::move(root_); }

 private:
  struct Frame {
    bool is_object = false;
    bool has_key = false;
    bool merges = false;
    std::size_t values = 1;
    std::string key;
    boost::json::object object;
    boost::json::array array;
    std::unordered_set<std::string>
        merged;  // keys that came by <<: an explicit one may replace them
  };
  Problem Start(bool is_object);
  Problem Place(boost::json::value&& value, std::size_t values);
  Problem Merge(Frame& frame, const boost::json::value& value);

  DocumentLimits limits_;
  Duplicates duplicates_;
  std::vector<Frame> frames_;
  boost::json::value root_;
  boost::json::value merged_value_;
  const boost::json::value* last_ = nullptr;
  std::size_t last_values_ = 0;
  std::size_t total_ = 0;
};

}  // namespace sluice::core
