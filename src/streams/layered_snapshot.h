#pragma once

#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "streams/static_snapshot.h"
#include "streams/stream_registry.h"

namespace sluice::streams {

// What the registry publishes: the static streams, and the declared ones behind them. Keys of both
// are one map, in which a static key wins; regexes come after all keys, so a declared name is found
// before a static regex that matches it.
class LayeredSnapshot final : public StreamSnapshot {
 public:
  LayeredSnapshot(std::shared_ptr<const StaticSnapshot> base,
                  const std::vector<DeclaredStream>& declared, std::uint64_t number);

  const StreamSettings* Find(std::string_view stream) const override;
  const StreamSettings* FindKey(std::string_view key) const override;
  std::size_t size() const override { return base_->size() + declared_.size(); }
  const StreamSettings& entry(std::size_t i) const override;

 private:
  std::shared_ptr<const StaticSnapshot> base_;
  std::vector<std::unique_ptr<const StreamSettings>> declared_;
  std::unordered_map<std::string_view, const StreamSettings*> by_name_;
};

// Checks a declaration as SetDeclared does: fails with what is wrong, one problem a line.
core::Result<StreamSettings> ReadDeclared(const DeclaredStream& stream,
                                          const boost::json::object& defaults);

}  // namespace sluice::streams
