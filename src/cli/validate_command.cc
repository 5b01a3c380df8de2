#include "cli/validate_command.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <string>

#include "cli/event_check.h"
#include "cli/exit_code.h"
#include "cli/line_reader.h"
#include "cli/output.h"
#include "registry/schema_loader.h"

namespace sluice::cli {
namespace {

using SteadyClock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kProgressInterval{500};
constexpr std::size_t kFlushBytes = 64u << 10;

// Verdicts to stdout in large writes, and how far it has got to a terminal.
class Output {
 public:
  explicit Output(const CheckTotals& totals)
      : totals_(totals),
        shows_progress_(isatty(STDERR_FILENO) != 0 && isatty(STDOUT_FILENO) == 0) {}

  std::string& text() { return text_; }

  void FlushIfLarge() {
    if (text_.size() >= kFlushBytes) Flush();
  }

  void Flush() {
    std::string_view rest = text_;
    while (!rest.empty() && !broken_) {
      const ssize_t written = ::write(STDOUT_FILENO, rest.data(), rest.size());
      if (written >= 0) {
        rest.remove_prefix(static_cast<std::size_t>(written));
      } else if (errno != EINTR) {
        broken_ = true;
        Complain(std::string("cannot write to stdout: ") + std::strerror(errno));
      }
    }
    text_.clear();
    ShowProgress();
  }

  void End() {
    Flush();
    if (shows_progress_) std::fputs("\r\x1b[K", stderr);
  }

  bool broken() const { return broken_; }

 private:
  void ShowProgress() {
    if (!shows_progress_ || SteadyClock::now() - shown_ < kProgressInterval) return;
    shown_ = SteadyClock::now();
    std::fprintf(stderr, "\r\x1b[K%llu events, %llu not valid",
                 static_cast<unsigned long long>(totals_.events),
                 static_cast<unsigned long long>(totals_.events - totals_.valid));
  }

  const CheckTotals& totals_;
  bool shows_progress_;
  bool broken_ = false;
  std::string text_;
  SteadyClock::time_point shown_ = SteadyClock::now();
};

// False if the input could not be read to its end; what is wrong was said.
bool CheckLines(int descriptor, const std::string& name, EventCheck& check, Output& output) {
  LineReader lines(descriptor, [&] { output.Flush(); });
  for (std::string_view line; lines.Next(line) && !output.broken();) {
    check.Check(line, output.text());
    output.FlushIfLarge();
  }
  if (lines.error() == 0) return true;
  Complain("cannot read " + name + ": " + std::strerror(lines.error()));
  return false;
}

bool CheckFile(const std::string& name, EventCheck& check, Output& output) {
  if (name == "-") return CheckLines(STDIN_FILENO, "stdin", check, output);
  const int descriptor = ::open(name.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    Complain("cannot open " + name + ": " + std::strerror(errno));
    return false;
  }
  const bool good = CheckLines(descriptor, name, check, output);
  ::close(descriptor);
  return good;
}

}  // namespace

const CommandSpec& ValidateSpec() {
  static const CommandSpec spec = {
      "validate",
      "Hold events against their schemas: one JSON event a line in, one verdict a line out.",
      "Reads the files in turn, or stdin. A verdict is {\"status\":\"valid\"} (with the completed "
      "\"event\" where\n"
      "defaults changed it), {\"status\":\"invalid\",\"errors\":[...],\"errorsText\":\"...\"} or\n"
      "{\"status\":\"error\",\"message\":\"...\"}. A summary goes to stderr. Exit code 0: all "
      "valid, 1: not all.",
      {{"--base-uri", "URI",
        "where schemas are: a folder, file:// or http(s):// URI; the first that has one counts",
        Repeat::kMany},
       {"--schema", "URI", "the schema of all events, instead of each event's own $schema"},
       {"--format-mode", "fast|full",
        "how strictly format is checked; fast is the original's way and the default"},
       {"--no-secure-check", "", "also take schemas that the original refuses as not secure"},
       {"--no-defaults", "", "do not put in defaults before checking"}},
      "FILE"};
  return spec;
}

int Validate(const Arguments& arguments) {
  const std::vector<std::string>& base_uris = arguments.Values("--base-uri");
  if (base_uris.empty()) {
    Complain("validate needs at least one --base-uri: the folder or URI where the schemas are");
    return kUsage;
  }
  const std::string_view mode = arguments.Value("--format-mode", "fast");
  if (mode != "fast" && mode != "full") {
    Complain("--format-mode is " + std::string(mode) + "; give fast or full");
    return kUsage;
  }
  registry::SchemaLoaderOptions loader_options;
  loader_options.base_uris = base_uris;
  loader_options.compile.formats =
      mode == "full" ? validate::FormatMode::kFull : validate::FormatMode::kFast;
  loader_options.compile.secure_check = !arguments.Has("--no-secure-check");
  registry::SchemaLoader loader(std::move(loader_options));
  if (const core::Result<void> usable = loader.Check(); !usable) {
    Complain(usable.error().message);
    return kUsage;
  }
  const auto defaults =
      arguments.Has("--no-defaults") ? validate::UseDefaults::kNo : validate::UseDefaults::kYes;
  EventCheck check({std::string(arguments.Value("--schema")), defaults},
                   [&](std::string_view uri) { return loader.Load(uri); });
  Output output(check.totals());
  std::vector<std::string> files = arguments.operands();
  if (files.empty()) files.emplace_back("-");
  bool all_read = true;
  for (const std::string& file : files) all_read = CheckFile(file, check, output) && all_read;
  output.End();
  std::fputs(check.totals().Summary().c_str(), stderr);
  if (!all_read || output.broken()) return kUsage;
  return check.totals().all_valid() ? kGood : kBad;
}

}  // namespace sluice::cli
