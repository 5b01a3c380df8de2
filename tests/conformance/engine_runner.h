#pragma once

#include <boost/json/value.hpp>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "validate/compiled_schema.h"
#include "validate/editable_event.h"
#include "validate/reader.h"
#include "validate/schema_compiler.h"
#include "validate/validator.h"

namespace sluice::test {

// What became of one event.
struct Outcome {
  enum class Status { kValid, kInvalid, kExhausted, kNotJson };
  Status status = Status::kNotJson;
  std::string errors_json;
  std::string errors_text;
  std::string message;  // of kExhausted and kNotJson
  std::string after;    // the event's text, if defaults changed it
};

// Runs event texts against compiled schemas the way the service does, and both passes against each
// other: they must agree.
class EngineRunner {
 public:
  Outcome Run(const validate::CompiledSchema& schema, std::string_view event,
              validate::UseDefaults defaults = validate::UseDefaults::kYes);

  // Whether the second pass alone came to the same verdict in the last Run.
  bool passes_agree() const { return passes_agree_; }

 private:
  validate::Reader reader_;
  validate::Document document_;
  validate::EditableEvent event_;
  validate::Validator validator_;
  std::string text_;
  bool passes_agree_ = true;
};

using DocumentSource = std::function<const boost::json::value*(std::string_view uri)>;

// Compiles, loading what `source` has. Returns null and says why in `problem` if it cannot.
std::shared_ptr<const validate::CompiledSchema> Compile(std::string_view uri,
                                                        const boost::json::value& schema,
                                                        const validate::CompileOptions& options,
                                                        const DocumentSource& source,
                                                        std::string& problem);

// The text of a file, or an empty one.
std::string ReadFile(const std::string& path);

// The folder of shared data, or an empty text if it is not there.
std::string SharedFolder();

// JSON text to a value; throws on text that is none.
boost::json::value ParseJson(std::string_view text);

}  // namespace sluice::test
