// Vectors of a few values, and the one order in which sums are taken, on every CPU and for every vector width.
//
// Invariant: a dot product of n values is four running sums of 32-byte lanes (lane l of sum s takes the products at
// 4*L*block + L*s + l), then a fixed tree, then 16 bytes if as many are left over, then the rest from left to right. A
// CPU without AVX2 does the same additions in halves; the build switches contraction off, so that no CPU fuses a
// multiply-add that another one lacks. Nothing outside this file uses a compiler's own extensions for vectors.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

static_assert(std::endian::native == std::endian::little, "the engine reads and writes little-endian numbers");

namespace rosenblatt {

// GCC takes a function that only prefetches for one without effect, and drops calls that it has not inlined by then.
#define ALWAYS_INLINE [[gnu::always_inline]] inline
// A visit of a row: called in two places, and a call would cost a short row a third of its time.
#define INLINE_LAMBDA __attribute__((always_inline))

// A number read from bytes, the first of which is the lowest.
template <class Word>
inline Word load_word(const char* at) {
  Word word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

template <class T, std::size_t bytes>
struct Pack {
  // To be named wherever it is used: `auto` and a template's argument would forget that it need not be aligned.
  typedef T type __attribute__((vector_size(bytes), aligned(alignof(T)), may_alias));

  static type load(const T* from) { return *reinterpret_cast<const type*>(from); }
  static void store(T* to, type values) { *reinterpret_cast<type*>(to) = values; }
  static type larger(type a, type b) { return a > b ? a : b; }
  static type smaller(type a, type b) { return a < b ? a : b; }
};

template <class T>
struct Lanes {
  using Full = Pack<T, 32>;
  using Half = Pack<T, 16>;
  typedef typename Full::type vector;
  typedef typename Half::type half;
  static constexpr std::size_t count = 32 / sizeof(T);

  static T sum(half v) {
    if constexpr (count == 8)
      return (v[0] + v[2]) + (v[1] + v[3]);
    else
      return v[0] + v[1];
  }
  static half fold(vector v) {
    if constexpr (count == 8)
      return half{v[0], v[1], v[2], v[3]} + half{v[4], v[5], v[6], v[7]};
    else
      return half{v[0], v[1]} + half{v[2], v[3]};
  }
};

// How the weights of a product are read: as they are stored. A penalty transforms them (penalty.hpp).
template <class T>
struct Identity {
  T operator()(T w) const { return w; }
  template <class P>
  ALWAYS_INLINE typename P::type lanes(typename P::type w) const {
    return w;
  }
};

// The end of a dot product with these running sums: from j on, fewer than four lanes.
template <class T, class Use, class V = typename Lanes<T>::vector>
ALWAYS_INLINE T finish_dot(V (&sums)[4], const T* a, const T* b, std::size_t j, std::size_t n, const Use& use) {
  using L = Lanes<T>;
  using H = typename L::half;
  constexpr std::size_t lanes = L::count;
#pragma GCC unroll 3
  for (int s = 0; s < 3; ++s) {
    if (j + lanes > n) break;
    sums[s] += L::Full::load(a + j) * use.template lanes<typename L::Full>(L::Full::load(b + j));
    j += lanes;
  }
  H sum = L::fold((sums[0] + sums[1]) + (sums[2] + sums[3]));
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

// The products of one vector with several, which is then read once; out: the first one, the others lie `apart`. Of
// three and more, two running sums are taken at a time, so that those of all stay in registers. With `fetch`, the row
// `ahead` is prefetched into the second-level cache meanwhile.
template <int many, bool fetch = false, class T, class Use = Identity<T>>
ALWAYS_INLINE void many_dots(const T* one, const T* const* each, std::size_t n, T* out, std::size_t apart,
                             const Use& use = {}, const T* ahead = nullptr) {
  using L = Lanes<T>;
  using V = typename L::vector;
  constexpr std::size_t lanes = L::count;
  constexpr int together = many > 2 ? 2 : 4;
  V sums[many][4];
  std::size_t j = 0;
  for (int s = 0; s < 4; s += together) {
    V some[together][many]{};
    for (j = 0; j + 4 * lanes <= n; j += 4 * lanes) {
      if constexpr (fetch) {
        __builtin_prefetch(ahead + j, 0, 2);
        __builtin_prefetch(ahead + j + 2 * lanes, 0, 2);
      }
      for (int t = 0; t < together; ++t) {
        const std::size_t at = j + (s + t) * lanes;
        const V shared = L::Full::load(one + at);
        for (int r = 0; r < many; ++r)
          some[t][r] += shared * use.template lanes<typename L::Full>(L::Full::load(each[r] + at));
      }
    }
    for (int t = 0; t < together; ++t)
      for (int r = 0; r < many; ++r) sums[r][s + t] = some[t][r];
  }
  for (int r = 0; r < many; ++r) out[r * apart] = finish_dot(sums[r], one, each[r], j, n, use);
}

template <bool fetch = false, class T, class Use = Identity<T>>
ALWAYS_INLINE T dot(const T* a, const T* b, std::size_t n, const T* ahead = nullptr, const Use& use = {}) {
  T product;
  many_dots<1, fetch>(a, &b, n, &product, 1, use, ahead);
  return product;
}

// w += step * x. Every element is on its own, so there is no order to keep.
template <class W, class T>
inline void add(W* __restrict w, W step, const T* __restrict x, std::size_t n) {
  for (std::size_t j = 0; j < n; ++j) w[j] += step * static_cast<W>(x[j]);
}

// Beyond this a squared norm or a score may overflow after many updates.
template <class T>
inline constexpr T largest_value = sizeof(T) == 4 ? T(1e15) : T(1e100);

inline bool is_usable(double value) { return std::fabs(value) <= largest_value<double>; }

// The largest size of a value; NaN or infinite if one is. By the bits, which are in the order of the sizes.
template <class T>
inline T largest_size(const T* x, std::int64_t n) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::int64_t>;
  constexpr Bits without_sign =
      std::numeric_limits<std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>>::max();
  Bits most = 0;
  for (std::int64_t j = 0; j < n; ++j)
    most = std::max(most, static_cast<Bits>(std::bit_cast<Bits>(x[j]) & without_sign));
  return std::bit_cast<T>(most);
}

}  // namespace rosenblatt
