#include "validate/schema_fields.h"

#include <algorithm>
#include <deque>

namespace sluice::validate {
namespace {

using Declared = CompiledSchema::Declared;

constexpr int kMaxDepth = 6;        // fields that are enriched lie two or three deep
constexpr int kMaxReferences = 16;  // and allOfs, on the way to one schema
constexpr std::size_t kMaxFields = 2000;

// Level by level, so that where a recursive schema meets the bound, the deepest fields are missing.
class Collector {
 public:
  explicit Collector(SchemaIndex& index) : index_(index) {}

  void Run() {
    queue_.push_back({index_.Root(), "", 1, 0});
    while (!queue_.empty() && fields_.size() < kMaxFields) {
      const Item item = std::move(queue_.front());
      queue_.pop_front();
      Visit(item);
    }
  }

  DeclaredFields Take() {
    // Of two declarations of one field the one as an object says more.
    std::sort(fields_.begin(), fields_.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first < b.first : a.second > b.second;
    });
    const auto same = [](const auto& a, const auto& b) { return a.first == b.first; };
    fields_.erase(std::unique(fields_.begin(), fields_.end(), same), fields_.end());
    fields_.shrink_to_fit();
    return std::move(fields_);
  }

 private:
  struct Item {
    SchemaPlace place;
    std::string prefix;
    int depth;
    int references;
  };

  void Visit(const Item& item) {
    const auto* schema = item.place.schema->if_object();
    if (schema == nullptr || item.references > kMaxReferences) return;
    if (const auto* ref = schema->if_contains("$ref"); ref != nullptr && ref->is_string()) {
      const auto target = index_.Resolve(item.place.base, ref->get_string());
      if (target) queue_.push_front({*target, item.prefix, item.depth, item.references + 1});
      return;
    }
    SchemaPlace child = item.place;
    child.base = SchemaIndex::BaseWithin(item.place.base, *item.place.schema);
    if (const auto* all_of = schema->if_contains("allOf");
        all_of != nullptr && all_of->is_array()) {
      for (const auto& part : all_of->get_array()) {
        child.schema = &part;
        queue_.push_front({child, item.prefix, item.depth, item.references + 1});
      }
    }
    const auto* properties = schema->if_contains("properties");
    if (properties == nullptr || !properties->is_object()) return;
    for (const auto& member : properties->get_object()) {
      const std::string path = item.prefix + std::string(member.key());
      child.schema = &member.value();
      fields_.emplace_back(path, IsObject(child, 0) ? Declared::kObject : Declared::kYes);
      if (item.depth < kMaxDepth) queue_.push_back({child, path + ".", item.depth + 1, 0});
    }
  }

  bool IsObject(const SchemaPlace& place, int references) {
    const auto* schema = place.schema->if_object();
    if (schema == nullptr || references > kMaxReferences) return false;
    if (const auto* ref = schema->if_contains("$ref"); ref != nullptr && ref->is_string()) {
      const auto target = index_.Resolve(place.base, ref->get_string());
      return target && IsObject(*target, references + 1);
    }
    const auto* type = schema->if_contains("type");
    if (type != nullptr && type->is_string() && type->get_string() == "object") return true;
    SchemaPlace child = place;
    child.base = SchemaIndex::BaseWithin(place.base, *place.schema);
    const auto* all_of = schema->if_contains("allOf");
    if (all_of == nullptr || !all_of->is_array()) return false;
    const auto& parts = all_of->get_array();
    return std::any_of(parts.begin(), parts.end(), [&](const boost::json::value& part) {
      child.schema = &part;
      return IsObject(child, references + 1);
    });
  }

  SchemaIndex& index_;
  std::deque<Item> queue_;
  DeclaredFields fields_;
};

}  // namespace

DeclaredFields CollectDeclaredFields(SchemaIndex& index) {
  Collector collector(index);
  collector.Run();
  return collector.Take();
}

}  // namespace sluice::validate
