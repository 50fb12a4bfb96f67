// The one order in which sums are taken, on every CPU and for every vector width.
//
// Invariant: a dot product of n values is four running sums of 32-byte lanes (lane l of sum s takes the
// products at 4*L*block + L*s + l), then a fixed tree, then 16 bytes if as many are left over, then the rest from
// left to right.
// A CPU without AVX2 does the same additions in halves, and the plain version of vectors.hpp one after another; the
// build switches contraction off, so that no CPU fuses a multiply-add that another one lacks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "vectors.hpp"

namespace rosenblatt {

template <class T>
struct Lanes;

template <>
struct Lanes<float> {
  using Full = Pack<float, 32>;
  using Half = Pack<float, 16>;
  typedef Full::type vector;
  typedef Half::type half;
  static constexpr std::size_t count = 8;
  static float sum(half v) { return (v[0] + v[2]) + (v[1] + v[3]); }
  static half fold(vector v) { return half{v[0], v[1], v[2], v[3]} + half{v[4], v[5], v[6], v[7]}; }
};

template <>
struct Lanes<double> {
  using Full = Pack<double, 32>;
  using Half = Pack<double, 16>;
  typedef Full::type vector;
  typedef Half::type half;
  static constexpr std::size_t count = 4;
  static double sum(half v) { return v[0] + v[1]; }
  static half fold(vector v) { return half{v[0], v[1]} + half{v[2], v[3]}; }
};

// How the weights of a product are used: as they lie there. A penalty has another way (penalty.hpp).
template <class T>
struct Plain {
  T operator()(T w) const { return w; }
  template <class P>
  [[gnu::always_inline]] typename P::type lanes(typename P::type w) const {
    return w;
  }
};

// The end of a dot product: from j on, fewer than four lanes.
template <class T, class Use = Plain<T>, class V = typename Lanes<T>::vector>
[[gnu::always_inline]] inline T finish_dot(V s0, V s1, V s2, V s3, const T* a, const T* b, std::size_t j, std::size_t n,
                                           const Use& use = {}) {
  using L = Lanes<T>;
  using H = typename L::half;
  constexpr std::size_t lanes = L::count;
  const auto product = [&](std::size_t at) {
    return L::Full::load(a + at) * use.template lanes<typename L::Full>(L::Full::load(b + at));
  };
  if (j + lanes <= n) {
    s0 += product(j);
    j += lanes;
  }
  if (j + lanes <= n) {
    s1 += product(j);
    j += lanes;
  }
  if (j + lanes <= n) {
    s2 += product(j);
    j += lanes;
  }
  H sum = L::fold((s0 + s1) + (s2 + s3));
  if (j + lanes / 2 <= n) {
    sum += L::Half::load(a + j) * use.template lanes<typename L::Half>(L::Half::load(b + j));
    j += lanes / 2;
  }
  T rest = 0;
  if (j < n) rest = a[j] * use(b[j]);
  if constexpr (lanes / 2 > 2) {
    if (j + 1 < n) rest += a[j + 1] * use(b[j + 1]);
    if (j + 2 < n) rest += a[j + 2] * use(b[j + 2]);
  }
  return L::sum(sum) + rest;
}

// The product of a row a and weights b. With `fetch`, the same stretch of another row is asked for while this one is
// read, into the second cache.
template <bool fetch = false, class T, class Use = Plain<T>>
[[gnu::always_inline]] inline T dot(const T* a, const T* b, std::size_t n, const T* ahead = nullptr,
                                    const Use& use = {}) {
  using L = Lanes<T>;
  using V = typename L::vector;
  constexpr std::size_t lanes = L::count;
  const auto product = [&](std::size_t at) {
    return L::Full::load(a + at) * use.template lanes<typename L::Full>(L::Full::load(b + at));
  };
  V s0{}, s1{}, s2{}, s3{};
  std::size_t j = 0;
  for (; j + 4 * lanes <= n; j += 4 * lanes) {
    if constexpr (fetch) {
      __builtin_prefetch(ahead + j, 0, 2);
      __builtin_prefetch(ahead + j + 2 * lanes, 0, 2);
    }
    s0 += product(j);
    s1 += product(j + lanes);
    s2 += product(j + 2 * lanes);
    s3 += product(j + 3 * lanes);
  }
  return finish_dot(s0, s1, s2, s3, a, b, j, n, use);
}

// Two dot products with the same row, which is then read once. Each has the order of `dot`.
template <class T>
[[gnu::always_inline]] inline void two_dots(const T* a, const T* b, const T* c, std::size_t n, T* out) {
  using L = Lanes<T>;
  using V = typename L::vector;
  constexpr std::size_t lanes = L::count;
  const auto at = [](const T* p) { return L::Full::load(p); };
  V s0{}, s1{}, s2{}, s3{}, t0{}, t1{}, t2{}, t3{};
  std::size_t j = 0;
  for (; j + 4 * lanes <= n; j += 4 * lanes) {
    const V x0 = at(a + j), x1 = at(a + j + lanes);
    s0 += x0 * at(b + j);
    t0 += x0 * at(c + j);
    s1 += x1 * at(b + j + lanes);
    t1 += x1 * at(c + j + lanes);
    const V x2 = at(a + j + 2 * lanes), x3 = at(a + j + 3 * lanes);
    s2 += x2 * at(b + j + 2 * lanes);
    t2 += x2 * at(c + j + 2 * lanes);
    s3 += x3 * at(b + j + 3 * lanes);
    t3 += x3 * at(c + j + 3 * lanes);
  }
  out[0] = finish_dot(s0, s1, s2, s3, a, b, j, n);
  out[1] = finish_dot(t0, t1, t2, t3, a, c, j, n);
}

// The products of several rows with the same weights, which are then read once; out: the first one, the others lie
// `apart`. Each has the order of `dot`. Two of its running sums are taken at a time, so that those of all rows stay in
// registers.
template <int many, class T>
[[gnu::always_inline]] inline void many_dots(const T* const* rows, const T* w, std::size_t n, T* out,
                                             std::size_t apart) {
  using L = Lanes<T>;
  using V = typename L::vector;
  constexpr std::size_t lanes = L::count;
  const std::size_t whole = n / (4 * lanes) * (4 * lanes);
  V sums[4][many];
  for (int s = 0; s < 4; s += 2) {
    V even[many]{}, odd[many]{};
    for (std::size_t j = s * lanes; j < whole; j += 4 * lanes) {
      const V first = L::Full::load(w + j), second = L::Full::load(w + j + lanes);
      for (int r = 0; r < many; ++r) {
        even[r] += L::Full::load(rows[r] + j) * first;
        odd[r] += L::Full::load(rows[r] + j + lanes) * second;
      }
    }
    for (int r = 0; r < many; ++r) sums[s][r] = even[r], sums[s + 1][r] = odd[r];
  }
  for (int r = 0; r < many; ++r)
    out[r * apart] = finish_dot(sums[0][r], sums[1][r], sums[2][r], sums[3][r], rows[r], w, whole, n);
}

// w += step * x. Every element is on its own, so there is no order to keep.
template <class W, class T>
inline void add(W* __restrict w, W step, const T* __restrict x, std::size_t n) {
  for (std::size_t j = 0; j < n; ++j) w[j] += step * static_cast<W>(x[j]);
}

// Beyond this a squared norm or a score may overflow after many updates.
template <class T>
inline constexpr T largest_value = sizeof(T) == 4 ? T(1e15) : T(1e100);

// Calls visit(first, count) for some values after another, until it says no. What comes 8 KB later is asked for: by
// itself, a CPU reads a long array at little more than half the pace of its memory (docs/decisions/memory.md).
template <class T, class Visit>
inline bool all_stretches(const T* values, std::int64_t count, Visit&& visit) {
  constexpr std::int64_t some = 1024 / sizeof(T), line = 64 / sizeof(T), ahead = 8192 / sizeof(T);
  for (std::int64_t first = 0; first < count; first += some) {
    for (std::int64_t j = first + ahead; j < std::min(first + ahead + some, count); j += line)
      __builtin_prefetch(values + j, 0, 2);
    if (!visit(first, std::min(some, count - first))) return false;
  }
  return true;
}

// Are all values finite and small enough to learn from? NaN compares false.
template <class T>
inline bool all_usable(const T* x, std::int64_t n) {
  using Mask = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  return all_stretches(x, n, [&](std::int64_t first, std::int64_t count) {
    Mask bad = 0;
    for (std::int64_t j = first; j < first + count; ++j) {
      const T size = x[j] < 0 ? -x[j] : x[j];
      bad |= static_cast<Mask>(!(size <= largest_value<T>));
    }
    return bad == 0;
  });
}

}  // namespace rosenblatt
