// Fuzzes the reader of numbers.
//
// Held, for any bytes: nothing is read outside of them and the bytes behind that are promised, and what is taken for a
// number is, bit for bit, the one that the C library reads there.
#include "text/number.hpp"

#include <cmath>

#include "guarded.hpp"

using namespace rosenblatt;

// The longest prefix of the form that both know: digits, a point among them, an exponent. Null if there is none.
const char* decimal_end(const char* at, const char* end) {
  at += at < end && (*at == '-' || *at == '+');
  const char* const begin = at;
  while (at < end && is_digit(*at)) ++at;
  long digits = at - begin;
  if (at < end && *at == '.') {
    const char* const point = ++at;
    while (at < end && is_digit(*at)) ++at;
    digits += at - point;
  }
  if (digits == 0) return nullptr;
  if (at < end && (*at | 0x20) == 'e') {
    const char* mark = at + 1;
    mark += mark < end && (*mark == '-' || *mark == '+');
    if (mark < end && is_digit(*mark)) {
      while (mark < end && is_digit(*mark)) ++mark;
      at = mark;
    }
  }
  return at;
}

void try_text(std::string_view text) {
  static Guarded guarded;
  static std::string held;
  held.assign(text).append(24, '\n');  // as the last line of a chunk is read
  const char *const at = guarded.hold(held), *const end = at + text.size();
  double value = 0;
  const char* const stop = parse_number(at, end, value);
  const char* const decimal = decimal_end(at, end);
  require(!stop || (stop > at && stop <= end), "it stops within the text");
  require(!decimal || stop == decimal, "it takes the whole number");
  if (!decimal) return;
  const double expected =
      std::strtod(held.assign(at, decimal).c_str(), nullptr);  // no more: the C library knows hexadecimals too
  require(std::memcmp(&value, &expected, sizeof value) == 0, "the same bits");
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try_text({reinterpret_cast<const char*>(data), size});
  return 0;
}
