#define PCRE2_CODE_UNIT_WIDTH 8
#include "validate/unicode_property.h"

#include <pcre2.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>

#include "validate/wtf8.h"

namespace sluice::validate {
namespace {

struct Name {
  std::string_view ecmascript;
  std::string_view pcre2;
};

// ECMA-262, table of General_Category values: every spelling, and PCRE2's.
constexpr Name kCategories[] = {
    {"C", "C"},
    {"Other", "C"},
    {"Cc", "Cc"},
    {"Control", "Cc"},
    {"cntrl", "Cc"},
    {"Cf", "Cf"},
    {"Format", "Cf"},
    {"Cn", "Cn"},
    {"Unassigned", "Cn"},
    {"Co", "Co"},
    {"Private_Use", "Co"},
    {"Cs", "Cs"},
    {"Surrogate", "Cs"},
    {"L", "L"},
    {"Letter", "L"},
    {"LC", "L&"},
    {"Cased_Letter", "L&"},
    {"Ll", "Ll"},
    {"Lowercase_Letter", "Ll"},
    {"Lm", "Lm"},
    {"Modifier_Letter", "Lm"},
    {"Lo", "Lo"},
    {"Other_Letter", "Lo"},
    {"Lt", "Lt"},
    {"Titlecase_Letter", "Lt"},
    {"Lu", "Lu"},
    {"Uppercase_Letter", "Lu"},
    {"M", "M"},
    {"Mark", "M"},
    {"Combining_Mark", "M"},
    {"Mc", "Mc"},
    {"Spacing_Mark", "Mc"},
    {"Me", "Me"},
    {"Enclosing_Mark", "Me"},
    {"Mn", "Mn"},
    {"Nonspacing_Mark", "Mn"},
    {"N", "N"},
    {"Number", "N"},
    {"Nd", "Nd"},
    {"Decimal_Number", "Nd"},
    {"digit", "Nd"},
    {"Nl", "Nl"},
    {"Letter_Number", "Nl"},
    {"No", "No"},
    {"Other_Number", "No"},
    {"P", "P"},
    {"Punctuation", "P"},
    {"punct", "P"},
    {"Pc", "Pc"},
    {"Connector_Punctuation", "Pc"},
    {"Pd", "Pd"},
    {"Dash_Punctuation", "Pd"},
    {"Pe", "Pe"},
    {"Close_Punctuation", "Pe"},
    {"Pf", "Pf"},
    {"Final_Punctuation", "Pf"},
    {"Pi", "Pi"},
    {"Initial_Punctuation", "Pi"},
    {"Po", "Po"},
    {"Other_Punctuation", "Po"},
    {"Ps", "Ps"},
    {"Open_Punctuation", "Ps"},
    {"S", "S"},
    {"Symbol", "S"},
    {"Sc", "Sc"},
    {"Currency_Symbol", "Sc"},
    {"Sk", "Sk"},
    {"Modifier_Symbol", "Sk"},
    {"Sm", "Sm"},
    {"Math_Symbol", "Sm"},
    {"So", "So"},
    {"Other_Symbol", "So"},
    {"Z", "Z"},
    {"Separator", "Z"},
    {"Zl", "Zl"},
    {"Line_Separator", "Zl"},
    {"Zp", "Zp"},
    {"Paragraph_Separator", "Zp"},
    {"Zs", "Zs"},
    {"Space_Separator", "Zs"},
};

// ECMA-262, table of binary properties, without Any, Assigned, which are built, and
// Changes_When_NFKC_Casefolded, which PCRE2 has no table of. PCRE2 knows both spellings.
constexpr std::string_view kBinaryProperties[] = {
    "ASCII",
    "ASCII_Hex_Digit",
    "AHex",
    "Alphabetic",
    "Alpha",
    "Bidi_Control",
    "Bidi_C",
    "Bidi_Mirrored",
    "Bidi_M",
    "Case_Ignorable",
    "CI",
    "Cased",
    "Changes_When_Casefolded",
    "CWCF",
    "Changes_When_Casemapped",
    "CWCM",
    "Changes_When_Lowercased",
    "CWL",
    "Changes_When_Titlecased",
    "CWT",
    "Changes_When_Uppercased",
    "CWU",
    "Dash",
    "Default_Ignorable_Code_Point",
    "DI",
    "Deprecated",
    "Dep",
    "Diacritic",
    "Dia",
    "Emoji",
    "Emoji_Component",
    "EComp",
    "Emoji_Modifier",
    "EMod",
    "Emoji_Modifier_Base",
    "EBase",
    "Emoji_Presentation",
    "EPres",
    "Extended_Pictographic",
    "ExtPict",
    "Extender",
    "Ext",
    "Grapheme_Base",
    "Gr_Base",
    "Grapheme_Extend",
    "Gr_Ext",
    "Hex_Digit",
    "Hex",
    "IDS_Binary_Operator",
    "IDSB",
    "IDS_Trinary_Operator",
    "IDST",
    "ID_Continue",
    "IDC",
    "ID_Start",
    "IDS",
    "Ideographic",
    "Ideo",
    "Join_Control",
    "Join_C",
    "Logical_Order_Exception",
    "LOE",
    "Lowercase",
    "Lower",
    "Math",
    "Noncharacter_Code_Point",
    "NChar",
    "Pattern_Syntax",
    "Pat_Syn",
    "Pattern_White_Space",
    "Pat_WS",
    "Quotation_Mark",
    "QMark",
    "Radical",
    "Regional_Indicator",
    "RI",
    "Sentence_Terminal",
    "STerm",
    "Soft_Dotted",
    "SD",
    "Terminal_Punctuation",
    "Term",
    "Unified_Ideograph",
    "UIdeo",
    "Uppercase",
    "Upper",
    "Variation_Selector",
    "VS",
    "White_Space",
    "space",
    "XID_Continue",
    "XIDC",
    "XID_Start",
    "XIDS",
};

// Planes 4 to 13 are unassigned and 15 and 16 for private use: what holds of the first code point
// of such a plane holds of all of it, but for the two noncharacters at its end.
bool IsUniformPlane(char32_t plane) { return plane >= 4 && plane != 14; }

// All code points but surrogates, which PCRE2 does not take, in order; of a uniform plane the first
// and the last two.
std::string AllCharacters() {
  std::string all;
  all.reserve(4 * 5 * 0x10000);
  for (char32_t c = 0; c <= kMaxCodePoint; ++c) {
    if (c == 0xD800) c = 0xE000;
    AppendCodePoint(all, c);
    if (IsUniformPlane(c >> 16) && (c & 0xFFFF) == 0) c += 0xFFFD;
  }
  return all;
}

// Adds a run of AllCharacters.
void AddRun(char32_t first, char32_t last, CodePointSet& set) {
  if (IsUniformPlane(last >> 16) && (last & 0xFFFF) == 0) last += 0xFFFD;
  if (first < 0xD800 && last > 0xDFFF) {
    set.Add(first, 0xD7FF);
    set.Add(0xE000, last);
  } else {
    set.Add(first, last);
  }
}

// The members of PCRE2's property: one match is one run of them. Null when PCRE2 does not know it.
std::shared_ptr<const CodePointSet> Enumerate(std::string_view name) {
  const std::string pattern = "\\p{" + std::string(name) + "}+";
  int error = 0;
  std::size_t error_at = 0;
  const std::unique_ptr<pcre2_code, void (*)(pcre2_code*)> code(
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(), PCRE2_UTF, &error,
                    &error_at, nullptr),
      pcre2_code_free);
  if (!code) return nullptr;
  const std::unique_ptr<pcre2_match_data, void (*)(pcre2_match_data*)> match(
      pcre2_match_data_create(1, nullptr), pcre2_match_data_free);
  pcre2_jit_compile(code.get(), PCRE2_JIT_COMPLETE);  // if it cannot, matching is slower
  const std::string all = AllCharacters();
  auto set = std::make_shared<CodePointSet>();
  std::size_t at = 0;
  while (match && at < all.size() &&
         pcre2_match(code.get(), reinterpret_cast<PCRE2_SPTR>(all.data()), all.size(), at,
                     PCRE2_NO_UTF_CHECK, match.get(), nullptr) > 0) {
    const PCRE2_SIZE* bounds = pcre2_get_ovector_pointer(match.get());
    std::size_t begin = bounds[0];
    std::size_t end = bounds[1];
    at = end;
    AddRun(NextCodePoint(all, begin), PreviousCodePoint(all, end), *set);
  }
  if (name == "C" || name == "Cs") set->Add(0xD800, 0xDFFF);
  return set;
}

std::shared_ptr<const CodePointSet> Cached(std::string_view name) {
  static std::mutex mutex;
  static std::map<std::string, std::shared_ptr<const CodePointSet>, std::less<>> cache;
  const std::lock_guard lock(mutex);
  const auto found = cache.find(name);
  if (found != cache.end()) return found->second;
  auto set = Enumerate(name);
  // Names that are none come from schemas: they are not kept, so that the cache stays as small as
  // Unicode.
  if (set) cache.emplace(name, set);
  return set;
}

std::shared_ptr<const CodePointSet> Category(std::string_view name) {
  for (const Name& n : kCategories) {
    if (n.ecmascript == name) return Cached(n.pcre2);
  }
  return nullptr;
}

std::shared_ptr<const CodePointSet> Script(std::string_view prefix, std::string_view name) {
  // PCRE2 takes names in any case and with spaces; ECMAScript only as Unicode spells them.
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  if (name.empty() || name.size() > 40 || name[0] < 'A' || name[0] > 'Z' ||
      !std::all_of(name.begin(), name.end(), [&](char c) { return is_letter(c) || c == '_'; })) {
    return nullptr;
  }
  return Cached(std::string(prefix).append(name));
}

}  // namespace

std::shared_ptr<const CodePointSet> EcmaScriptProperty(std::string_view name) {
  if (const std::size_t equals = name.find('='); equals != std::string_view::npos) {
    const std::string_view property = name.substr(0, equals);
    const std::string_view value = name.substr(equals + 1);
    if (property == "General_Category" || property == "gc") return Category(value);
    if (property == "Script" || property == "sc") return Script("sc:", value);
    if (property == "Script_Extensions" || property == "scx") return Script("scx:", value);
    return nullptr;
  }
  if (name == "Any") return std::make_shared<CodePointSet>(CodePointSet{{0, kMaxCodePoint}});
  if (name == "Assigned") return std::make_shared<CodePointSet>(Cached("Cn")->Complement());
  if (auto category = Category(name)) return category;
  const auto* const end = std::end(kBinaryProperties);
  return std::find(std::begin(kBinaryProperties), end, name) == end ? nullptr : Cached(name);
}

const CodePointSet& Pcre2Property(std::string_view name) {
  static const CodePointSet kNone;
  const auto set = Cached(name);  // the cache keeps it alive
  return set ? *set : kNone;
}

}  // namespace sluice::validate
