#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace sluice::streams {

using WallTime = std::chrono::system_clock::time_point;

// A stream that was declared at run time, and who said so.
struct Declaration {
  std::string name;
  std::string settings_json;  // a JSON object, as AppendJson writes it
  std::string declared_by;
  WallTime declared_at;
  std::optional<WallTime> expires_at;
  std::uint64_t version = 0;  // of no other declaration, ever, of this or any name
};
using DeclarationPtr = std::shared_ptr<const Declaration>;

struct DeclaredState {
  std::map<std::string, DeclarationPtr, std::less<>> streams;
  std::uint64_t last_version = 0;
};

// The journal of declared streams: one line for each change, in order.
//
//   line = checksum blank record newline
//
// checksum is the CRC-32 (zlib's) of the record as 8 lower-case hex digits; record is a JSON object
// without a newline, with `op` and `version`, which rises from line to line:
//
//   {"op":"base","version":N}   no change; N is the last version that was given before a rewrite
//   {"op":"put","version":N,"stream":…,"by":…,"at":time,"expires":time or null,"settings":{…}}
//   {"op":"delete","version":N,"stream":…}
//
// A line counts whole or not at all.
std::string JournalPut(const Declaration& declaration);
std::string JournalDelete(std::string_view name, std::uint64_t version);
std::string JournalOf(const DeclaredState& state);

struct JournalReading {
  DeclaredState state;
  std::size_t lines = 0;    // that count
  std::size_t damaged = 0;  // lines that do not, with good ones behind them: left out
  // Bytes at the end that are no good line: a write that was cut off.
  std::size_t torn_bytes = 0;
};

// Any bytes at all may be given.
JournalReading ReadJournal(std::string_view content);

}  // namespace sluice::streams
