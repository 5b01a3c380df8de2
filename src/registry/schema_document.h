#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace sluice::registry {

enum class FindStatus : std::uint8_t {
  kFound,
  kNotFound,     // the base answered: it has no such document
  kUnavailable,  // the base could not be asked; may pass
  kUnusable,     // there is something, but it must not or cannot be read
};

// What looking for one document under one base came to.
struct FoundDocument {
  FindStatus status = FindStatus::kNotFound;
  std::string text;
  std::string location;  // the file or URL that the text came from in the end, links resolved
  std::string reason;    // for a person, if not found
};

inline constexpr std::size_t kMaxSchemaBytes = 16u << 20;
inline constexpr int kMaxLinks = 8;

// Reads `folder` + `path` (which begins with a slash and is normalised). Symbolic links are
// followed, and files that hold the name of another one beside them as links too, as long as what
// they lead to lies under the folder. Blocks.
FoundDocument ReadUnderFolder(const std::string& folder, std::string_view path);

}  // namespace sluice::registry
