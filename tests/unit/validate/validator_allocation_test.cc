#include <doctest/doctest.h>

#include <cstdlib>
#include <new>

#include "unit/validate/engine_check.h"

// Counts every allocation of this program: a valid event costs none once the scratch is warm.
namespace {

std::size_t allocations = 0;

void* Allocate(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}

}  // namespace

void* operator new(std::size_t size) { return Allocate(size); }
void* operator new[](std::size_t size) { return Allocate(size); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size);
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

namespace sluice {
namespace {

TEST_CASE("Validator: a valid event costs no allocation") {
  std::string problem;
  const auto schema = test::Compile("", test::ParseJson(R"({
        "type": "object", "additionalProperties": false, "required": ["id", "dt"],
        "properties": {
          "id": {"type": "string", "pattern": "^[0-9a-z]{4}$", "maxLength": 4},
          "dt": {"type": "string", "format": "date-time", "maxLength": 128},
          "uri": {"type": "string", "format": "uri-reference", "maxLength": 8192},
          "tags": {"type": "array", "uniqueItems": true, "items": {"type": "string"}},
          "kind": {"enum": ["a", "b", {"x": [1]}]},
          "map": {"type": "object", "additionalProperties": {"type": "number"},
                  "propertyNames": {"maxLength": 10}},
          "either": {"anyOf": [{"type": "null"}, {"type": "integer", "minimum": 3}]},
          "with": {"type": "string", "default": "x"}
        }})"),
                                    {}, nullptr, problem);
  REQUIRE_MESSAGE(schema != nullptr, problem);
  std::string text =
      R"({"id":"ab12","dt":"2020-01-01T00:00:00Z","uri":"/a/b?c","tags":["1","2","3","4","5","6",)"
      R"("7","8","9","10","11","12","13","14"],"kind":{"x":[1.0]},"map":{"a":1,"b\u0062":2.5},)"
      R"("either":5,"with":"y"})";
  const std::size_t length = text.size();
  text.append(validate::kReadPadding, ' ');
  validate::Reader reader;
  validate::Document document;
  validate::EditableEvent event;
  validate::Validator validator;
  const auto run = [&] {
    const auto read = reader.Read(std::string_view(text).substr(0, length), {}, document);
    if (!read) return validate::Verdict::kInvalid;
    event.Load(document, 0);
    return validator.Validate(*schema, event);
  };
  REQUIRE(run() == validate::Verdict::kValid);
  const std::size_t before = allocations;
  for (int i = 0; i < 100; ++i) {
    if (run() != validate::Verdict::kValid) FAIL("not valid");
  }
  CHECK(allocations == before);
}

}  // namespace
}  // namespace sluice
