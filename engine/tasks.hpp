// What an example asks for: the seam between kinds of targets and the loops.
//
// A task answers from the scores of an example, one per weight row:
//   of(scores, i)   the verdict on row i
//   weight(i)       its sample weight
//   weight_rows()   how many rows of weights there are
// and says `one_row` (is there a single weight row?) and `norms` (q is so many times ‖x‖²).
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <variant>

namespace rosenblatt {

// On an update weight row `target_row` moves by tau * direction along the example, and `rival_row`, unless it is -1, by
// as much the other way.
struct Verdict {
  double margin, loss, direction;
  bool mistake;
  std::int64_t target_row, rival_row;
};

struct Weighted {
  const double* sample_weight;  // null: 1 for every row
  double weight(std::int64_t i) const { return sample_weight ? sample_weight[i] : 1.0; }
};

struct OneWeightRow : Weighted {
  static constexpr bool one_row = true;
  static constexpr double norms = 1.0;
  std::int64_t weight_rows() const { return 1; }
};

// Labels -1 and +1; the margin is label times score. With tie_positive a score of 0 reads as +1, so it is a mistake
// only on a negative row.
struct Binary : OneWeightRow {
  const std::int8_t* signs;
  bool tie_positive;

  Verdict of(const double* scores, std::int64_t i) const {
    const int sign = signs[i];
    const double margin = sign * scores[0];
    // Without a branch, so that it is left until it is asked for.
    const bool mistake = (tie_positive & ((scores[0] >= 0) != (sign > 0))) | (!tie_positive & !(margin > 0));
    return {margin, 1.0 - margin, static_cast<double>(sign), mistake, 0, -1};
  }
};

// K classes learned jointly; the margin is the right score less the highest wrong one.
struct Multiclass : Weighted {
  static constexpr bool one_row = false;
  static constexpr double norms = 2.0;
  const std::int32_t* classes;  // of each example, by its weight row
  std::int64_t K;
  const std::int32_t* order = nullptr;  // the weight row of each class; null: they are in the order of the classes

  std::int64_t weight_rows() const { return K; }
  Verdict of(const double* scores, std::int64_t i) const {
    const auto row_of = [&](std::int64_t place) { return order ? order[place] : place; };
    const std::int64_t right = classes[i];
    std::int64_t wrong = row_of(right == row_of(0) ? 1 : 0);  // the highest wrong class, the first if several tie
    for (std::int64_t place = 1; place < K; ++place)
      if (const std::int64_t k = row_of(place); k != right && scores[k] > scores[wrong]) wrong = k;
    const double margin = scores[right] - scores[wrong];
    return {margin, 1.0 - margin, 1.0, !(margin > 0), right, wrong};
  }
};

// A real-valued target, right within epsilon (Crammer et al. 2006, section 5): the loss is |y - score| - epsilon if
// that is above 0. There is no margin: it is the negative loss, or infinite without one.
struct Regression : OneWeightRow {
  const double* targets;
  double epsilon;

  Verdict of(const double* scores, std::int64_t i) const {
    const double away = targets[i] - scores[0], loss = std::fmax(0.0, std::fabs(away) - epsilon);
    const bool mistake = loss > 0;
    return {mistake ? -loss : std::numeric_limits<double>::infinity(), loss, away < 0 ? -1.0 : 1.0, mistake, 0, -1};
  }
};

using AnyTask = std::variant<Binary, Multiclass, Regression>;

inline std::int64_t weight_rows(const AnyTask& task) {
  return std::visit([](const auto& t) { return t.weight_rows(); }, task);
}
inline Verdict verdict_of(const AnyTask& task, const double* scores, std::int64_t i) {
  return std::visit([&](const auto& t) { return t.of(scores, i); }, task);
}
inline double sample_weight_of(const AnyTask& task, std::int64_t i) {
  return std::visit([&](const auto& t) { return t.weight(i); }, task);
}

}  // namespace rosenblatt
