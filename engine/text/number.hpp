// Decimal numbers from text, each the double that Python's float() gives.
//
// Invariant: the fast path runs only if it is exact: at most 14 digits, divided by a power of ten that a double holds
// exactly (Clinger 1990). Everything else goes to std::from_chars. On entry *end is not part of a number and 8 bytes
// behind it can be read, so that digits are read eight at a time, without a branch on how many there are: that is where
// a reader's time goes.
#pragma once

#include <charconv>
#include <locale>
#include <sstream>
#include <string>

#include "simd.hpp"

namespace rosenblatt {

inline constexpr double powers_of_ten[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7};

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

// Reads the number at `at`, at most to `end`; returns where it stops, or null if there is none.
inline const char* parse_slowly(const char* at, const char* end, bool negative, double& value) {
  if (at < end && *at == '-') return nullptr;  // from_chars would take a second sign
  const auto [stop, error] = std::from_chars(at, end, value);
  if (error == std::errc::invalid_argument) return nullptr;
  if (error == std::errc::result_out_of_range) {  // too large, or next to 0?
    std::istringstream text(std::string(at, stop));
    text.imbue(std::locale::classic());
    text >> value;
    if (value > 1) value = std::numeric_limits<double>::infinity();
  }
  if (negative) value = -value;
  return stop;
}

// Without a branch: signs are as good as random.
inline double with_sign(double size, bool negative) {
  return std::bit_cast<double>(std::bit_cast<std::uint64_t>(size) | static_cast<std::uint64_t>(negative) << 63);
}

// Eight bytes of text, each less '0': digits become 0 to 9, and the first is the lowest byte.
inline std::uint64_t load_digits(const char* at) { return load_word<std::uint64_t>(at) ^ 0x3030303030303030; }

// The high bit of the first byte that is not a digit, and perhaps of later ones; 0 if all are digits.
inline std::uint64_t not_digits(std::uint64_t x) { return ((x + 0x7676767676767676) | x) & 0x8080808080808080; }

// The number that eight digits make: pairs, then both halves of four at once (Lemire, "Quickly parsing eight digits",
// 2018).
inline std::uint64_t join_digits(std::uint64_t x) {
  constexpr std::uint64_t pair = 0x000000ff000000ff;
  constexpr std::uint64_t outer = 100 + (std::uint64_t{1'000'000} << 32), inner = 1 + (std::uint64_t{10'000} << 32);
  x = x * 10 + (x >> 8);
  return ((x & pair) * outer + ((x >> 16) & pair) * inner) >> 32;
}

// Reads up to 8 digits; returns how many there are.
inline int parse_digits(const char* at, std::uint64_t& value) {
  const std::uint64_t x = load_digits(at);
  const int count = std::countr_zero(not_digits(x)) >> 3;
  value = join_digits(count ? x << (64 - 8 * count) : 0);  // the missing ones become zeros in front
  return count;
}

// A decimal of at most 8 characters, all that lies from `at` to `stop`: digits, perhaps a point among them. False if it
// is not.
inline bool parse_short(const char* at, const char* stop, double& value) {
  const std::ptrdiff_t length = stop - at;
  if (length < 1 || length > 8) return false;
  std::uint64_t x = load_digits(at);
  const std::ptrdiff_t point = std::countr_zero(not_digits(x)) >> 3;
  std::ptrdiff_t digits = length, places = 0;
  if (point < length) {
    if (at[point] != '.' || --digits == 0) return false;
    places = digits - point;
    const std::uint64_t before = (std::uint64_t{1} << (8 * point)) - 1;
    x = (x & before) | ((x >> 8) & ~before);  // remove the point
  }
  x <<= 64 - 8 * digits;
  if (not_digits(x)) return false;
  value = static_cast<double>(static_cast<std::int64_t>(join_digits(x))) / powers_of_ten[places];
  return true;
}

// How many of the next 24 bytes come before the first blank or control character; 24 if there is none.
inline int word_length(const char* at) {
  const auto blanks = [at](int from) {  // the high bit of the first byte below 0x21, and perhaps of later ones
    const auto x = load_word<std::uint64_t>(at + from);
    return (x - 0x2121212121212121) & ~x & 0x8080808080808080;
  };
  const std::uint64_t first = blanks(0), second = blanks(8), third = blanks(16);
  const int later = second ? 8 + (std::countr_zero(second) >> 3) : 16 + (std::countr_zero(third) >> 3);
  return first ? std::countr_zero(first) >> 3 : later;
}

inline const char* parse_number(const char* at, const char* end, double& value) {
  static constexpr std::uint64_t whole_powers[] = {1, 10, 100, 1000, 10'000, 100'000, 1'000'000, 10'000'000};
  const bool negative = *at == '-';
  at += negative || *at == '+';
  std::uint64_t whole, fraction = 0;
  const int digits = parse_digits(at, whole);
  const char* stop = at + digits;
  int places = 0;
  if (*stop == '.') {
    places = parse_digits(stop + 1, fraction);
    stop += 1 + places;
  }
  if (digits == 8 || places == 8 || digits + places == 0 || (*stop | 0x20) == 'e' || stop > end)
    return parse_slowly(at, end, negative, value);
  const double size =
      static_cast<double>(static_cast<std::int64_t>(whole * whole_powers[places] + fraction)) / powers_of_ten[places];
  value = with_sign(size, negative);
  return stop;
}

}  // namespace rosenblatt
