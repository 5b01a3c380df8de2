#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice::validate {

struct Program;  // the flat instructions, in program.h

// A schema ready to run: immutable, shared between threads. Also answers what the gate asks about
// it.
class CompiledSchema {
 public:
  CompiledSchema();
  ~CompiledSchema();

  const std::string& uri() const { return uri_; }  // the URI under which it was asked for
  const std::string& id() const { return id_; }    // its $id, or empty
  const std::optional<std::string>& title() const { return title_; }

  enum class Declared : std::uint8_t { kNo, kYes, kObject };
  // Whether `properties` of the root declare this dotted path ("meta.dt"), following nested
  // `properties`; kObject if the declaration has `type: object`. For enrichment. `$ref`s are
  // followed within the schema.
  Declared Declares(std::string_view dotted_path) const;

  const Program& program() const { return *program_; }
  std::size_t memory_bytes() const;

 private:
  friend class SchemaCompiler;
  std::string uri_;
  std::string id_;
  std::optional<std::string> title_;
  std::vector<std::pair<std::string, Declared>> declared_;  // sorted by path
  std::unique_ptr<const Program> program_;
};

}  // namespace sluice::validate
