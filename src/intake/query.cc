#include "intake/query.h"

#include <algorithm>

#include "intake/text.h"

namespace sluice::intake {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = ToLower(c);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// Calls `visit(name, value)` with the raw halves of each parameter until it returns false.
template <class Visit>
void ForEachParameter(std::string_view query, Visit visit) {
  while (!query.empty()) {
    std::string_view value = TakeUntil(query, '&');
    if (value.empty()) continue;
    const std::string_view name = TakeUntil(value, '=');
    if (!visit(name, value)) return;
  }
}

bool NeedsDecoding(std::string_view text) {
  return text.find_first_of("%+") != std::string_view::npos;
}

bool NameIs(std::string_view raw, std::string_view name) {
  return NeedsDecoding(raw) ? DecodeQueryPart(raw) == name : raw == name;
}

}  // namespace

std::string DecodePathPart(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size()) {
      const int high = HexDigit(text[i + 1]);
      const int low = HexDigit(text[i + 2]);
      if (high >= 0 && low >= 0) {
        out.push_back(static_cast<char>(high * 16 + low));
        i += 2;
        continue;
      }
    }
    out.push_back(text[i]);
  }
  return out;
}

std::string DecodeQueryPart(std::string_view text) {
  // Before the escapes, so that %2B stays a plus sign.
  std::string blanks(text);
  std::replace(blanks.begin(), blanks.end(), '+', ' ');
  return DecodePathPart(blanks);
}

bool HasParameter(std::string_view query, std::string_view name) {
  bool found = false;
  ForEachParameter(query, [&](std::string_view raw, std::string_view) {
    found = NameIs(raw, name);
    return !found;
  });
  return found;
}

std::optional<std::string> FindParameter(std::string_view query, std::string_view name) {
  std::optional<std::string> found;
  ForEachParameter(query, [&](std::string_view raw, std::string_view value) {
    if (!value.empty() && NameIs(raw, name)) found = DecodeQueryPart(value);
    return !found;
  });
  return found;
}

std::vector<std::pair<std::string, std::string>> AllParameters(std::string_view query) {
  std::vector<std::pair<std::string, std::string>> parameters;
  ForEachParameter(query, [&](std::string_view name, std::string_view value) {
    parameters.emplace_back(DecodeQueryPart(name), DecodeQueryPart(value));
    return true;
  });
  return parameters;
}

bool IsHasty(std::string_view query) {
  constexpr std::string_view kName = "hasty";
  int plain = 0;
  bool truthy = false;
  ForEachParameter(query, [&](std::string_view raw, std::string_view value) {
    const std::string name = DecodeQueryPart(raw);
    if (name == kName) {
      ++plain;
      const std::string decoded = DecodeQueryPart(value);
      truthy =
          truthy || (!decoded.empty() && decoded != "0" && !EqualsIgnoringCase(decoded, "false") &&
                     !EqualsIgnoringCase(decoded, "no"));
    } else if (name.size() > kName.size() && name.starts_with(kName) && name[kName.size()] == '[' &&
               name.back() == ']') {
      truthy = true;
    }
    return !truthy;
  });
  return truthy || plain > 1;
}

}  // namespace sluice::intake
