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

// Values of one column into a column of rows that lie side by side; at(k): which row of the column is k-th.
template <class T, class At>
void fill(const Stored::Column& column, std::int64_t count, T* __restrict to, std::int64_t features, At&& at) {
  as_kind(column.first, column.kind, [&](const auto* __restrict x) {
    for (std::int64_t k = 0; k < count; ++k) to[k * features] = static_cast<T>(x[at(k) * column.stride]);
  });
}

}  // namespace

std::size_t size_of(Kind kind) {
  return as_kind(nullptr, kind, [](const auto* x) { return sizeof(*x); });
}

Stored::Stored(std::vector<std::int64_t> begins, std::vector<Column> columns)
    : features_(static_cast<std::int64_t>(columns.size() / (begins.size() - 1))), begins_(std::move(begins)),
      columns_(std::move(columns)) {
  kind_ = columns_[0].kind;
  alike_ = std::all_of(columns_.begin(), columns_.end(), [&](const Column& each) { return each.kind == kind_; });
}

std::size_t Stored::piece_of(std::int64_t i) const {
  if (begins_.size() == 2) return 0;
  return std::upper_bound(begins_.begin(), begins_.end() - 1, i) - begins_.begin() - 1;
}

template <class T>
void Stored::widen_row(std::int64_t i, T* __restrict to) const {
  if (!in_columns()) {
    as_kind(first_ + i * stride_, kind_, [&](const auto* __restrict x) {
      for (std::int64_t j = 0; j < features_; ++j) to[j] = static_cast<T>(x[j]);
    });
    return;
  }
  const std::size_t piece = piece_of(i);
  const std::int64_t k = i - begins_[piece];
  const Column* const columns = columns_.data() + piece * features_;
  if (!alike_) {
    for (std::int64_t j = 0; j < features_; ++j) fill(columns[j], 1, to + j, 1, [&](std::int64_t) { return k; });
    return;
  }
  as_kind(nullptr, kind_, [&](const auto* none) {
    for (std::int64_t j = 0; j < features_; ++j)
      to[j] = static_cast<T>(reinterpret_cast<decltype(none)>(columns[j].first)[k * columns[j].stride]);
  });
}

template <class T>
void Stored::gather_rows(const std::int64_t* rows, std::int64_t count, T* to) const {
  if (!in_columns()) {
    for (std::int64_t k = 0; k < count; ++k) widen_row(rows[k], to + k * features_);
    return;
  }
  for (std::int64_t done = 0; done < count;) {
    const std::size_t piece = piece_of(rows[done]);
    const std::int64_t begin = begins_[piece], end = begins_[piece + 1];
    std::int64_t next = done + 1;
    bool side_by_side = true;
    for (; next < count && rows[next] >= begin && rows[next] < end; ++next)
      side_by_side = side_by_side && rows[next] == rows[next - 1] + 1;
    const Column* const columns = columns_.data() + piece * features_;
    const std::int64_t first = rows[done] - begin;
    for (std::int64_t j = 0; j < features_; ++j) {
      T* const out = to + done * features_ + j;
      if (side_by_side)
        fill(columns[j], next - done, out, features_, [&](std::int64_t k) { return first + k; });
      else
        fill(columns[j], next - done, out, features_, [&](std::int64_t k) { return rows[done + k] - begin; });
    }
    done = next;
  }
}

void Stored::widen(std::int64_t i, float* to) const { widen_row(i, to); }
void Stored::widen(std::int64_t i, double* to) const { widen_row(i, to); }
void Stored::gather(const std::int64_t* rows, std::int64_t count, float* to) const { gather_rows(rows, count, to); }
void Stored::gather(const std::int64_t* rows, std::int64_t count, double* to) const { gather_rows(rows, count, to); }

void Stored::prefetch(std::int64_t i) const {
  if (in_columns()) return;
  const std::byte* const row = first_ + i * stride_;
  const std::size_t bytes = features_ * size_of(kind_);
  for (std::size_t at = 0; at < std::min(bytes, prefetch_bytes); at += 64) __builtin_prefetch(row + at);
}

void Stored::prefetch_columns(std::int64_t first, std::int64_t count) const {
  const std::size_t piece = piece_of(first);
  const Column* const columns = columns_.data() + piece * features_;
  for (std::int64_t j = 0; j < features_; ++j) {
    if (columns[j].stride != 1) continue;
    const std::int64_t size = static_cast<std::int64_t>(size_of(columns[j].kind));
    const std::byte* const at = columns[j].first + (first - begins_[piece]) * size;
    for (std::int64_t byte = 0; byte < count * size; byte += 64) __builtin_prefetch(at + byte);
  }
}

}  // namespace rosenblatt
