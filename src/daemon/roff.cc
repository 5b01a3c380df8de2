#include "daemon/roff.h"

#include <algorithm>
#include <cctype>

#include "core/version.h"

namespace sluice::daemon {
namespace {

// A character that roff or a terminal would change: a backslash, a dash that becomes a hyphen which
// cannot be searched for or copied, quotes and accents that become typographic ones.
std::string_view Escaped(char c) {
  switch (c) {
    case '\\':
      return "\\e";
    case '-':
      return "\\-";
    case '\'':
      return "\\(aq";
    case '^':
      return "\\(ha";
    case '~':
      return "\\(ti";
    default:
      return {};
  }
}

}  // namespace

std::string RoffText(std::string_view text) {
  std::string out;
  bool bold = false;
  bool line_begins = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool asterisks = text.substr(i).starts_with("**");
    if (text[i] == '`' || asterisks) {
      bold = !bold;
      out += bold ? "\\fB" : "\\fR";
      i += asterisks ? 1 : 0;
      line_begins = false;
      continue;
    }
    if (line_begins && text[i] == '.') out += "\\&";
    const std::string_view escaped = Escaped(text[i]);
    escaped.empty() ? out += text[i] : out += escaped;
    line_begins = text[i] == '\n';
  }
  return out;
}

std::string RoffParagraphs(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.empty()) {
      out += ".PP\n";
      continue;
    }
    if (line.starts_with("* ")) {
      out += ".IP \\(bu 2\n";
      line.remove_prefix(2);
    }
    line.remove_prefix(std::min(line.size(), line.find_first_not_of(' ')));
    out += RoffText(line) + '\n';
  }
  return out;
}

std::string RoffTitle(std::string_view name, std::string_view section, std::string_view of) {
  std::string upper(name);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  // No date: a page is of the version that its foot names.
  return ".TH \"" + upper + "\" " + std::string(section) + " \"\" \"sluice " +
         RoffText(core::kVersion) + "\" \"" + std::string(of) + "\"\n";
}

}  // namespace sluice::daemon
