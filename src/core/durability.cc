#include "core/durability.h"

namespace sluice::core {

std::string_view ToString(Durability durability) {
  switch (durability) {
    case Durability::kNone:
      return "none";
    case Durability::kFile:
      return "file";
    case Durability::kSpool:
      return "spool";
    case Durability::kKafka:
      return "kafka";
  }
  return "none";
}

}  // namespace sluice::core
