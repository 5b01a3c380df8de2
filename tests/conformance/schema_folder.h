#pragma once

#include <boost/json/value.hpp>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "validate/compiled_schema.h"

namespace sluice::test {

// The schemas below a folder, as a base URI has them.
class SchemaFolder {
 public:
  explicit SchemaFolder(std::string base) : base_(std::move(base)) {}

  // The document at base + uri, or null.
  const boost::json::value* Document(std::string_view uri);

  // Its compiled form, or null if it is not there or cannot be used; problem() says why.
  std::shared_ptr<const validate::CompiledSchema> Compiled(const std::string& uri);
  const std::string& problem() const { return problem_; }

 private:
  std::string base_;
  std::map<std::string, boost::json::value> documents_;
  std::map<std::string, std::shared_ptr<const validate::CompiledSchema>> compiled_;
  std::string problem_;
};

}  // namespace sluice::test
