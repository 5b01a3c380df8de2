#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <string>
#include <string_view>

#include "cli/explain_schema.h"

namespace sluice::cli {

// One way in which an event does not fit its schema, for somebody who does not know JSON Schema.
struct Violation {
  std::string field;        // "book.isbn"
  std::string found;        // what is there now; empty: nothing
  std::string problem;      // a sentence
  std::string description;  // the schema's own words about the field; may be empty
  std::string suggestion;   // what to do; may be empty
  std::string schema_path;  // for somebody who does
};

// Tells errors of one event. All that it is made with outlives it.
class ViolationTeller {
 public:
  // `schema_uri` is one that `book` has; `event` is what was checked.
  ViolationTeller(const SchemaBook& book, std::string_view schema_uri,
                  const boost::json::value& event)
      : book_(book), schema_uri_(schema_uri), event_(event) {}

  // `error` is an error object as answers have it.
  Violation Tell(const boost::json::object& error) const;

 private:
  struct Case;
  void TellMissing(const Case& c, Violation& told) const;
  void TellUnknown(const Case& c, Violation& told) const;
  void TellType(const Case& c, Violation& told) const;
  void TellForm(const Case& c, Violation& told) const;
  void TellBound(const Case& c, Violation& told) const;
  bool TellSet(const Case& c, Violation& told) const;
  void TellRest(const Case& c, Violation& told) const;
  void Describe(const FieldSteps& steps, const boost::json::object* holder, Violation& told) const;
  std::string ExampleFor(const FieldSteps& steps, const boost::json::object* declared) const;

  const SchemaBook& book_;
  std::string_view schema_uri_;
  const boost::json::value& event_;
};

}  // namespace sluice::cli
