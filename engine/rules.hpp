// How far to step along an example of margin m (see tasks.hpp). A rule answers three questions:
//   update_threshold()  if m is above this there is no step, and no mistake either
//   wants(m, mistake)   is there a step at all?
//   step(l, q, s)       tau, where l is the loss, s the sample weight, and q = ‖x‖² (+1 with an intercept, twice that
//                       with more classes) or, for a second-order rule, the variance of the margin
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>

namespace rosenblatt {

// The value of an enumeration whose names are these, in its order.
template <class Enum, std::size_t count>
Enum to_enum(const char* what, std::string_view name, const std::string_view (&names)[count]) {
  const auto* const found = std::find(names, names + count, name);
  if (found != names + count) return static_cast<Enum>(found - names);
  std::string sentence = std::string(what) + "='" + std::string(name) + "': must be one of ";
  for (std::size_t at = 0; at < count; ++at) sentence.append(at ? ", " : "").append(names[at]);
  throw std::invalid_argument(sentence);
}

struct Rule {
  enum class Kind { perceptron, normalized, PA, PA_I, PA_II, AROW };
  static constexpr std::string_view names[] = {"perceptron", "normalized", "PA", "PA-I", "PA-II", "AROW"};

  Kind kind = Kind::perceptron;
  double eta0 = 1.0, C = 1.0, r = 1.0;
  double threshold = -std::numeric_limits<double>::infinity();  // margins up to this ask for a step without a mistake

  bool second_order() const { return kind == Kind::AROW; }
  bool needs_norm() const { return kind != Kind::perceptron; }  // of q: else it only matters whether it is above 0
  double update_threshold() const { return std::fmax(threshold, 0.0); }
  bool wants(double margin, bool mistake) const { return mistake | (margin <= threshold); }

  // perceptron s eta0; normalized s eta0 / q: the step is 1/‖x‖ long, whatever the length of the row; PA l/q,
  // PA-I min(s C, l/q), PA-II l/(q + 1/(2 s C)); AROW l beta with beta = 1/(v + r/s): see arow.hpp.
  double step(double loss, double q, double weight) const {
    double tau = 0;
    switch (kind) {
      case Kind::perceptron: return weight * eta0;
      case Kind::normalized: tau = weight * eta0 / q; break;
      case Kind::PA: tau = loss / q; break;
      case Kind::PA_I: tau = std::fmin(weight * C, loss / q); break;
      case Kind::PA_II: tau = loss / (q + 1.0 / (2.0 * weight * C)); break;
      case Kind::AROW: tau = loss * confidence(q, weight); break;
    }
    return tau <= std::numeric_limits<double>::max() ? tau : 0.0;  // a row too short to step along
  }
  double confidence(double v, double weight) const { return 1.0 / (v + r / weight); }
};

inline Rule make_rule(std::string_view name, double eta0 = 1.0, double beta = 0.0, double C = 1.0, double r = 1.0) {
  Rule rule{to_enum<Rule::Kind>("rule", name, Rule::names), eta0, C, r};
  if (rule.kind == Rule::Kind::perceptron) {
    if (beta > 0) rule.threshold = beta;
  } else if (rule.kind != Rule::Kind::normalized) {  // which steps on a mistake only
    rule.threshold = 1.0;
  }
  return rule;
}

}  // namespace rosenblatt
