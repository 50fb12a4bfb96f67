// A separating hyperplane as soon as possible.
//
// The mistake bound holds for any order of the rows, so the order may be chosen: cycle over the rows that were ever
// mistaken until they are all right, and look at all rows only to verify. Those few rows are kept side by side, so that
// a cycle runs from the cache.
//
// On entry: weights and intercept to start from. On exit: weights that separate the rows if `converged`; the last pass
// over all rows changed nothing then. Not converged proves nothing.
#pragma once

#include <cstdint>
#include <vector>

#include "loops.hpp"

namespace rosenblatt {

// Copies of some rows, side by side.
template <class Rows>
class Gathered;

template <class T>
class Gathered<DenseRows<T>> {
 public:
  void add(const DenseRows<T>& rows, std::int64_t i) {
    values_.insert(values_.end(), rows.row(i), rows.row(i) + rows.features);
    features_ = rows.features;
    ++count_;
  }
  DenseRows<T> view() const { return {values_.data(), count_, features_, features_}; }

 private:
  std::vector<T> values_;
  std::int64_t count_ = 0, features_ = 0;
};

template <class T>
class Gathered<SparseRows<T>> {
 public:
  void add(const SparseRows<T>& rows, std::int64_t i) {
    const std::int64_t begin = rows.starts[i], end = rows.starts[i + 1];
    values_.insert(values_.end(), rows.values + begin, rows.values + end);
    columns_.insert(columns_.end(), rows.columns + begin, rows.columns + end);
    starts_.push_back(static_cast<std::int64_t>(values_.size()));
    features_ = rows.features;
  }
  SparseRows<T> view() const {
    return {values_.data(), columns_.data(), starts_.data(), static_cast<std::int64_t>(starts_.size()) - 1, features_};
  }

 private:
  std::vector<T> values_;
  std::vector<std::int32_t> columns_;
  std::vector<std::int64_t> starts_{0};
  std::int64_t features_ = 0;
};

struct Separation {
  std::int64_t updates = 0;
  std::int64_t passes = 0;   // over all rows
  std::int64_t visits = 0;   // rows looked at, in all
  std::int64_t support = 0;  // rows ever mistaken
  bool converged = false;
};

template <class Rows>
Separation separate(const Rows& rows, const std::int8_t* signs, typename Rows::Value* w, double& b, bool fit_intercept,
                    std::int64_t max_updates, StopToken& stop) {
  using T = typename Rows::Value;
  Separation found;
  Gathered<Rows> mistaken;
  std::vector<std::int8_t> mistaken_signs;
  std::vector<bool> gathered(rows.count);

  // The perceptron's step on row i of either the rows or the gathered ones; was it needed?
  const auto corrected = [&](const Rows& from, std::int64_t i, int sign) {
    if (sign * (static_cast<double>(from.dot(i, w)) + b) > 0) return false;
    from.add_to(i, static_cast<T>(sign), w, 0, 1);
    if (fit_intercept) b += sign;
    ++found.updates;
    return true;
  };

  bool hopeless = false;  // a row of zeros without an intercept stays at a score of 0
  while (!hopeless && found.updates < max_updates) {
    const std::int64_t before = found.updates;
    for_each_row(rows, {nullptr, rows.count}, {0, rows.count}, 1, stop,
                 [&](std::int64_t i, std::int64_t) INLINE_LAMBDA {
                   if (!corrected(rows, i, signs[i]) || gathered[i]) return;
                   hopeless = hopeless || (!fit_intercept && rows.is_zero(i));
                   gathered[i] = true;
                   mistaken.add(rows, i);
                   mistaken_signs.push_back(signs[i]);
                 });
    found.visits += rows.count;
    ++found.passes;
    if (stop.stopped) break;
    if (found.updates == before) {
      found.converged = true;
      break;
    }
    const Rows few = mistaken.view();
    bool moved = !hopeless;
    while (moved && found.updates < max_updates && !stop()) {
      moved = false;
      for (std::int64_t i = 0; i < few.count; ++i) moved |= corrected(few, i, mistaken_signs[i]);
      found.visits += few.count;
    }
  }
  found.support = static_cast<std::int64_t>(mistaken_signs.size());
  return found;
}

}  // namespace rosenblatt
