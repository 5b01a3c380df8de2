#include "streams/declared_journal.h"

#include <zlib.h>

#include <array>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdio>
#include <utility>

#include "core/iso_time.h"
#include "core/json_text.h"
#include "core/yaml_json.h"
#include "streams/settings_reader.h"

namespace sluice::streams {
namespace {

constexpr std::size_t kChecksumChars = 8;

std::string Checksum(std::string_view record) {
  const auto crc = ::crc32_z(0, reinterpret_cast<const Bytef*>(record.data()), record.size());
  std::array<char, kChecksumChars + 1> text{};
  std::snprintf(text.data(), text.size(), "%08lx", crc);
  return text.data();
}

std::string Line(const std::string& record) { return Checksum(record) + ' ' + record + '\n'; }

std::string RecordHead(std::string_view op, std::uint64_t version) {
  std::string record = "{\"op\":\"";
  record += op;
  return record += "\",\"version\":" + std::to_string(version);
}

// A record, once its checksum is right; the rest of the checks are against defects of ours.
class Record {
 public:
  explicit Record(const boost::json::object& fields) : fields_(fields) {}

  std::string_view Text(std::string_view name) const {
    const auto* value = fields_.if_contains(name);
    return value && value->is_string() ? std::string_view(value->get_string()) : std::string_view();
  }
  std::uint64_t Version() const {
    const auto* value = fields_.if_contains("version");
    const auto* number = value ? value->if_int64() : nullptr;
    return number && *number > 0 ? static_cast<std::uint64_t>(*number) : 0;
  }
  std::optional<WallTime> Time(std::string_view name) const {
    const auto ms = core::ParseIsoTimeMs(Text(name));
    if (!ms) return std::nullopt;
    return WallTime(std::chrono::milliseconds(*ms));
  }
  bool IsNull(std::string_view name) const {
    const auto* value = fields_.if_contains(name);
    return value && value->is_null();
  }
  const boost::json::value* Object(std::string_view name) const {
    const auto* value = fields_.if_contains(name);
    return value && value->is_object() ? value : nullptr;
  }

 private:
  const boost::json::object& fields_;
};

DeclarationPtr ReadPut(const Record& record) {
  Declaration declaration;
  declaration.name = record.Text("stream");
  declaration.declared_by = record.Text("by");
  declaration.version = record.Version();
  const auto at = record.Time("at");
  declaration.expires_at = record.Time("expires");
  const auto* settings = record.Object("settings");
  if (declaration.name.empty() || !at || !settings) return nullptr;
  if (!declaration.expires_at && !record.IsNull("expires")) return nullptr;
  declaration.declared_at = *at;
  AppendJson(declaration.settings_json, *settings);
  return std::make_shared<const Declaration>(std::move(declaration));
}

// False if the record is none that follows on `state`, which is then as before.
bool Apply(const Record& record, DeclaredState& state) {
  const std::string_view op = record.Text("op");
  const std::uint64_t version = record.Version();
  if (op == "base") {
    if (version < state.last_version) return false;
  } else if (version <= state.last_version) {
    return false;
  }
  if (op == "put") {
    auto declaration = ReadPut(record);
    if (!declaration) return false;
    state.streams.insert_or_assign(declaration->name, std::move(declaration));
  } else if (op == "delete") {
    const auto found = state.streams.find(record.Text("stream"));
    if (found != state.streams.end()) state.streams.erase(found);
  } else if (op != "base") {
    return false;
  }
  state.last_version = version;
  return true;
}

bool ReadLine(std::string_view line, DeclaredState& state) {
  if (line.size() < kChecksumChars + 2 || line[kChecksumChars] != ' ') return false;
  const std::string_view record = line.substr(kChecksumChars + 1);
  if (Checksum(record) != line.substr(0, kChecksumChars)) return false;
  const auto value = core::ParseYamlOrJson(record, core::ErrorCode::kInternal);
  const auto* fields = value.has_value() ? value->if_object() : nullptr;
  return fields && Apply(Record(*fields), state);
}

}  // namespace

std::string JournalPut(const Declaration& declaration) {
  std::string record = RecordHead("put", declaration.version) + ",\"stream\":";
  core::AppendJsonString(record, declaration.name);
  record += ",\"by\":";
  core::AppendJsonString(record, declaration.declared_by);
  record += ",\"at\":\"" + core::FormatIsoTime(declaration.declared_at) + "\",\"expires\":";
  record += declaration.expires_at ? '"' + core::FormatIsoTime(*declaration.expires_at) + '"'
                                   : std::string("null");
  record += ",\"settings\":" + declaration.settings_json + '}';
  return Line(record);
}

std::string JournalDelete(std::string_view name, std::uint64_t version) {
  std::string record = RecordHead("delete", version) + ",\"stream\":";
  core::AppendJsonString(record, name);
  return Line(record + '}');
}

std::string JournalOf(const DeclaredState& state) {
  // In the order of their versions, as they were written first.
  std::map<std::uint64_t, const Declaration*> by_version;
  for (const auto& [name, declaration] : state.streams) {
    by_version.emplace(declaration->version, declaration.get());
  }
  std::string journal;
  for (const auto& [version, declaration] : by_version) journal += JournalPut(*declaration);
  return journal + Line(RecordHead("base", state.last_version) + '}');
}

JournalReading ReadJournal(std::string_view content) {
  JournalReading reading;
  std::size_t good_end = 0;
  std::size_t bad_lines = 0;  // since the last good one
  for (std::size_t at = 0; at < content.size();) {
    const std::size_t end = content.find('\n', at);
    // Without its newline the last line may still be whole, but then nothing can be added to it.
    if (end == std::string_view::npos) break;
    if (ReadLine(content.substr(at, end - at), reading.state)) {
      ++reading.lines;
      reading.damaged += std::exchange(bad_lines, 0);
      good_end = end + 1;
    } else {
      ++bad_lines;
    }
    at = end + 1;
  }
  reading.torn_bytes = content.size() - good_end;
  return reading;
}

}  // namespace sluice::streams
