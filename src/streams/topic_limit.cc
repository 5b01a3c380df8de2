#include "streams/topic_limit.h"

namespace sluice::streams {

bool TopicLimit::Admit(std::string_view topic, std::size_t max) {
  const std::lock_guard lock(mutex_);
  if (topics_.contains(topic)) return true;
  if (topics_.size() >= max) return false;
  topics_.emplace(topic);
  return true;
}

}  // namespace sluice::streams
