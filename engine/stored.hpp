// Dense rows that lie in memory as another type than they are learned in: small integers, half precision. A row is
// widened when it is looked at, and so the memory is read in the few bytes that it has, and never copied.
//
// Invariant: widening is exact or is what NumPy's `astype` does, so the bits are those of rows that were converted
// first.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rosenblatt {

enum class Kind : std::uint8_t {
  uint8,
  int8,
  uint16,
  int16,
  uint32,
  int32,
  uint64,
  int64,
  float16,
  bfloat16,
  float32,
  float64
};

std::size_t size_of(Kind kind);

// Where the values of rows lie.
class Stored {
 public:
  Stored(const std::byte* first, std::int64_t stride, Kind kind, std::int64_t features)
      : first_(first), stride_(stride), bytes_(features * size_of(kind)), kind_(kind) {}

  // The first n values of row i.
  void widen(std::int64_t i, std::int64_t n, float* to) const;
  void widen(std::int64_t i, std::int64_t n, double* to) const;

  void prefetch(std::int64_t i) const;

 private:
  const std::byte* first_;
  std::int64_t stride_;  // from one row to the next, in bytes
  std::size_t bytes_;    // of a row
  Kind kind_;
};

}  // namespace rosenblatt
