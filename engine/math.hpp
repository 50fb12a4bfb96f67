// Functions by fixed operations, since each libm and each kind of CPU has its own last bit.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace rosenblatt {

// x = k ln 2 + r, then Taylor to r^13.
inline double fixed_exp(double x) {
  constexpr double ln2_high = 0x1.62e42feep-1, ln2_low = 0x1.a39ef35793c76p-33, inverse_ln2 = 0x1.71547652b82fep+0;
  if (!(x > -708.0)) return 0.0;
  if (x > 709.0) x = 709.0;
  const auto k = static_cast<std::int64_t>(x * inverse_ln2 + (x < 0 ? -0.5 : 0.5));
  const double r = (x - static_cast<double>(k) * ln2_high) - static_cast<double>(k) * ln2_low;
  double sum = 1.0 / 6227020800.0;
  for (double c : {1.0 / 479001600.0, 1.0 / 39916800.0, 1.0 / 3628800.0, 1.0 / 362880.0, 1.0 / 40320.0, 1.0 / 5040.0,
                   1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0, 1.0})
    sum = sum * r + c;
  return sum * std::bit_cast<double>((k + 1023) << 52);
}

inline double fixed_tanh(double x) {
  const double e = fixed_exp(-2.0 * std::fabs(x)), size = (1.0 - e) / (1.0 + e);
  return x < 0 ? -size : size;
}

inline double fixed_sigmoid(double x) {
  const double e = fixed_exp(-std::fabs(x));
  return x != x ? x : (x < 0 ? e : 1.0) / (1.0 + e);
}

// log(1 + u) for 0 <= u <= 1: with t = u / (2 + u) it is 2 (t + t^3/3 + t^5/5 + ...), and t <= 1/3.
inline double fixed_log1p(double u) {
  const double t = u / (2.0 + u), square = t * t;
  double sum = 0.0;
  for (int odd = 35; odd >= 1; odd -= 2) sum = sum * square + 1.0 / odd;
  return 2.0 * t * sum;
}

// For x > 0.
inline double fixed_log(double x) {
  constexpr double ln2 = 0x1.62e42fefa39efp-1;
  int exponent;
  const double half = std::frexp(x, &exponent);  // x = half 2^exponent, half from 0.5 to 1
  return fixed_log1p(2.0 * half - 1.0) + (exponent - 1) * ln2;
}

// log(1 + exp(x))
inline double fixed_softplus(double x) {
  return x != x ? x : (x > 0 ? x : 0.0) + fixed_log1p(fixed_exp(-std::fabs(x)));
}

}  // namespace rosenblatt
