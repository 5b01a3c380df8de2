#include "registry/schema_document.h"

#include <cerrno>
#include <cstdlib>
#include <memory>
#include <utility>

#include "core/free_with.h"
#include "core/read_file.h"
#include "registry/schema_uri.h"

namespace sluice::registry {
namespace {

// The real path of `path`, or the errno.
int Resolve(const std::string& path, std::string& real) {
  const std::unique_ptr<char, core::FreeWith<std::free>> resolved(realpath(path.c_str(), nullptr));
  if (!resolved) return errno;
  real = resolved.get();
  return 0;
}

FindStatus StatusOf(int error) {
  switch (error) {
    case 0:
      return FindStatus::kFound;
    case ENOENT:
    case ENOTDIR:
    case EISDIR:
    case ENAMETOOLONG:
      return FindStatus::kNotFound;
    case ELOOP:
    case EINVAL:  // a pipe or a device
    case EFBIG:
      return FindStatus::kUnusable;
    default:
      return FindStatus::kUnavailable;
  }
}

bool LiesUnder(const std::string& path, const std::string& folder) {
  if (folder == "/" || path == folder) return true;
  return path.starts_with(folder) && path.size() > folder.size() && path[folder.size()] == '/';
}

}  // namespace

FoundDocument ReadUnderFolder(const std::string& folder, std::string_view path) {
  FoundDocument found;
  std::string real_folder;
  // Resolved anew each time: a mounted configuration is exchanged by moving a link.
  if (const int error = Resolve(folder.empty() ? "/" : folder, real_folder)) {
    found.status = FindStatus::kUnavailable;
    found.location = folder;
    found.reason = folder + ": " + core::ErrnoText(error);
    return found;
  }
  std::string candidate = folder + std::string(path);
  const auto fail = [&found](FindStatus status, const std::string& where, std::string_view why) {
    found.status = status;
    found.text.clear();
    found.location = where;
    found.reason = where + ": " + std::string(why);
    return std::move(found);
  };
  for (int links = 0; links < kMaxLinks; ++links) {
    std::string real;
    if (const int error = Resolve(candidate, real)) {
      // The name in a link file is part of the repository: that it leads nowhere is the
      // repository's fault.
      const FindStatus status = StatusOf(error);
      const bool broken_link = links > 0 && status == FindStatus::kNotFound;
      return fail(broken_link ? FindStatus::kUnusable : status, candidate, core::ErrnoText(error));
    }
    if (!LiesUnder(real, real_folder)) {
      return fail(FindStatus::kUnusable, candidate, "leads outside of its base folder");
    }
    if (const int error = core::ReadFile(real, kMaxSchemaBytes, found.text)) {
      return fail(StatusOf(error), candidate, core::ErrnoText(error));
    }
    const std::string_view target = LinkTarget(found.text);
    if (target.empty()) {
      found.status = FindStatus::kFound;
      found.location = std::move(real);
      return found;
    }
    candidate = SiblingOf(real, target);
  }
  return fail(FindStatus::kUnusable, candidate, "too many links");
}

}  // namespace sluice::registry
