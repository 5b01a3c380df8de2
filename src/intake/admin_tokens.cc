#include "intake/admin_tokens.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>
#include <sys/stat.h>

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <utility>

#include "core/log.h"
#include "core/read_file.h"
#include "core/yaml_json.h"
#include "intake/text.h"

namespace sluice::intake {
namespace {

constexpr std::size_t kMaxFileBytes = 1u << 20;
constexpr std::size_t kMinTokenChars = 16;
constexpr std::string_view kScheme = "bearer ";
constexpr std::string_view kCredentials = "${CREDENTIALS_DIRECTORY}";

std::array<unsigned char, 32> Sha256(std::string_view text) {
  std::array<unsigned char, 32> digest{};
  ::SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data());
  return digest;
}

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char lower = ToLower(c);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

bool ReadHex(std::string_view text, std::array<unsigned char, 32>& out) {
  if (text.size() != 2 * out.size()) return false;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const int high = HexValue(text[2 * i]);
    const int low = HexValue(text[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    out[i] = static_cast<unsigned char>(high * 16 + low);
  }
  return true;
}

// One entry of the file; what is wrong goes to `problems`, never with the token in it.
class EntryReader {
 public:
  EntryReader(std::size_t number, std::string& problems)
      : where_("entry " + std::to_string(number) + ": "), problems_(problems) {}

  void Complain(std::string_view text) {
    if (!problems_.empty()) problems_ += '\n';
    problems_ += where_;
    problems_ += text;
  }

  AdminToken Read(const boost::json::object& entry) {
    AdminToken token;
    for (const auto& member : entry) {
      const auto* text = member.value().if_string();
      const std::string_view key = member.key();
      if (key == "name" && text && !text->empty()) {
        token.name = std::string_view(*text);
      } else if (key == "token" && text && text->size() >= kMinTokenChars) {
        token.sha256 = Sha256(*text);
        ++secrets_;
      } else if (key == "token_sha256" && text && ReadHex(*text, token.sha256)) {
        ++secrets_;
      } else if (key == "streams") {
        ReadPatterns(member.value(), token);
      } else {
        Complain(What(key));
      }
    }
    if (!entry.contains("name")) Complain("needs a name");
    if (secrets_ != 1 && problems_.empty()) Complain("needs one of token and token_sha256");
    if (!entry.contains("streams")) Complain("needs streams, a list of patterns of stream names");
    return token;
  }

 private:
  static std::string What(std::string_view key) {
    if (key == "name") return "name has to be a text that is not empty";
    if (key == "token") return "token has to be a text of 16 characters or more";
    if (key == "token_sha256") return "token_sha256 has to be 64 hex digits";
    return "unknown key '" + std::string(key) +
           "'; there are name, token, token_sha256 and streams";
  }

  void ReadPatterns(const boost::json::value& value, AdminToken& token) {
    const auto* list = value.if_array();
    const bool good =
        list && !list->empty() && std::all_of(list->begin(), list->end(), [](const auto& each) {
          return each.is_string() && !each.get_string().empty();
        });
    if (!good) return Complain("streams has to be a list of patterns of stream names");
    for (const auto& pattern : *list) token.patterns.emplace_back(pattern.get_string());
  }

  std::string where_;
  std::string& problems_;
  int secrets_ = 0;
};

core::Error Unreadable(std::string message) {
  return {core::ErrorCode::kInternal, std::move(message)};
}

bool PatternTakes(std::string_view pattern, std::string_view name) {
  std::size_t p = 0;
  std::size_t n = 0;
  std::size_t star = std::string_view::npos;  // the last `*`, and what it took
  std::size_t taken = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = n;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++taken;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace

bool AnyPatternTakes(const std::vector<std::string>& patterns, std::string_view name) {
  return std::any_of(patterns.begin(), patterns.end(),
                     [&](const std::string& pattern) { return PatternTakes(pattern, name); });
}

core::Result<std::vector<AdminToken>> ReadAdminTokens(std::string_view text) {
  const auto document = core::ParseYamlOrJson(text, core::ErrorCode::kInternal);
  if (!document.has_value()) return document.error();
  const auto* list = document->if_array();
  if (!list || list->empty()) return Unreadable("has to be a list of tokens that is not empty");
  std::string problems;
  std::vector<AdminToken> tokens;
  std::set<std::string> names;
  std::set<std::array<unsigned char, 32>> secrets;
  for (const auto& entry : *list) {
    std::string wrong;
    EntryReader reader(tokens.size() + 1, wrong);
    if (const auto* map = entry.if_object()) {
      tokens.push_back(reader.Read(*map));
      if (!names.insert(tokens.back().name).second) reader.Complain("its name is there twice");
      if (wrong.empty() && !secrets.insert(tokens.back().sha256).second)
        reader.Complain("its token is there twice");
    } else {
      tokens.emplace_back();
      reader.Complain("has to be a map");
    }
    if (!wrong.empty()) problems += (problems.empty() ? "" : "\n") + wrong;
  }
  if (!problems.empty()) return Unreadable(std::move(problems));
  return tokens;
}

AdminTokens::Stamp AdminTokens::StampOf(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return {};
  return {static_cast<long long>(info.st_ino), static_cast<long long>(info.st_size),
          static_cast<long long>(info.st_mtim.tv_sec), info.st_mtim.tv_nsec};
}

core::Result<void> AdminTokens::Load() {
  std::string path = path_;
  if (path.starts_with(kCredentials)) {
    const char* folder = std::getenv("CREDENTIALS_DIRECTORY");
    if (folder == nullptr) {
      return Unreadable("declared_streams.tokens_file: " + path_ +
                        " needs the variable CREDENTIALS_DIRECTORY, which systemd sets for a unit "
                        "with LoadCredential=");
    }
    path.replace(0, kCredentials.size(), folder);
  }
  const std::lock_guard lock(mutex_);
  file_ = std::move(path);
  struct stat info {};
  if (::stat(file_.c_str(), &info) == 0 && (info.st_mode & S_IROTH) != 0) {
    core::Log(core::LogLevel::kWarn, "tokens_file_open",
              "The file of declared_streams.tokens_file can be read by everyone on this machine.",
              {{"file", file_}});
  }
  return Read();
}

core::Result<void> AdminTokens::Read() {
  const Stamp stamp = StampOf(file_);  // before the content, so that a later change is seen
  std::string text;
  if (const int error = core::ReadFile(file_, kMaxFileBytes, text)) {
    return Unreadable("declared_streams.tokens_file " + file_ + ": " + core::ErrnoText(error));
  }
  auto tokens = ReadAdminTokens(text);
  OPENSSL_cleanse(text.data(), text.size());
  if (!tokens.has_value()) {
    return Unreadable("declared_streams.tokens_file " + file_ + ": " + tokens.error().message);
  }
  tokens_.clear();
  for (AdminToken& token : *tokens) {
    tokens_.push_back(std::make_shared<const AdminToken>(std::move(token)));
  }
  stamp_ = stamp;
  return {};
}

AdminTokens::TokenList AdminTokens::Current() {
  const std::lock_guard lock(mutex_);
  const Stamp stamp = StampOf(file_);
  if (!(stamp == stamp_)) {
    if (const auto read = Read(); !read.has_value()) {
      core::Log(core::LogLevel::kError, "tokens_file_broken",
                read.error().message + "; the tokens before stay");
      stamp_ = stamp;  // told once for each change
    }
  }
  return tokens_;
}

std::shared_ptr<const AdminToken> AdminTokens::Find(std::string_view authorization) {
  if (authorization.size() <= kScheme.size() ||
      !EqualsIgnoringCase(authorization.substr(0, kScheme.size()), kScheme)) {
    return nullptr;
  }
  const auto digest = Sha256(Trim(authorization.substr(kScheme.size())));
  std::shared_ptr<const AdminToken> found;
  for (const auto& token : Current()) {
    if (CRYPTO_memcmp(digest.data(), token->sha256.data(), digest.size()) == 0) found = token;
  }
  return found;
}

}  // namespace sluice::intake
