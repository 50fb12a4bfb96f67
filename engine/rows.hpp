// Rows of features as the user holds them: dense or CSR, never copied.
//
// Invariant: both kinds answer the same questions, so that one loop serves both:
//   dot(i, w)                 w·x_i
//   scores(i, W, K, out)      K of them
//   squared_norm(i)           ‖x_i‖²
//   add_to(i, step, W, k, K)  row k of W += step * x_i; with a visitor, visit(place, change) for each change
//   prefetch(i)               ask for the row before it is needed
//   dot(i, w, next)           the same dot product; row `next`, if it is not -1, is prefetched meanwhile
//   for_each_weight(i, W, k, K, f)   f(weight, value) for every value of the row and its weight in row k of W
// The last argument of `product` says how weights are read (`Use`, in simd.hpp).
// K weight rows are stored class after class for dense rows, and feature after feature for sparse rows, where
// the weights of all classes for one feature then lie in one cache line.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
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
  std::int64_t stride;               // from one row to the next, in values
  const T* squared_norms = nullptr;  // where many learners share the rows

  const T* row(std::int64_t i) const { return values + i * stride; }
  ALWAYS_INLINE T dot(std::int64_t i, const T* w) const { return rosenblatt::dot(row(i), w, features); }
  ALWAYS_INLINE T dot(std::int64_t i, const T* w, std::int64_t next) const {
    return next >= 0 && is_long() ? rosenblatt::dot<true>(row(i), w, features, row(next)) : dot(i, w);
  }
  T squared_norm(std::int64_t i) const {
    return squared_norms ? squared_norms[i] : rosenblatt::dot(row(i), row(i), features);
  }

  template <class Use>
  ALWAYS_INLINE T product(std::int64_t i, const T* w, const Use& use) const {
    return rosenblatt::dot(row(i), w, features, static_cast<const T*>(nullptr), use);
  }

  // Two of the K products at a time.
  void scores(std::int64_t i, const T* W, std::int64_t K, T* out) const {
    std::int64_t k = 0;
    for (; k + 2 <= K; k += 2) two_dots(row(i), W + k * features, W + (k + 1) * features, features, out + k);
    if (k < K) out[k] = dot(i, W + k * features);
  }
  template <class Use>
  void products(std::int64_t i, const T* W, std::int64_t K, T* out, const Use& use) const {
    for (std::int64_t k = 0; k < K; ++k) out[k] = product(i, W + k * features, use);
  }

  template <class W>
  void add_to(std::int64_t i, W step, W* weights, std::int64_t k, std::int64_t) const {
    add(weights + k * features, step, row(i), features);
  }
  template <class Visit>
  ALWAYS_INLINE void add_to(std::int64_t i, T step, T* weights, std::int64_t k, std::int64_t, Visit&& visit) const {
    const T* const x = row(i);
    for (std::int64_t at = k * features, j = 0; j < features; ++j, ++at) {
      const T before = weights[at], now = before + step * x[j];
      weights[at] = now;
      visit(at, static_cast<double>(now) - static_cast<double>(before));
    }
  }
  template <class Visit>
  ALWAYS_INLINE void for_each_weight(std::int64_t i, T* W, std::int64_t k, std::int64_t, Visit&& visit) const {
    for (std::int64_t j = 0; j < features; ++j) visit(W[k * features + j], row(i)[j]);
  }

  bool is_zero(std::int64_t i) const {
    return std::all_of(row(i), row(i) + features, [](T value) { return value == 0; });
  }

  // A long row is prefetched in chunks while the previous row is processed, a short one as a whole beforehand.
  bool is_long() const { return features * sizeof(T) > prefetch_bytes; }

  ALWAYS_INLINE void prefetch(std::int64_t i) const {
    if (!is_long()) prefetch_span(row(i), features * sizeof(T));
  }
  ALWAYS_INLINE void prefetch_bounds(std::int64_t) const {}

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
  ALWAYS_INLINE T dot(std::int64_t i, const T* w) const { return product(i, w, Identity<T>{}); }
  ALWAYS_INLINE T dot(std::int64_t i, const T* w, std::int64_t) const { return dot(i, w); }

  template <class Use>
  ALWAYS_INLINE T product(std::int64_t i, const T* w, const Use& use) const {
    return all_ones ? sum<true>(i, w, use) : sum<false>(i, w, use);
  }

  std::int64_t length(std::int64_t i) const { return starts[i + 1] - starts[i]; }

  T squared_norm(std::int64_t i) const {
    if (all_ones && length(i) < (1 << 24)) return static_cast<T>(length(i));
    return rosenblatt::dot(values + starts[i], values + starts[i], length(i));
  }

  // Never inlined: beside so many sums the loop of two classes would lack registers.
  [[gnu::noinline]] void scores(std::int64_t i, const T* W, std::int64_t K, T* out) const {
    products(i, W, K, out, Identity<T>{});
  }
  template <class Use>
  ALWAYS_INLINE void products(std::int64_t i, const T* W, std::int64_t K, T* out, const Use& use) const {
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
  ALWAYS_INLINE void add_to(std::int64_t i, T step, T* weights, std::int64_t k, std::int64_t K, Visit&& visit) const {
    for (std::int64_t p = starts[i]; p < starts[i + 1]; ++p) {
      const std::int64_t at = columns[p] * K + k;
      const T before = weights[at], now = before + step * values[p];
      weights[at] = now;
      visit(at, static_cast<double>(now) - static_cast<double>(before));
    }
  }
  template <class Visit>
  ALWAYS_INLINE void for_each_weight(std::int64_t i, T* W, std::int64_t k, std::int64_t K, Visit&& visit) const {
    for (std::int64_t p = starts[i]; p < starts[i + 1]; ++p) visit(W[columns[p] * K + k], values[p]);
  }

  bool is_zero(std::int64_t i) const {
    return std::all_of(values + starts[i], values + starts[i + 1], [](T value) { return value == 0; });
  }

  ALWAYS_INLINE void prefetch_bounds(std::int64_t i) const { __builtin_prefetch(starts + i); }
  ALWAYS_INLINE void prefetch(std::int64_t i) const {
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

// Where the first value is that cannot be learned from; row -1: there is none.
struct Place {
  std::int64_t row = -1;
  std::int64_t column = -1;
};

template <class T>
Place first_unusable(const DenseRows<T>& rows) {
  for (std::int64_t i = 0; i < rows.count; ++i)
    if (!all_usable(rows.row(i), rows.features))
      for (std::int64_t j = 0; j < rows.features; ++j)
        if (!all_usable(rows.row(i) + j, 1)) return {i, j};
  return {};
}

template <class T>
Place first_unusable(const SparseRows<T>& rows) {
  for (std::int64_t i = 0; i < rows.count; ++i)
    for (std::int64_t p = rows.starts[i]; p < rows.starts[i + 1]; ++p)
      if (!all_usable(rows.values + p, 1)) return {i, rows.columns[p]};
  return {};
}

// CSR arrays come from outside: are they as the loops need them?
enum class Structure {
  sound,     // the columns of every row rise strictly
  unsorted,  // they do not: some may occur twice, and ‖x‖² would be wrong
  broken,    // starts fall or point outside of the values, or a column does not exist
};

// Columns that do not rise are counted over all values at once, and between rows, where they need not: short rows have
// no loop of their own.
template <class T>
Structure structure_of(const SparseRows<T>& rows, std::int64_t stored) {
  const std::int64_t begin = rows.starts[0], end = rows.starts[rows.count];
  if (begin < 0 || end > stored) return Structure::broken;
  bool falls = false;
  for (std::int64_t i = 0; i < rows.count; ++i) falls |= rows.starts[i + 1] < rows.starts[i];
  if (falls) return Structure::broken;
  std::uint32_t largest = 0;  // a column below 0 is a very large one
  std::int64_t fallen = 0, between = 0;
  constexpr std::int64_t block = 4096;
  for (std::int64_t first = begin; first < end; first += block) {
    const std::int64_t stop = std::min(end, first + block), pairs = std::min(end - 1, first + block);
    std::int32_t here = 0;
    for (std::int64_t p = first; p < stop; ++p)
      largest = std::max(largest, static_cast<std::uint32_t>(rows.columns[p]));
    for (std::int64_t p = first; p < pairs; ++p) here += rows.columns[p] >= rows.columns[p + 1];
    fallen += here;
  }
  if (begin < end && largest >= static_cast<std::uint64_t>(rows.features)) return Structure::broken;
  for (std::int64_t i = 1; i < rows.count; ++i) {
    const std::int64_t first = rows.starts[i];
    if (begin < first && first < rows.starts[i + 1]) between += rows.columns[first - 1] >= rows.columns[first];
  }
  return fallen == between ? Structure::sound : Structure::unsorted;
}

inline constexpr std::int32_t counted_columns = 512;

// Where each of some columns goes, by the number of smaller ones; false if two are equal. Comparing all with all needs
// no branches, and so is quicker than a sort for rows that are not long. There must be room for 7 columns more.
inline bool count_places(std::int32_t* columns, std::int32_t count, std::int32_t* places) {
  using Eights = Pack<std::int32_t, 32>;
  typedef Eights::type Eight;
  for (std::int32_t p = count; p % 8; ++p) columns[p] = std::numeric_limits<std::int32_t>::max();
  std::int64_t all = 0;
  for (std::int32_t j = 0; j < count; ++j) {
    const Eight column = Eight{} + columns[j];
    Eight smaller{};
    for (std::int32_t p = 0; p < count; p += 8) smaller -= Eights::load(columns + p) < column;
    places[j] = ((smaller[0] + smaller[4]) + (smaller[1] + smaller[5])) +
                ((smaller[2] + smaller[6]) + (smaller[3] + smaller[7]));
    all += places[j];
  }
  return all == std::int64_t{count} * (count - 1) / 2;
}

// Writes the rows' values and columns, sorted by column, row by row from the start of the arrays. Columns that occur
// twice stay side by side, in the order they came in.
template <class T>
void sort_columns(const SparseRows<T>& rows, T* values, std::int32_t* columns) {
  std::int32_t copy[counted_columns + 7], places[counted_columns];
  std::vector<std::pair<std::int32_t, std::int64_t>> entries;
  for (std::int64_t i = 0; i < rows.count; ++i) {
    const std::int64_t count = rows.length(i);
    const std::int32_t* at = rows.columns + rows.starts[i];
    const T* x = rows.values + rows.starts[i];
    const bool few = count <= counted_columns;
    if (few) std::copy_n(at, count, copy);
    if (few && count_places(copy, static_cast<std::int32_t>(count), places)) {
      for (std::int64_t p = 0; p < count; ++p) {
        columns[places[p]] = at[p];
        values[places[p]] = x[p];
      }
    } else {
      entries.resize(count);
      for (std::int64_t p = 0; p < count; ++p) entries[p] = {at[p], p};
      std::sort(entries.begin(), entries.end());
      for (std::int64_t p = 0; p < count; ++p) {
        columns[p] = entries[p].first;
        values[p] = x[entries[p].second];
      }
    }
    columns += count;
    values += count;
  }
}

}  // namespace rosenblatt
