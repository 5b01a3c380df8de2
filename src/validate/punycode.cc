#include <limits>

#include "validate/idn.h"
#include "validate/wtf8.h"

// RFC 3492.
namespace sluice::validate {
namespace {

constexpr std::uint32_t kBase = 36;
constexpr std::uint32_t kThresholdMin = 1;
constexpr std::uint32_t kThresholdMax = 26;
constexpr std::uint32_t kSkew = 38;
constexpr std::uint32_t kDamp = 700;
constexpr std::uint32_t kInitialBias = 72;
constexpr std::uint32_t kInitialCodePoint = 0x80;
constexpr std::size_t kMaxLabelBytes =
    63;  // longer ones are no labels; bounds the quadratic insertion

std::uint32_t Adapt(std::uint32_t delta, std::uint32_t count, bool first) {
  delta = first ? delta / kDamp : delta / 2;
  delta += delta / count;
  std::uint32_t k = 0;
  for (; delta > (kBase - kThresholdMin) * kThresholdMax / 2; k += kBase) {
    delta /= kBase - kThresholdMin;
  }
  return k + (kBase - kThresholdMin + 1) * delta / (delta + kSkew);
}

std::uint32_t Threshold(std::uint32_t k, std::uint32_t bias) {
  if (k <= bias) return kThresholdMin;
  return k - bias >= kThresholdMax ? kThresholdMax : k - bias;
}

std::uint32_t DigitOf(char c) {
  if (c >= '0' && c <= '9') return static_cast<std::uint32_t>(c - '0' + 26);
  if (c >= 'a' && c <= 'z') return static_cast<std::uint32_t>(c - 'a');
  if (c >= 'A' && c <= 'Z') return static_cast<std::uint32_t>(c - 'A');
  return kBase;
}

char CharOf(std::uint32_t digit) {
  return static_cast<char>(digit < 26 ? 'a' + digit : '0' + (digit - 26));
}

}  // namespace

std::u32string DecodePunycode(std::string_view ascii) {
  constexpr std::uint32_t kMax = std::numeric_limits<std::uint32_t>::max();
  std::u32string label;
  if (ascii.size() > kMaxLabelBytes) return {};
  std::size_t at = 0;
  if (const std::size_t hyphen = ascii.rfind('-'); hyphen != std::string_view::npos) {
    for (const char c : ascii.substr(0, hyphen)) label.push_back(static_cast<unsigned char>(c));
    at = hyphen + 1;
  }
  std::uint32_t n = kInitialCodePoint;
  std::uint32_t bias = kInitialBias;
  std::uint32_t i = 0;
  while (at < ascii.size()) {
    const std::uint32_t old = i;
    std::uint32_t weight = 1;
    for (std::uint32_t k = kBase;; k += kBase) {
      if (at == ascii.size()) return {};
      const std::uint32_t digit = DigitOf(ascii[at++]);
      if (digit >= kBase || digit > (kMax - i) / weight) return {};
      i += digit * weight;
      const std::uint32_t t = Threshold(k, bias);
      if (digit < t) break;
      if (weight > kMax / (kBase - t)) return {};
      weight *= kBase - t;
    }
    const auto count = static_cast<std::uint32_t>(label.size() + 1);
    bias = Adapt(i - old, count, old == 0);
    n += i / count;
    i %= count;
    if (n > kMaxCodePoint || (n >= 0xD800 && n <= 0xDFFF)) return {};
    label.insert(label.begin() + i, n);
    ++i;
  }
  return label;
}

std::string EncodePunycode(std::u32string_view label) {
  std::string out;
  for (const char32_t c : label) {
    if (c < 0x80) out.push_back(static_cast<char>(c));
  }
  const auto basic = static_cast<std::uint32_t>(out.size());
  if (basic > 0) out.push_back('-');
  std::uint32_t n = kInitialCodePoint;
  std::uint32_t delta = 0;
  std::uint32_t bias = kInitialBias;
  for (std::uint32_t done = basic; done < label.size();) {
    char32_t next = kMaxCodePoint;
    for (const char32_t c : label) {
      if (c >= n && c < next) next = c;
    }
    delta += (next - n) * (done + 1);
    n = next;
    for (const char32_t c : label) {
      if (c < n) ++delta;
      if (c != n) continue;
      std::uint32_t q = delta;
      for (std::uint32_t k = kBase;; k += kBase) {
        const std::uint32_t t = Threshold(k, bias);
        if (q < t) break;
        out.push_back(CharOf(t + (q - t) % (kBase - t)));
        q = (q - t) / (kBase - t);
      }
      out.push_back(CharOf(q));
      bias = Adapt(delta, done + 1, done == basic);
      delta = 0;
      ++done;
    }
    ++delta;
    ++n;
  }
  return out;
}

}  // namespace sluice::validate
