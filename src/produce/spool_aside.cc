#include "produce/spool_aside.h"

#include <algorithm>
#include <vector>

namespace sluice::produce {
namespace {

constexpr std::size_t kBlock = 1u << 20;

}  // namespace

SpoolAside::SpoolAside(FileOps& ops, const std::string& spool_folder)
    : ops_(ops), folder_(spool_folder + "/aside") {}

int SpoolAside::Open() {
  if (int error = ops_.CreateFolders(folder_); error != 0) return error;
  std::vector<std::string> names;
  if (int error = ops_.ListFiles(folder_, &names); error != 0) return error;
  std::uint64_t bytes = 0;
  for (const std::string& name : names) {
    std::unique_ptr<AppendFile> file;
    std::uint64_t size = 0;
    if (int error = ops_.Open(folder_ + '/' + name, &file); error != 0) return error;
    if (int error = file->Size(&size); error != 0) return error;
    bytes += size;
  }
  bytes_.store(bytes, std::memory_order_relaxed);
  return 0;
}

int SpoolAside::Append(const std::string& name, std::string_view bytes) {
  std::unique_ptr<AppendFile> file;
  if (int error = ops_.Open(folder_ + '/' + name, &file); error != 0) return error;
  std::uint64_t before = 0;
  if (int error = file->Size(&before); error != 0) return error;
  std::string head;
  if (before == 0 && name == kRefusedName) AppendEncoded(head, SegmentHeader{});
  for (std::string_view part : {std::string_view(head), bytes}) {
    while (!part.empty()) {
      const iovec vector{const_cast<char*>(part.data()), part.size()};
      std::size_t written = 0;
      if (int error = file->Write(&vector, 1, &written); error != 0) {
        file->Truncate(before);
        return error;
      }
      part.remove_prefix(written);
    }
  }
  bytes_.fetch_add(head.size() + bytes.size(), std::memory_order_relaxed);
  if (int error = file->Sync(); error != 0) return error;
  return before == 0 ? ops_.SyncFolder(folder_) : 0;
}

int SpoolAside::KeepRefused(const SpoolRecord& record) {
  std::string encoded;
  AppendEncoded(encoded, record, SegmentHeader{}.salt);
  return Append(std::string(kRefusedName), encoded);
}

int SpoolAside::KeepDamaged(std::uint64_t segment, AppendFile& file, std::uint64_t begin,
                            std::uint64_t end) {
  std::string block;
  while (begin < end) {
    block.resize(std::min<std::uint64_t>(end - begin, kBlock));
    if (int error = file.ReadAt(begin, block.data(), block.size()); error != 0) return error;
    if (int error = Append("damaged-" + std::to_string(segment) + ".bin", block); error != 0)
      return error;
    begin += block.size();
  }
  return 0;
}

std::string SpoolAside::UnreadablePath(std::uint64_t segment) const {
  return folder_ + "/unreadable-" + std::to_string(segment) + ".spool";
}

}  // namespace sluice::produce
