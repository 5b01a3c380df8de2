#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::streams {

// What a constraint wants: a PHP array or string. Keys that PHP takes for integers are kept as
// their digits.
struct WantedMember;
struct WantedSetting {
  bool is_text = true;
  std::string text;
  std::vector<WantedMember> members;
};
struct WantedMember {
  std::string key;
  WantedSetting value;
};

// Which settings streams must have to be in an answer, as EventStreamConfig's parameter
// `constraints` says it ("producers[eventgate][use_edge_uniques]=1"). Values are compared as PHP
// writes them as strings: true is "1", false is "". Immutable; any thread.
class SettingsConstraints {
 public:
  SettingsConstraints() = default;

  // `pieces` are the values of the parameter, decoded once; each is decoded once more, and may hold
  // several pairs with '&' between them. A key given in several pieces becomes a list.
  static SettingsConstraints Parse(const std::vector<std::string>& pieces);

  // Nothing is wanted: every stream matches.
  bool empty() const { return wanted_.empty(); }

  // Whether `settings` have all that is wanted. The constraint on `stream` is asked of
  // `is_stream(name)`, whatever the settings say.
  bool Match(const boost::json::object& settings,
             const std::function<bool(std::string_view name)>& is_stream) const;

 private:
  std::vector<WantedMember> wanted_;
};

// How PHP casts a scalar to a string; "Array" for the others.
std::string PhpString(const boost::json::value& value);

}  // namespace sluice::streams
