// How far to step. A rule answers four questions about an example of margin m (see tasks.hpp):
//   update_threshold()  if m is above this there is no step, and no mistake either
//   wants(m, mistake)   is there a step at all?
//   step(l, q, s)       tau, where l is the loss, s the sample weight, and q = ‖x‖² (+1 with an intercept, twice that
//                       with more classes) or, for a second-order rule, the variance of the margin
//   needs_norm          does tau depend on q, or only on whether q is above 0?
#pragma once

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>

namespace rosenblatt {

// The parameters of all rules; each takes its own.
struct RuleParams {
  double eta0 = 1.0, beta = 0.0, C = 1.0, r = 1.0, epsilon = 0.1;
};

// tau = s eta0 on a mistake; the margin perceptron also steps where m <= beta.
struct Perceptron {
  static constexpr bool needs_norm = false, second_order = false;
  double eta0;
  double threshold;

  explicit Perceptron(const RuleParams& n)
      : eta0(n.eta0), threshold(n.beta > 0 ? n.beta : -std::numeric_limits<double>::infinity()) {}

  double update_threshold() const { return std::fmax(threshold, 0.0); }
  bool wants(double margin, bool mistake) const { return mistake | (margin <= threshold); }
  double step(double, double, double weight) const { return weight * eta0; }
};

// tau = s eta0 / q on a mistake: the step is 1/‖x‖ long, whatever the length of the row.
struct Normalized {
  static constexpr bool needs_norm = true, second_order = false;
  double eta0;

  double update_threshold() const { return 0.0; }
  bool wants(double, bool mistake) const { return mistake; }
  double step(double, double q, double weight) const {
    const double tau = weight * eta0 / q;
    return tau <= std::numeric_limits<double>::max() ? tau : 0.0;  // a row too short to step along
  }
};

// Wants a margin of 1.
struct MarginRule {
  static constexpr bool needs_norm = true;
  double update_threshold() const { return 1.0; }
  bool wants(double margin, bool) const { return margin < 1.0; }
};

// l/q (PA), min(sC, l/q) (PA-I), l/(q + 1/(2sC)) (PA-II).
struct PassiveAggressive : MarginRule {
  static constexpr bool second_order = false;
  enum class Variant { PA, PA_I, PA_II };
  Variant variant;
  double C;

  double step(double loss, double q, double weight) const {
    const double tau = variant == Variant::PA     ? loss / q
                       : variant == Variant::PA_I ? std::fmin(weight * C, loss / q)
                                                  : loss / (q + 1.0 / (2.0 * weight * C));
    return tau <= std::numeric_limits<double>::max() ? tau : 0.0;  // a row too short to step along
  }
};

// l beta with beta = 1/(v + r/s): see arow.hpp.
struct Arow : MarginRule {
  static constexpr bool second_order = true;
  double r;

  double confidence(double v, double weight) const { return 1.0 / (v + r / weight); }
  double step(double loss, double v, double weight) const { return loss * confidence(v, weight); }
};

using AnyRule = std::variant<Perceptron, Normalized, PassiveAggressive, Arow>;

// The one place that knows the names of the rules.
inline AnyRule make_rule(std::string_view name, const RuleParams& params) {
  using Variant = PassiveAggressive::Variant;
  if (name == "perceptron") return Perceptron(params);
  if (name == "normalized") return Normalized{params.eta0};
  if (name == "PA") return PassiveAggressive{{}, Variant::PA, params.C};
  if (name == "PA-I") return PassiveAggressive{{}, Variant::PA_I, params.C};
  if (name == "PA-II") return PassiveAggressive{{}, Variant::PA_II, params.C};
  if (name == "AROW") return Arow{{}, params.r};
  throw std::invalid_argument("rule='" + std::string(name) +
                              "': must be perceptron, normalized, PA, PA-I, PA-II or AROW");
}

}  // namespace rosenblatt
