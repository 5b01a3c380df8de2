#include "validate/schema_loops.h"

#include <vector>

namespace sluice::validate {
namespace {

void AppendSchemas(const Program& program, Range range, std::vector<SchemaId>& out) {
  for (std::uint32_t i = 0; i < range.count; ++i) {
    out.push_back(program.alternatives[range.first + i].schema);
  }
}

std::vector<SchemaId> SchemasOfSameValue(const Program& program, SchemaId id) {
  const SchemaNode& schema = program.schemas[id];
  std::vector<SchemaId> out;
  if ((schema.flags & SchemaNode::kReference) != 0) {
    out.push_back(program.references[schema.rest].target);
    return out;
  }
  if (schema.rest != kNowhere) {
    const RestRules& rules = program.rests[schema.rest];
    out = {rules.not_schema, rules.if_schema, rules.then_schema, rules.else_schema};
    AppendSchemas(program, rules.any_of, out);
    AppendSchemas(program, rules.one_of, out);
    AppendSchemas(program, rules.all_of, out);
  }
  if (schema.object != kNowhere) {
    const Range dependencies = program.objects[schema.object].schema_dependencies;
    for (std::uint32_t i = 0; i < dependencies.count; ++i) {
      out.push_back(program.dependencies[dependencies.first + i].schema);
    }
  }
  return out;
}

}  // namespace

// Depth first without recursion: a schema on the way down that is met again closes a loop.
bool HasLoops(const Program& program) {
  enum class State : std::uint8_t { kNew, kOpen, kDone };
  std::vector<State> states(program.schemas.size(), State::kNew);
  struct Frame {
    SchemaId id;
    std::vector<SchemaId> next;
  };
  std::vector<Frame> frames;
  for (SchemaId start = 0; start < states.size(); ++start) {
    if (states[start] != State::kNew) continue;
    states[start] = State::kOpen;
    frames.push_back({start, SchemasOfSameValue(program, start)});
    while (!frames.empty()) {
      Frame& frame = frames.back();
      if (frame.next.empty()) {
        states[frame.id] = State::kDone;
        frames.pop_back();
        continue;
      }
      const SchemaId next = frame.next.back();
      frame.next.pop_back();
      if (states[next] == State::kOpen) return true;
      if (states[next] == State::kDone) continue;
      states[next] = State::kOpen;
      frames.push_back({next, SchemasOfSameValue(program, next)});
    }
  }
  return false;
}

}  // namespace sluice::validate
