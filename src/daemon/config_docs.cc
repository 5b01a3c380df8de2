#include "daemon/config_docs.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <vector>

#include "daemon/config_table.h"
#include "daemon/config_value.h"
#include "daemon/roff.h"
#include "daemon/service_file.h"

namespace sluice::daemon {
namespace {

constexpr std::size_t kCommentColumns = 100;

std::vector<std::string_view> SplitAtDots(std::string_view name) {
  std::vector<std::string_view> parts;
  for (std::size_t dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.')) {
    parts.push_back(name.substr(0, dot));
    name.remove_prefix(dot + 1);
  }
  parts.push_back(name);
  return parts;
}

void AppendComment(std::string& out, std::string_view text, const std::string& indent) {
  std::string line = indent + '#';
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (line.size() + 1 + word.size() > kCommentColumns) {
      out += line + '\n';
      line = indent + '#';
    }
    line += ' ';
    line += word;
  }
  out += line + '\n';
}

// What stands before the table of keys, in the page and in the manual.
constexpr std::string_view kHowItIsRead =
    R"(`sluice serve --config FILE` reads one YAML file; `--set key=value` overrides a key, its value read as YAML
(`--set port=0`, `--set 'schema_base_uris=[a, b]'`, `--set kafka.conf.linger.ms=5`). A change takes effect at the next
start, and of keys that reload also with `sluice reload` or SIGHUP. `sluice check-config --config FILE` tells all that
is wrong with a file at once, each with its key and line, and connects to nothing; `--print` shows what is in force,
secrets masked.

Two shapes of file are read.

* **Flat**: the keys below at the top level. A dot stands for a section: `limits.max_depth` may be written as
  `limits:` with `max_depth:` below it, or with the dot.
* **Service file** of the original, unmodified: the same keys below `services[0].conf`, and `service_name`, `metrics`
  and `logging` at the top level. In this shape `interface` and `admin.interface` default to 0.0.0.0 and
  `max_body_size` to 100kb, as in the original, and `metrics.port` is `admin.port`. If `eventgate_factory_module` is
  absent or names the generic factory (`default-eventgate`), events are not completed: `enrichment.meta_dt: never`,
  `enrichment.meta_id: never`, `enrichment.client_ip: false`, `enrichment.request_headers: {}`, and without a
  `stream_field` the stream is made of the schema URI.

A time is milliseconds or has a unit (`500ms`, `10s`, `2m`, `1h`); a size is bytes or has a binary unit (`100kb`,
`10mb`, `1gb`). A key without a value has its default. A key that nobody knows is an error with the nearest known name.
Entries of `kafka.conf` and its like go to librdkafka as they are; one that librdkafka does not know is an error.)";

constexpr std::string_view kIgnoredAre =
    "They are accepted, and listed once at start with the reason.";

enum class Comments : std::uint8_t { kNone, kEachKey };

// All keys as nested YAML, with the values that `value_of` gives.
std::string WriteYaml(Comments comments,
                      const std::function<std::string(const ConfigKey&)>& value_of) {
  std::string out;
  std::vector<std::string_view> open;  // sections
  for (const ConfigKey& key : ConfigKeys()) {
    const std::vector<std::string_view> parts = SplitAtDots(key.name);
    std::size_t common = 0;
    while (common < open.size() && common + 1 < parts.size() && open[common] == parts[common])
      ++common;
    open.resize(common);
    if (comments == Comments::kEachKey && !out.empty()) out += '\n';
    for (; common + 1 < parts.size(); ++common) {
      out += std::string(2 * common, ' ') + std::string(parts[common]) + ":\n";
      open.push_back(parts[common]);
    }
    const std::string indent(2 * open.size(), ' ');
    if (comments == Comments::kEachKey) {
      AppendComment(out, std::string(key.text) + " [" + DescribeType(key) + ']', indent);
    }
    out += indent + std::string(parts.back()) + ": " + value_of(key) + '\n';
  }
  return out;
}

std::string EscapeCell(std::string_view text) {
  std::string cell;
  for (const char c : text) {
    if (c == '|') cell += '\\';
    cell += c;
  }
  return cell;
}

std::string KeyTable() {
  std::string out = "| key | type | default | reload | what |\n|---|---|---|---|---|\n";
  const core::Config defaults;
  for (const ConfigKey& key : ConfigKeys()) {
    std::string value = FormatValue(key, defaults, Secrets::kShow);
    if (value == "\"\"" || value == "[]" || value == "{}") value.clear();
    out += "| `" + std::string(key.name) + "` | " + DescribeType(key) + " | ";
    if (!value.empty()) out += '`' + EscapeCell(value) + '`';
    out += key.reload == Reload::kLive ? " | yes | " : " | | ";
    out += EscapeCell(key.text) + " |\n";
  }
  return out;
}

std::string IgnoredTable() {
  std::string out = "| key | why it does nothing |\n|---|---|\n";
  for (const IgnoredKeyName& key : IgnoredKeyNames()) {
    out += "| `" + std::string(key.name) + (key.name.ends_with('.') ? "*" : "") + "` | " +
           std::string(key.reason) + " |\n";
  }
  return out;
}

}  // namespace

std::string EffectiveConfig(const core::Config& config) {
  return WriteYaml(Comments::kNone,
                   [&](const ConfigKey& key) { return FormatValue(key, config, Secrets::kMask); });
}

std::string ProductionExample() {
  const core::Config defaults;
  return "# An example for production with every key. What is not set has the default of "
         "docs/configuration.md.\n"
         "# Made by `sluice check-config --print-example`; a test holds the two against each "
         "other.\n\n" +
         WriteYaml(Comments::kEachKey, [&](const ConfigKey& key) {
           return key.example.empty() ? FormatValue(key, defaults, Secrets::kShow)
                                      : std::string(key.example);
         });
}

std::string ConfigurationPage() {
  return R"(# Configuration

Made by `sluice check-config --print-docs`; a test holds this page against the code.

)" + std::string(kHowItIsRead) +
         "\n\n" + KeyTable() + R"(
## Keys of the original that do nothing here

)" + std::string(kIgnoredAre) +
         "\n\n" + IgnoredTable() +
         R"(
`producer.poll.interval.ms` and the callbacks of the original's Kafka client are left out of `kafka.conf` likewise.
`http_request_headers_to_fields`, an older form of `enrichment.request_headers` with the header on the left, is read.
)";
}

std::string ConfigurationManual() {
  std::string out = RoffTitle("sluice.yaml", "5", "File formats");
  out +=
      ".SH NAME\nsluice.yaml \\- configuration of the event intake daemon sluice\n.SH "
      "DESCRIPTION\n";
  out += RoffParagraphs(kHowItIsRead) + ".SH KEYS\n";
  const core::Config defaults;
  for (const ConfigKey& key : ConfigKeys()) {
    const std::string value = FormatValue(key, defaults, Secrets::kShow);
    const bool empty = value == "\"\"" || value == "[]" || value == "{}";
    out += ".TP\n.B " + RoffText(key.name) + "\n(" + RoffText(DescribeType(key)) +
           (empty ? "" : "; default \\fB" + RoffText(value) + "\\fR") +
           (key.reload == Reload::kLive ? "; reloads" : "") + ")\n.br\n" + RoffText(key.text) +
           '\n';
  }
  out += ".SH KEYS OF THE ORIGINAL THAT DO NOTHING HERE\n" + RoffText(kIgnoredAre) + '\n';
  for (const IgnoredKeyName& key : IgnoredKeyNames()) {
    out += ".TP\n.B " + RoffText(key.name) + (key.name.ends_with('.') ? "*" : "") + '\n' +
           RoffText(key.reason) + '\n';
  }
  return out +
         ".SH FILES\n.TP\n.I /etc/sluice/sluice.yaml\nwhat the systemd units read\n"
         ".SH SEE ALSO\n.BR sluice (1)\n";
}

}  // namespace sluice::daemon
