#pragma once

#include <boost/json/value.hpp>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "registry/compile_function.h"

namespace sluice::cli {

// The documents of the schemas that were compiled, kept to tell a person what they say: the
// compiled form has no descriptions. Recording() may run on any thread; the rest once it is done.
class SchemaBook {
 public:
  // `real`, keeping each document that it is given or asks for.
  registry::CompileFunction Recording(registry::CompileFunction real);

  // The document of a schema URI, or null.
  const boost::json::value* Find(std::string_view uri) const;

  // The schema that holds the keyword at the end of `schema_path` ("#/properties/a/maxLength", or
  // with a document before the hash), as errors of the schema `uri` name it. Null if it leads
  // nowhere.
  const boost::json::object* Holder(std::string_view uri, std::string_view schema_path) const;

 private:
  void Keep(std::string_view uri, const boost::json::value& document);

  mutable std::mutex mutex_;
  std::map<std::string, boost::json::value, std::less<>> documents_;
};

// One step into an event: the name of a member, or an index as text.
using FieldSteps = std::vector<std::string>;

// The steps of a path as errors have it: ".a['b-c'][0]".
FieldSteps StepsOf(std::string_view data_path);

// How a person reads it: "a.b-c[0]"; "the event" for the root.
std::string FieldName(const FieldSteps& steps);

// What is at `steps` below `root`, or null.
const boost::json::value* ValueAt(const boost::json::value& root, const FieldSteps& steps);

// What `properties` and `items` of a schema say about the value at `steps`, without following
// $refs; null if nothing.
const boost::json::object* DeclarationAt(const boost::json::value& schema, const FieldSteps& steps);

// The member `name` if it is a string, else empty.
std::string_view TextMember(const boost::json::object& object, std::string_view name);

}  // namespace sluice::cli
