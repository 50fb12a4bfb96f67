#include "stored.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "rows.hpp"

namespace rosenblatt {
namespace {

// Half precision by the bits: the exponent is moved by a product that is exact, for small numbers without one too.
struct Half {
  std::uint16_t bits;
  explicit operator float() const {
    const std::uint32_t size = (bits & 0x7fffu) << 13;
    const std::uint32_t moved = std::bit_cast<std::uint32_t>(std::bit_cast<float>(size) * 0x1p112f);
    const std::uint32_t special = size >= 0x0f800000u ? 0x7f800000u : 0u;  // infinity or NaN
    return std::bit_cast<float>(moved | special | (bits & 0x8000u) << 16);
  }
  explicit operator double() const { return static_cast<double>(static_cast<float>(*this)); }
};

// The upper half of a float32.
struct Brain {
  std::uint16_t bits;
  explicit operator float() const { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }
  explicit operator double() const { return static_cast<double>(static_cast<float>(*this)); }
};

// Calls f(pointer) with a pointer to the type of this kind.
template <class F>
auto as_kind(const std::byte* at, Kind kind, F&& f) {
  switch (kind) {
    case Kind::uint8:
      return f(reinterpret_cast<const std::uint8_t*>(at));
    case Kind::int8:
      return f(reinterpret_cast<const std::int8_t*>(at));
    case Kind::uint16:
      return f(reinterpret_cast<const std::uint16_t*>(at));
    case Kind::int16:
      return f(reinterpret_cast<const std::int16_t*>(at));
    case Kind::uint32:
      return f(reinterpret_cast<const std::uint32_t*>(at));
    case Kind::int32:
      return f(reinterpret_cast<const std::int32_t*>(at));
    case Kind::uint64:
      return f(reinterpret_cast<const std::uint64_t*>(at));
    case Kind::int64:
      return f(reinterpret_cast<const std::int64_t*>(at));
    case Kind::float16:
      return f(reinterpret_cast<const Half*>(at));
    case Kind::bfloat16:
      return f(reinterpret_cast<const Brain*>(at));
    case Kind::float32:
      return f(reinterpret_cast<const float*>(at));
    default:
      return f(reinterpret_cast<const double*>(at));
  }
}

template <class T>
void widen_row(const std::byte* at, Kind kind, std::int64_t n, T* __restrict to) {
  as_kind(at, kind, [&](const auto* __restrict x) {
    for (std::int64_t j = 0; j < n; ++j) to[j] = static_cast<T>(x[j]);
  });
}

}  // namespace

std::size_t size_of(Kind kind) {
  return as_kind(nullptr, kind, [](const auto* x) { return sizeof(*x); });
}

void Stored::widen(std::int64_t i, std::int64_t n, float* to) const { widen_row(first_ + i * stride_, kind_, n, to); }

void Stored::widen(std::int64_t i, std::int64_t n, double* to) const { widen_row(first_ + i * stride_, kind_, n, to); }

void Stored::prefetch(std::int64_t i) const {
  const std::byte* const row = first_ + i * stride_;
  for (std::size_t at = 0; at < std::min(bytes_, prefetch_bytes); at += 64) __builtin_prefetch(row + at);
}

}  // namespace rosenblatt
