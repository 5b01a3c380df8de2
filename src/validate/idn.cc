#include "validate/idn.h"

#include <algorithm>

#include "validate/unicode_property.h"

namespace sluice::validate {
namespace {

// Looked up once: the cache behind Pcre2Property has a lock.
struct Properties {
  const CodePointSet& letter = Pcre2Property("L");
  const CodePointSet& mark = Pcre2Property("M");
  const CodePointSet& nonspacing = Pcre2Property("Mn");
  const CodePointSet& enclosing = Pcre2Property("Me");
  const CodePointSet& format = Pcre2Property("Cf");
  const CodePointSet& casefolded = Pcre2Property("CWCF");
  const CodePointSet& ignorable = Pcre2Property("DI");
  const CodePointSet& greek = Pcre2Property("sc:Greek");
  const CodePointSet& hebrew = Pcre2Property("sc:Hebrew");
  const CodePointSet& hiragana = Pcre2Property("sc:Hiragana");
  const CodePointSet& katakana = Pcre2Property("sc:Katakana");
  const CodePointSet& han = Pcre2Property("sc:Han");
};
const Properties& Unicode() {
  static const Properties kProperties;
  return kProperties;
}

CodePointSet UnionOf(std::initializer_list<std::string_view> properties) {
  CodePointSet set;
  for (const std::string_view property : properties) set.Add(Pcre2Property(property));
  return set;
}

// RFC 5892, 2.6: allowed or not whatever the rules below say. The contextual ones are allowed here.
const CodePointSet& ExceptionallyAllowed() {
  static const CodePointSet kSet{{0xDF, 0xDF},   {0x3C2, 0x3C2},   {0x6FD, 0x6FE},
                                 {0xF0B, 0xF0B}, {0x3007, 0x3007}, {0xB7, 0xB7},
                                 {0x375, 0x375}, {0x5F3, 0x5F4},   {0x30FB, 0x30FB},
                                 {0x660, 0x669}, {0x6F0, 0x6F9},   {0x200C, 0x200D}};
  return kSet;
}

// RFC 5892: exceptions (2.6), old Hangul jamo (2.9), blocks to be ignored (2.4).
const CodePointSet& ExceptionallyRefused() {
  static const CodePointSet kSet{
      {0x640, 0x640},   {0x7FA, 0x7FA},   {0x302E, 0x302F}, {0x3031, 0x3035}, {0x303B, 0x303B},
      {0x1100, 0x11FF}, {0xA960, 0xA97C}, {0xD7B0, 0xD7FB}, {0x20D0, 0x20FF}, {0x1D100, 0x1D24F}};
  return kSet;
}

// RFC 5892, 2.2: letters, digits and marks that normalisation (NFKC) changes, without those that
// case folding changes. Gaps hold characters that are refused anyway.
const CodePointSet& Unstable() {
  static const CodePointSet kSet{
      {0xAA, 0xBA},       {0x133, 0x133},     {0x140, 0x140},     {0x1C6, 0x1CC},
      {0x1F3, 0x1F3},     {0x2B0, 0x2B8},     {0x2E0, 0x2E4},     {0x340, 0x341},
      {0x343, 0x344},     {0x374, 0x374},     {0x37A, 0x37A},     {0x3D2, 0x3D4},
      {0x3F2, 0x3F2},     {0x675, 0x678},     {0x958, 0x95F},     {0x9DC, 0x9DF},
      {0xA33, 0xA33},     {0xA36, 0xA36},     {0xA59, 0xA5B},     {0xA5E, 0xA5E},
      {0xB5C, 0xB5D},     {0xE33, 0xE33},     {0xEB3, 0xEB3},     {0xEDC, 0xEDD},
      {0xF43, 0xF43},     {0xF4D, 0xF4D},     {0xF52, 0xF52},     {0xF57, 0xF57},
      {0xF5C, 0xF5C},     {0xF69, 0xF69},     {0xF73, 0xF73},     {0xF75, 0xF79},
      {0xF81, 0xF81},     {0xF93, 0xF93},     {0xF9D, 0xF9D},     {0xFA2, 0xFA2},
      {0xFA7, 0xFA7},     {0xFAC, 0xFAC},     {0xFB9, 0xFB9},     {0x10FC, 0x10FC},
      {0x1D2C, 0x1D2E},   {0x1D30, 0x1D3A},   {0x1D3C, 0x1D4D},   {0x1D4F, 0x1D6A},
      {0x1D78, 0x1D78},   {0x1D9B, 0x1DBF},   {0x1F71, 0x1F71},   {0x1F73, 0x1F73},
      {0x1F75, 0x1F75},   {0x1F77, 0x1F77},   {0x1F79, 0x1F79},   {0x1F7B, 0x1F7B},
      {0x1F7D, 0x1F7D},   {0x1FBE, 0x1FBE},   {0x1FD3, 0x1FD3},   {0x1FE3, 0x1FE3},
      {0x2071, 0x209C},   {0x2102, 0x2149},   {0x2C7C, 0x2C7D},   {0x2D6F, 0x2D6F},
      {0x309F, 0x309F},   {0x30FF, 0x30FF},   {0x3131, 0x3163},   {0x3165, 0x318E},
      {0xA69C, 0xA69D},   {0xA770, 0xA770},   {0xA7F1, 0xA7F4},   {0xA7F8, 0xA7F9},
      {0xAB5C, 0xAB5F},   {0xAB69, 0xAB69},   {0xF900, 0xFA0D},   {0xFA10, 0xFA10},
      {0xFA12, 0xFA12},   {0xFA15, 0xFA1E},   {0xFA20, 0xFA20},   {0xFA22, 0xFA22},
      {0xFA25, 0xFA26},   {0xFA2A, 0xFB1D},   {0xFB1F, 0xFDFB},   {0xFE70, 0xFE72},
      {0xFE74, 0xFF9F},   {0xFFA1, 0xFFDC},   {0x10781, 0x107BA}, {0x1CCF0, 0x1CCF9},
      {0x1D400, 0x1D7FF}, {0x1E030, 0x1E06D}, {0x1EE00, 0x1FBF9}, {0x2F800, 0x2FA1D}};
  return kSet;
}

bool IsAllowed(char32_t c) {
  if (c < 0x80) return c == '-' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z');
  if (ExceptionallyAllowed().Contains(c)) return true;
  if (ExceptionallyRefused().Contains(c) || Unstable().Contains(c)) return false;
  static const CodePointSet kLettersDigits = UnionOf({"Ll", "Lu", "Lo", "Nd", "Lm", "Mn", "Mc"});
  return kLettersDigits.Contains(c) && !Unicode().casefolded.Contains(c) &&
         !Unicode().ignorable.Contains(c);
}

// Canonical combining class 9.
bool IsVirama(char32_t c) {
  static const CodePointSet kSet{
      {0x94D, 0x94D},     {0x9CD, 0x9CD},     {0xA4D, 0xA4D},     {0xACD, 0xACD},
      {0xB4D, 0xB4D},     {0xBCD, 0xBCD},     {0xC4D, 0xC4D},     {0xCCD, 0xCCD},
      {0xD3B, 0xD3C},     {0xD4D, 0xD4D},     {0xDCA, 0xDCA},     {0xE3A, 0xE3A},
      {0xEBA, 0xEBA},     {0xF84, 0xF84},     {0x1039, 0x103A},   {0x1714, 0x1715},
      {0x1734, 0x1734},   {0x17D2, 0x17D2},   {0x1A60, 0x1A60},   {0x1B44, 0x1B44},
      {0x1BAA, 0x1BAB},   {0x1BF2, 0x1BF3},   {0x2D7F, 0x2D7F},   {0xA806, 0xA806},
      {0xA82C, 0xA82C},   {0xA8C4, 0xA8C4},   {0xA953, 0xA953},   {0xA9C0, 0xA9C0},
      {0xAAF6, 0xAAF6},   {0xABED, 0xABED},   {0x10A3F, 0x10A3F}, {0x11046, 0x11046},
      {0x11070, 0x11070}, {0x1107F, 0x1107F}, {0x110B9, 0x110B9}, {0x11133, 0x11134},
      {0x111C0, 0x111C0}, {0x11235, 0x11235}, {0x112EA, 0x112EA}, {0x1134D, 0x1134D},
      {0x11442, 0x11442}, {0x114C2, 0x114C2}, {0x115BF, 0x115BF}, {0x1163F, 0x1163F},
      {0x116B6, 0x116B6}, {0x1172B, 0x1172B}, {0x11839, 0x11839}, {0x1193D, 0x1193E},
      {0x119E0, 0x119E0}, {0x11A34, 0x11A34}, {0x11A47, 0x11A47}, {0x11A99, 0x11A99},
      {0x11C3F, 0x11C3F}, {0x11D44, 0x11D45}, {0x11D97, 0x11D97}};
  return kSet.Contains(c);
}

enum class Joining : std::uint8_t { kNone, kRight, kDual, kTransparent };

Joining JoiningOf(char32_t c) {
  static const CodePointSet kRight{
      {0x622, 0x625}, {0x627, 0x627}, {0x629, 0x629}, {0x62F, 0x632}, {0x648, 0x648},
      {0x671, 0x673}, {0x675, 0x677}, {0x688, 0x699}, {0x6C0, 0x6C0}, {0x6C3, 0x6CB},
      {0x6CD, 0x6CD}, {0x6CF, 0x6CF}, {0x6D2, 0x6D3}, {0x6D5, 0x6D5}, {0x6EE, 0x6EF},
      {0x710, 0x710}, {0x715, 0x719}, {0x71E, 0x71E}, {0x728, 0x728}, {0x72A, 0x72A},
      {0x72C, 0x72C}, {0x72F, 0x72F}, {0x74D, 0x74D}, {0x759, 0x75B}, {0x76B, 0x76C},
      {0x771, 0x771}, {0x773, 0x774}, {0x778, 0x779}, {0x840, 0x840}, {0x846, 0x847},
      {0x849, 0x849}, {0x854, 0x854}, {0x856, 0x858}, {0x867, 0x867}, {0x869, 0x86A},
      {0x870, 0x882}, {0x88E, 0x88E}, {0x8AA, 0x8AC}, {0x8AE, 0x8AE}, {0x8B1, 0x8B2},
      {0x8B9, 0x8B9}};
  static const CodePointSet kUnjoined{{0x621, 0x621}, {0x674, 0x674}, {0x8AD, 0x8AD}};
  static const CodePointSet kScripts =
      UnionOf({"sc:Arabic", "sc:Syriac", "sc:Nko", "sc:Mandaic", "sc:Mongolian", "sc:Phags_Pa",
               "sc:Manichaean", "sc:Adlam", "sc:Hanifi_Rohingya"});
  const Properties& unicode = Unicode();
  if (unicode.nonspacing.Contains(c) || unicode.enclosing.Contains(c) ||
      unicode.format.Contains(c)) {
    return Joining::kTransparent;
  }
  if (kRight.Contains(c)) return Joining::kRight;
  if (kUnjoined.Contains(c) || !unicode.letter.Contains(c)) return Joining::kNone;
  return kScripts.Contains(c) ? Joining::kDual : Joining::kNone;
}

// RFC 5892, appendix A.1: between a letter that joins to the left and one that joins to the right.
bool IsBetweenJoining(std::u32string_view label, std::size_t at) {
  std::size_t before = at;
  do {
    if (before == 0) return false;
  } while (JoiningOf(label[--before]) == Joining::kTransparent);
  std::size_t behind = at;
  do {
    if (++behind == label.size()) return false;
  } while (JoiningOf(label[behind]) == Joining::kTransparent);
  return JoiningOf(label[before]) == Joining::kDual && JoiningOf(label[behind]) != Joining::kNone;
}

bool AnyOf(std::u32string_view label, char32_t first, char32_t last) {
  return std::any_of(label.begin(), label.end(),
                     [=](char32_t c) { return c >= first && c <= last; });
}

// RFC 5892, appendix A.
bool FitsContext(std::u32string_view label, std::size_t at) {
  const char32_t before = at > 0 ? label[at - 1] : 0;
  const char32_t behind = at + 1 < label.size() ? label[at + 1] : 0;
  const char32_t c = label[at];
  switch (c) {
    case 0x200C:
      return IsVirama(before) || IsBetweenJoining(label, at);
    case 0x200D:
      return IsVirama(before);
    case 0xB7:
      return before == 'l' && behind == 'l';
    case 0x375:
      return Unicode().greek.Contains(behind);
    case 0x5F3:
    case 0x5F4:
      return Unicode().hebrew.Contains(before);
    case 0x30FB:
      return std::any_of(label.begin(), label.end(), [](char32_t l) {
        return Unicode().hiragana.Contains(l) || Unicode().katakana.Contains(l) ||
               Unicode().han.Contains(l);
      });
    default:
      break;
  }
  if (c >= 0x660 && c <= 0x669) return !AnyOf(label, 0x6F0, 0x6F9);
  if (c >= 0x6F0 && c <= 0x6F9) return !AnyOf(label, 0x660, 0x669);
  return true;
}

}  // namespace

bool IsIdnLabel(std::u32string_view label) {
  if (label.empty() || label.front() == '-' || label.back() == '-') return false;
  if (label.size() >= 4 && label[2] == '-' && label[3] == '-') return false;
  if (Unicode().mark.Contains(label.front())) return false;
  for (std::size_t at = 0; at < label.size(); ++at) {
    if (!IsAllowed(label[at]) || !FitsContext(label, at)) return false;
  }
  return true;
}

namespace {

enum class Bidi : std::uint8_t { kL, kR, kAN, kEN, kNSM, kNeutral, kOther };

Bidi BidiOf(char32_t c) {
  static const CodePointSet& kL = Pcre2Property("bidi_class:L");
  static const CodePointSet kR = UnionOf({"bidi_class:R", "bidi_class:AL"});
  static const CodePointSet& kAN = Pcre2Property("bidi_class:AN");
  static const CodePointSet& kEN = Pcre2Property("bidi_class:EN");
  static const CodePointSet& kNSM = Pcre2Property("bidi_class:NSM");
  static const CodePointSet kNeutral = UnionOf(
      {"bidi_class:ES", "bidi_class:CS", "bidi_class:ET", "bidi_class:ON", "bidi_class:BN"});
  if (kL.Contains(c)) return Bidi::kL;
  if (kR.Contains(c)) return Bidi::kR;
  if (kAN.Contains(c)) return Bidi::kAN;
  if (kEN.Contains(c)) return Bidi::kEN;
  if (kNSM.Contains(c)) return Bidi::kNSM;
  return kNeutral.Contains(c) ? Bidi::kNeutral : Bidi::kOther;
}

}  // namespace

void BidiRule::AddAscii(std::string_view label) {
  // Letters are left-to-right and digits European numbers; a label ends with one of them.
  if (!label.empty()) all_hold_ &= label.front() < '0' || label.front() > '9';
}

void BidiRule::Add(std::u32string_view label) {
  if (label.empty()) return;
  const Bidi first = BidiOf(label.front());
  Bidi last = first;  // but marks
  bool seen_an = false;
  bool seen_en = false;
  bool seen_l = false;
  bool seen_r = false;
  bool seen_other = false;
  for (const char32_t c : label) {
    const Bidi bidi = BidiOf(c);
    if (bidi != Bidi::kNSM) last = bidi;
    seen_an |= bidi == Bidi::kAN;
    seen_en |= bidi == Bidi::kEN;
    seen_l |= bidi == Bidi::kL;
    seen_r |= bidi == Bidi::kR;
    seen_other |= bidi == Bidi::kOther;
  }
  right_to_left_ |= seen_r || seen_an;
  if (first == Bidi::kR) {
    all_hold_ &= !seen_l && !seen_other && !(seen_an && seen_en) &&
                 (last == Bidi::kR || last == Bidi::kEN || last == Bidi::kAN);
  } else {
    all_hold_ &= first == Bidi::kL && !seen_r && !seen_an && !seen_other &&
                 (last == Bidi::kL || last == Bidi::kEN);
  }
}

}  // namespace sluice::validate
