// Rows of features as the user holds them: dense or CSR, never copied.
//
// Invariant: both kinds answer the same questions, so that one loop serves both:
//   dot(i, w)                 w·x_i
//   scores(i, W, K, out)      K of them
//   squared_norm(i)           ‖x_i‖²
//   add_to(i, step, W, k, K)  row k of W += step * x_i
//   prefetch(i, far)          ask for the row before it is needed
//   dot(i, w, next)           the same dot product; row `next`, if it is not -1, comes after it and may be asked for
//   for_each_weight(i, W, k, K, f)   f(weight, value) for every value of the row and its weight in row k of W
// Where weights are not used as they lie there, the last argument of a product says how (`Use`, in lanes.hpp).
// K weight rows are stored class after class for dense rows, and feature after feature for sparse rows, where
// the weights of all classes for one feature then lie in one cache line.
// Dense rows may lie there in another type, or in columns (stored.hpp). Then a row can be read after open(i), by
// whoever has Opened the rows; the loops of linear.hpp widen a few rows at a time instead (widened.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "lanes.hpp"
#include "stored.hpp"

namespace rosenblatt {

// GCC takes a function that only prefetches for one without effect, and drops calls that it has not inlined by then.
#define ALWAYS_INLINE [[gnu::always_inline]] inline
// A visit of a row: called in two places, and a call would cost a short row a third of its time.
#if defined(__GNUC__)
#define INLINE_LAMBDA __attribute__((always_inline))
#else
#define INLINE_LAMBDA
#endif

inline constexpr std::size_t prefetch_bytes = 1024;
inline constexpr std::int64_t rows_at_once = 3;  // of long rows, where that helps (docs/decisions/memory.md)

// Asks for some bytes, into the second cache alone where they come from far.
template <bool far>
ALWAYS_INLINE void prefetch_span(const void* first, std::size_t bytes) {
  constexpr int locality = far ? 2 : 3;
  const char* const at = static_cast<const char*>(first);
  for (std::size_t offset = 0; offset < bytes; offset += 64) __builtin_prefetch(at + offset, 0, locality);
  if (bytes % 64) __builtin_prefetch(at + bytes - 1, 0, locality);
}
ALWAYS_INLINE void prefetch_span(const void* first, std::size_t bytes, bool far) {
  far ? prefetch_span<true>(first, bytes) : prefetch_span<false>(first, bytes);
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
  const Stored* stored = nullptr;    // where rows lie otherwise: `values` is then the open row, and stride 0
  T* room = nullptr;

  const T* row(std::int64_t i) const { return values + i * stride; }
  ALWAYS_INLINE void open(std::int64_t i) const {
    if (stored) stored->widen(i, room);
  }
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
  ALWAYS_INLINE void for_each_weight(std::int64_t i, T* W, std::int64_t k, std::int64_t, Visit&& visit) const {
    for (std::int64_t j = 0; j < features; ++j) visit(W[k * features + j], row(i)[j]);
  }

  bool is_zero(std::int64_t i) const {
    for (std::int64_t j = 0; j < features; ++j)
      if (row(i)[j] != 0) return false;
    return true;
  }

  // A long row is asked for stretch by stretch while the row before it is read, a short one as a whole beforehand.
  bool is_long() const { return features * sizeof(T) > prefetch_bytes; }

  ALWAYS_INLINE void prefetch(std::int64_t i, bool far) const {
    if (!is_long()) prefetch_span(row(i), features * sizeof(T), far);
  }

  ALWAYS_INLINE void prefetch_bounds(std::int64_t) const {}

  std::int64_t values_a_row() const { return features; }
  std::int64_t bytes_a_row() const { return features * static_cast<std::int64_t>(sizeof(T)); }
};

template <class T, class Index>
struct SparseRows {
  using Value = T;
  static constexpr bool sparse = true;

  const T* values;
  const Index* indices;
  const Index* starts;  // count + 1 of them
  std::int64_t count;
  std::int64_t features;
  bool ones = false;  // is every value 1, so that it need not be read? Products with 1 are exact: the bits are the same

  ALWAYS_INLINE void open(std::int64_t) const {}

  // Four running sums, then a fixed tree: the order of a sparse dot product.
  ALWAYS_INLINE T dot(std::int64_t i, const T* w) const { return product(i, w, Plain<T>{}); }

  ALWAYS_INLINE T dot(std::int64_t i, const T* w, std::int64_t) const { return dot(i, w); }

  template <class Use>
  ALWAYS_INLINE T product(std::int64_t i, const T* w, const Use& use) const {
    return ones ? sum<true>(i, w, use) : sum<false>(i, w, use);
  }

  T squared_norm(std::int64_t i) const {
    if (ones && starts[i + 1] - starts[i] < (1 << 24)) return static_cast<T>(starts[i + 1] - starts[i]);
    return rosenblatt::dot(values + starts[i], values + starts[i], starts[i + 1] - starts[i]);
  }

  // Never inlined: beside so many sums the loop of two classes would lack registers.
  [[gnu::noinline]] void scores(std::int64_t i, const T* W, std::int64_t K, T* out) const {
    products(i, W, K, out, Plain<T>{});
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
    if (ones) {
      for (Index p = starts[i]; p < starts[i + 1]; ++p) weights[static_cast<std::int64_t>(indices[p]) * K + k] += step;
      return;
    }
    for (Index p = starts[i]; p < starts[i + 1]; ++p)
      weights[static_cast<std::int64_t>(indices[p]) * K + k] += step * static_cast<W>(values[p]);
  }
  template <class Visit>
  ALWAYS_INLINE void for_each_weight(std::int64_t i, T* W, std::int64_t k, std::int64_t K, Visit&& visit) const {
    for (Index p = starts[i]; p < starts[i + 1]; ++p)
      visit(W[static_cast<std::int64_t>(indices[p]) * K + k], values[p]);
  }

  bool is_zero(std::int64_t i) const {
    for (Index p = starts[i]; p < starts[i + 1]; ++p)
      if (values[p] != 0) return false;
    return true;
  }

  ALWAYS_INLINE void prefetch_bounds(std::int64_t i) const { __builtin_prefetch(starts + i); }

  ALWAYS_INLINE void prefetch(std::int64_t i, bool far) const {
    const Index begin = starts[i];
    const std::size_t length = starts[i + 1] - begin;
    if (!ones) prefetch_span(values + begin, std::min(length * sizeof(T), prefetch_bytes), far);
    prefetch_span(indices + begin, std::min(length * sizeof(Index), prefetch_bytes), far);
  }

  std::int64_t values_a_row() const { return count ? (starts[count] - starts[0]) / count + 1 : 1; }
  std::int64_t bytes_a_row() const { return values_a_row() * (sizeof(Index) + (ones ? 0 : sizeof(T))); }

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
    const Index* const at = indices + starts[i];
    const std::int64_t length = starts[i + 1] - starts[i], fours = length & ~std::int64_t{3};
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
    for (std::int64_t p = fours; p < length; ++p) {
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
    for (Index p = starts[i]; p < starts[i + 1]; ++p) {
      const T* const w = W + static_cast<std::int64_t>(indices[p]) * K;
      const T x = values[p];
      for (int v = 0; v < vectors; ++v)
        sums[v] += use.template lanes<Few>(Few::load(w + (v + 1 < vectors ? v * wide : last))) * x;
    }
    for (int v = 0; v < vectors; ++v) Few::store(out + (v + 1 < vectors ? v * wide : last), sums[v]);
  }
};

// Rows to go through, in one thread: with room for the row that is open, where it has to be widened.
template <class Rows>
class Opened {
 public:
  explicit Opened(const Rows& given) : rows_(given) {
    if constexpr (!Rows::sparse) {
      if (!given.stored) return;
      room_.resize(given.features);
      rows_.values = rows_.room = room_.data();
    }
  }
  Opened(const Opened&) = delete;
  const Rows& operator*() const { return rows_; }

 private:
  Rows rows_;
  std::vector<typename Rows::Value> room_;
};

}  // namespace rosenblatt
