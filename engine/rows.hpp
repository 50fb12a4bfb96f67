// Rows of features as the user holds them: dense or CSR, never copied.
//
// Invariant: both kinds answer the same questions, so that one loop serves both:
//   dot(i, w, next)           w·x_i; row `next`, if it is not -1, is prefetched meanwhile
//   scores(i, W, K, out)      K of them
//   squared_norm(i)           ‖x_i‖²
//   add_to(i, step, W, k, K)  row k of W += step * x_i
//   prefetch(i, later)        ask for the row before it is needed, and for the bounds of a later one
//   for_each_weight(i, k, K, f)   f(place, value) for every value of the row and the place of its weight in row k
// The last argument of `dot` and `scores` says how weights are read (`Use`, in simd.hpp).
// K weight rows are stored class after class for dense rows, and feature after feature for sparse rows, where
// the weights of all classes for one feature then lie in one cache line.
#pragma once

#include <stdexcept>
#include <utility>
#include <variant>
#include <vector>

#include "simd.hpp"

namespace rosenblatt {

inline constexpr std::size_t prefetch_bytes = 1024;

ALWAYS_INLINE void prefetch_span(const void* first, std::size_t bytes) {
  const char* const at = static_cast<const char*>(first);
  for (std::size_t offset = 0; offset < bytes; offset += 64) __builtin_prefetch(at + offset);
  if (bytes % 64) __builtin_prefetch(at + bytes - 1);
}

template <class T>
struct DenseRows {
  using Value = T;
  static constexpr bool sparse = false;

  const T* values;
  std::int64_t count;
  std::int64_t features;
  std::int64_t stride;  // from one row to the next, in values

  const T* row(std::int64_t i) const { return values + i * stride; }
  template <class Use = Identity<T>>
  ALWAYS_INLINE T dot(std::int64_t i, const T* w, std::int64_t next = -1, const Use& use = {}) const {
    return next >= 0 && is_long() ? rosenblatt::dot<true>(row(i), w, features, row(next), use)
                                  : rosenblatt::dot<false>(row(i), w, features, row(i), use);
  }
  T squared_norm(std::int64_t i) const { return rosenblatt::dot(row(i), row(i), features); }

  // Two of the K products at a time.
  template <class Use = Identity<T>>
  void scores(std::int64_t i, const T* W, std::int64_t K, T* out, const Use& use = {}) const {
    std::int64_t k = 0;
    for (; k + 2 <= K; k += 2) {
      const T* const two[] = {W + k * features, W + (k + 1) * features};
      many_dots<2>(row(i), two, features, out + k, 1, use);
    }
    if (k < K) out[k] = dot(i, W + k * features, -1, use);
  }

  template <class W>
  void add_to(std::int64_t i, W step, W* weights, std::int64_t k, std::int64_t) const {
    add(weights + k * features, step, row(i), features);
  }
  template <class Visit>
  ALWAYS_INLINE void for_each_weight(std::int64_t i, std::int64_t k, std::int64_t, Visit&& visit) const {
    const T* const x = row(i);
    const std::int64_t begin = k * features;
    for (std::int64_t j = 0; j < features; ++j) visit(begin + j, x[j]);
  }

  bool is_zero(std::int64_t i) const {
    return std::all_of(row(i), row(i) + features, [](T value) { return value == 0; });
  }

  // A long row is prefetched in chunks while the previous row is processed, a short one as a whole beforehand.
  bool is_long() const { return features * sizeof(T) > prefetch_bytes; }

  ALWAYS_INLINE void prefetch(std::int64_t i, std::int64_t) const {
    if (!is_long()) prefetch_span(row(i), features * sizeof(T));
  }

  std::int64_t values_per_row() const { return features; }
  std::int64_t bytes_per_row() const { return features * static_cast<std::int64_t>(sizeof(T)); }
};

template <class T>
struct SparseRows {
  using Value = T;
  static constexpr bool sparse = true;

  const T* values;
  const std::int32_t* columns;
  const std::int64_t* starts;  // count + 1 of them
  std::int64_t count;
  std::int64_t features;
  bool all_ones = false;  // is every value 1, so that it need not be read? Products with 1 are exact: the same bits

  // Four running sums, then a fixed tree: the order of a sparse dot product.
  template <class Use = Identity<T>>
  ALWAYS_INLINE T dot(std::int64_t i, const T* w, std::int64_t = -1, const Use& use = {}) const {
    return all_ones ? sum<true>(i, w, use) : sum<false>(i, w, use);
  }

  std::int64_t length(std::int64_t i) const { return starts[i + 1] - starts[i]; }

  T squared_norm(std::int64_t i) const {
    if (all_ones && length(i) < (1 << 24)) return static_cast<T>(length(i));
    return rosenblatt::dot(values + starts[i], values + starts[i], length(i));
  }

  // Never inlined: beside so many sums the loop of two classes would lack registers.
  template <class Use = Identity<T>>
  [[gnu::noinline]] void scores(std::int64_t i, const T* W, std::int64_t K, T* out, const Use& use = {}) const {
    constexpr std::int64_t wide = Lanes<T>::count;
    if (K >= wide) return in_vectors<typename Lanes<T>::Full>(i, W, K, out, use);
    if (K >= wide / 2) return in_vectors<typename Lanes<T>::Half>(i, W, K, out, use);
    if (K >= 2) return in_vectors<Pack<T, 2 * sizeof(T)>>(i, W, K, out, use);
    some_products<Pack<T, sizeof(T)>, 1>(i, W, K, 0, out, use);
  }

  template <class W>
  void add_to(std::int64_t i, W step, W* weights, std::int64_t k, std::int64_t K) const {
    if (all_ones) {
      for (std::int64_t p = starts[i]; p < starts[i + 1]; ++p) weights[columns[p] * K + k] += step;
      return;
    }
    for (std::int64_t p = starts[i]; p < starts[i + 1]; ++p)
      weights[columns[p] * K + k] += step * static_cast<W>(values[p]);
  }
  template <class Visit>
  ALWAYS_INLINE void for_each_weight(std::int64_t i, std::int64_t k, std::int64_t K, Visit&& visit) const {
    for (std::int64_t p = starts[i]; p < starts[i + 1]; ++p) visit(columns[p] * K + k, values[p]);
  }

  bool is_zero(std::int64_t i) const {
    return std::all_of(values + starts[i], values + starts[i + 1], [](T value) { return value == 0; });
  }

  ALWAYS_INLINE void prefetch(std::int64_t i, std::int64_t later) const {
    __builtin_prefetch(starts + later);
    const std::size_t size = length(i);
    if (!all_ones) prefetch_span(values + starts[i], std::min(size * sizeof(T), prefetch_bytes));
    prefetch_span(columns + starts[i], std::min(size * sizeof(std::int32_t), prefetch_bytes));
  }

  std::int64_t values_per_row() const { return count ? (starts[count] - starts[0]) / count + 1 : 1; }
  std::int64_t bytes_per_row() const { return values_per_row() * (sizeof(std::int32_t) + (all_ones ? 0 : sizeof(T))); }

 private:
  template <bool of_ones, class Use>
  ALWAYS_INLINE T sum(std::int64_t i, const T* w, const Use& use) const {
    using Half = typename Lanes<T>::Half;
    using H = typename Lanes<T>::half;
    const auto times = [&](const T* x, H weights) INLINE_LAMBDA {
      if constexpr (of_ones)
        return use.template lanes<Half>(weights);
      else
        return Half::load(x) * use.template lanes<Half>(weights);
    };
    const T* const x = values + starts[i];
    const std::int32_t* const at = columns + starts[i];
    const std::int64_t size = length(i), fours = size & ~std::int64_t{3};
    T total;
    if constexpr (sizeof(T) == 4) {
      H s{};
      for (std::int64_t p = 0; p < fours; p += 4)
        s += times(x + p, H{w[at[p]], w[at[p + 1]], w[at[p + 2]], w[at[p + 3]]});
      total = (s[0] + s[1]) + (s[2] + s[3]);
    } else {
      H s{}, t{};
      for (std::int64_t p = 0; p < fours; p += 4) {
        s += times(x + p, H{w[at[p]], w[at[p + 1]]});
        t += times(x + p + 2, H{w[at[p + 2]], w[at[p + 3]]});
      }
      total = (s[0] + s[1]) + (t[0] + t[1]);
    }
    T rest = 0;
    for (std::int64_t p = fours; p < size; ++p) {
      if constexpr (of_ones)
        rest += use(w[at[p]]);
      else
        rest += x[p] * use(w[at[p]]);
    }
    return total + rest;
  }

  static constexpr int most_vectors = 8;  // of sums at a time, in registers

  // The products of all classes, which are at least as many as a vector holds. The last vector may take some classes a
  // second time: their sums are the same.
  template <class Few, class Use>
  ALWAYS_INLINE void in_vectors(std::int64_t i, const T* W, std::int64_t K, T* out, const Use& use) const {
    constexpr std::int64_t wide = sizeof(typename Few::type) / sizeof(T);
    std::int64_t k = 0;
    for (; k + most_vectors * wide < K; k += most_vectors * wide)
      some_products<Few, most_vectors>(i, W + k, K, (most_vectors - 1) * wide, out + k, use);
    the_rest<Few, most_vectors>((K - k + wide - 1) / wide, i, W + k, K, K - k - wide, out + k, use);
  }

  template <class Few, int most, class Use>
  ALWAYS_INLINE void the_rest(std::int64_t vectors, std::int64_t i, const T* W, std::int64_t K, std::int64_t last,
                              T* out, const Use& use) const {
    if constexpr (most > 1)
      if (vectors < most) return the_rest<Few, most - 1>(vectors, i, W, K, last, out, use);
    some_products<Few, most>(i, W, K, last, out, use);
  }

  // The products of a few classes side by side, in so many vectors: each is one sum over the values from left to right.
  // Vectors follow one another, but for the last, whose place is given.
  template <class Few, int vectors, class Use>
  ALWAYS_INLINE void some_products(std::int64_t i, const T* W, std::int64_t K, std::int64_t last, T* out,
                                   const Use& use) const {
    constexpr std::int64_t wide = sizeof(typename Few::type) / sizeof(T);
    typename Few::type sums[vectors]{};
    for (std::int64_t p = starts[i]; p < starts[i + 1]; ++p) {
      const T* const w = W + columns[p] * K;
      const T x = values[p];
      for (int v = 0; v < vectors; ++v)
        sums[v] += use.template lanes<Few>(Few::load(w + (v + 1 < vectors ? v * wide : last))) * x;
    }
    for (int v = 0; v < vectors; ++v) Few::store(out + (v + 1 < vectors ? v * wide : last), sums[v]);
  }
};

using AnyRows = std::variant<DenseRows<float>, DenseRows<double>, SparseRows<float>, SparseRows<double>>;

inline std::int64_t count_of(const AnyRows& rows) {
  return std::visit([](const auto& r) { return r.count; }, rows);
}
inline std::int64_t features_of(const AnyRows& rows) {
  return std::visit([](const auto& r) { return r.features; }, rows);
}

// The largest size of a value, NaN or infinite if one is.
template <class T>
double largest_size(const DenseRows<T>& rows) {
  if (rows.stride == rows.features) return largest_size(rows.values, rows.count * rows.features);
  T most = 0;
  for (std::int64_t i = 0; i < rows.count && most <= largest_value<T>; ++i) {
    const T found = largest_size(rows.row(i), rows.features);
    if (!(found <= most)) most = found;
  }
  return most;
}

template <class T>
double largest_size(const SparseRows<T>& rows) {
  if (rows.all_ones) return 1.0;
  return largest_size(rows.values + rows.starts[0], rows.starts[rows.count] - rows.starts[0]);
}

// CSR arrays come from outside. Raises if starts fall or point outside of the values, or a column does not exist. Do
// the columns of every row rise strictly? Else some may occur twice, and ‖x‖² would be wrong.
template <class T>
bool check_structure(const SparseRows<T>& rows, std::int64_t stored) {
  const std::int64_t begin = rows.starts[0], end = rows.starts[rows.count];
  bool is_broken = begin < 0 || end > stored;
  for (std::int64_t i = 0; i < rows.count; ++i) is_broken |= rows.starts[i + 1] < rows.starts[i];
  // Over all values at once, then without the steps from row to row: short rows have no loop of their own.
  std::uint32_t largest = 0;  // a column below 0 is a very large one
  std::int64_t falls = 0;
  if (!is_broken) {
    for (std::int64_t p = begin; p < end; ++p) largest = std::max(largest, static_cast<std::uint32_t>(rows.columns[p]));
    for (std::int64_t p = begin + 1; p < end; ++p) falls += rows.columns[p - 1] >= rows.columns[p];
    for (std::int64_t i = 1; i < rows.count; ++i) {
      const std::int64_t first = rows.starts[i];
      if (begin < first && first < rows.starts[i + 1]) falls -= rows.columns[first - 1] >= rows.columns[first];
    }
  }
  if (is_broken || (begin < end && largest >= static_cast<std::uint64_t>(rows.features)))
    throw std::invalid_argument("rows: their starts or columns point outside of the arrays");
  return falls == 0;
}

}  // namespace rosenblatt
