#include "streams/merge_settings.h"

#include <boost/json/array.hpp>

namespace sluice::streams {
namespace {

// PHP has one type for maps and lists: a list over a map adds entries with integer keys. Nobody
// means that; a container of the other kind replaces, unless it is empty, which changes nothing.
bool IsEmptyContainer(const boost::json::value& value) {
  return (value.is_array() && value.get_array().empty()) ||
         (value.is_object() && value.get_object().empty());
}

bool IsContainer(const boost::json::value& value) { return value.is_array() || value.is_object(); }

void Overlay(boost::json::value& under, const boost::json::value& over) {
  if (IsContainer(under) && IsEmptyContainer(over)) return;
  if (under.is_object() && over.is_object()) {
    auto& map = under.get_object();
    for (const auto& member : over.get_object()) {
      auto* existing = map.if_contains(member.key());
      if (existing != nullptr) {
        Overlay(*existing, member.value());
      } else {
        map.emplace(member.key(), member.value());
      }
    }
    return;
  }
  if (under.is_array() && over.is_array()) {
    auto& list = under.get_array();
    const auto& elements = over.get_array();
    for (std::size_t i = 0; i < elements.size(); ++i) {
      if (i < list.size()) {
        Overlay(list[i], elements[i]);
      } else {
        list.push_back(elements[i]);
      }
    }
    return;
  }
  under = over;
}

}  // namespace

boost::json::value MergeSettings(const boost::json::value& under, const boost::json::value& over) {
  boost::json::value merged = under;
  Overlay(merged, over);
  return merged;
}

}  // namespace sluice::streams
