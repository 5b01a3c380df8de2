#pragma once

#include <string>
#include <string_view>

namespace sluice::validate {

// IDNA 2008 (RFC 5890 to 5893) over one label or name. Properties are those of PCRE2's Unicode
// version; joining types are derived from scripts and a list of right-joining letters.

// What a label is that begins with "xn--": the characters that it stands for, or empty if the rest
// is no Punycode.
std::u32string DecodePunycode(std::string_view ascii);
// The Punycode of a label, without "xn--".
std::string EncodePunycode(std::u32string_view label);

// Whether the characters may be a label: all allowed, contextual rules kept (RFC 5892), hyphens and
// marks where they may be (RFC 5891, 4.2.3).
bool IsIdnLabel(std::u32string_view label);

// Whether the labels of a name keep the Bidi rule (RFC 5893), if there is anything right-to-left in
// them.
class BidiRule {
 public:
  void Add(std::u32string_view label);
  // A label of letters, digits and hyphens.
  void AddAscii(std::string_view label);
  bool Holds() const { return !right_to_left_ || all_hold_; }

 private:
  bool right_to_left_ = false;
  bool all_hold_ = true;
};

}  // namespace sluice::validate
