// How far to step. A rule answers two questions about an example of margin m (binary: y·a; more classes: the
// right score less the highest wrong one):
//   wants(m, mistake)   is there a step at all?
//   reach()             never, and no mistake either, where m is above this
//   step(m, q, s)       tau, where q = ‖x‖² (+1 with an intercept, twice that with more classes), s = sample weight
#pragma once

#include <cmath>
#include <limits>

namespace rosenblatt {

// tau = eta0 on a mistake; the margin perceptron also steps where m <= beta.
struct PerceptronRule {
  static constexpr bool needs_norm = false;
  double eta0;
  double threshold;

  PerceptronRule(double eta0_, double beta)
      : eta0(eta0_), threshold(beta > 0 ? beta : -std::numeric_limits<double>::infinity()) {}

  double reach() const { return std::fmax(threshold, 0.0); }
  bool wants(double margin, bool mistake) const { return mistake | (margin <= threshold); }
  double step(double, double, double weight) const { return weight * eta0; }
};

// With the loss l = max(0, 1 - m): l/q (PA), min(sC, l/q) (PA-I), l/(q + 1/(2sC)) (PA-II).
struct PassiveAggressiveRule {
  static constexpr bool needs_norm = true;
  enum class Variant { PA, PA_I, PA_II };
  Variant variant;
  double C;

  double reach() const { return 1.0; }
  bool wants(double margin, bool) const { return margin < 1.0; }

  double step(double margin, double q, double weight) const {
    const double loss = 1.0 - margin;
    const double tau = variant == Variant::PA      ? loss / q
                       : variant == Variant::PA_I ? std::fmin(weight * C, loss / q)
                                                   : loss / (q + 1.0 / (2.0 * weight * C));
    return tau <= std::numeric_limits<double>::max() ? tau : 0.0;  // a row too short to step along
  }
};

}  // namespace rosenblatt
