#include "produce/discard_producer.h"

namespace sluice::produce {

Topic* DiscardProducer::OpenTopic(std::string_view name) {
  const std::lock_guard lock(mutex_);
  auto at = topics_.find(name);
  if (at == topics_.end())
    at = topics_.emplace(std::string(name), std::make_unique<DiscardTopic>(name)).first;
  return at->second.get();
}

}  // namespace sluice::produce
