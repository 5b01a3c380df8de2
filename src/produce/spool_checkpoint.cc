#include "produce/spool_checkpoint.h"

#include <algorithm>

namespace sluice::produce {
namespace {

constexpr std::uint64_t kPlaceBytes = 4096;  // a write that is cut off hits one of them only

}  // namespace

int SpoolCheckpoint::Open(FileOps& ops, const std::string& folder) {
  if (int error = ops.OpenFixed(folder + "/checkpoint", 2 * kPlaceBytes, &file_); error != 0)
    return error;
  std::string bytes(2 * kPlaceBytes, '\0');
  if (int error = file_->ReadAt(0, bytes.data(), bytes.size()); error != 0) return error;
  const auto used = [](char c) { return c != '\0'; };
  found_ = std::any_of(bytes.begin(), bytes.end(), used) ? Found::kDamaged : Found::kNothing;
  for (const std::uint64_t place : {std::uint64_t{0}, kPlaceBytes}) {
    const auto read = DecodeCheckpoint(std::string_view(bytes).substr(place, kCheckpointBytes));
    if (!read || (found_ == Found::kWhole && read->version < current_.version)) continue;
    current_ = *read;
    found_ = Found::kWhole;
  }
  if (int error = file_->Sync(); error != 0) return error;
  return ops.SyncFolder(folder);
}

int SpoolCheckpoint::Store(const SpoolPosition& done, std::uint64_t ceiling) {
  const Checkpoint next{.done = done, .ceiling = ceiling, .version = current_.version + 1};
  const std::string bytes = Encode(next);
  const std::uint64_t place = next.version % 2 * kPlaceBytes;
  if (int error = file_->WriteAt(place, bytes.data(), bytes.size()); error != 0) return error;
  if (int error = file_->Sync(); error != 0) return error;
  current_ = next;
  return 0;
}

}  // namespace sluice::produce
