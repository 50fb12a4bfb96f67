// The one linear loop: Rule x Keep x Rows, with two classes and, jointly, with more.
//
// On entry: weights, intercept and counters of a state (plain arrays), labels in range, an order of rows or none.
// On exit: the same arrays, one pass later. Nothing else is read or kept, so a pass may be cut anywhere.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "keep.hpp"
#include "rows.hpp"
#include "rules.hpp"

namespace rosenblatt {

// Asked between blocks of rows whether to stop; a block takes some ten milliseconds.
struct Poll {
  bool (*ask)(void*);
  void* context;
  bool stopped = false;

  bool operator()() { return stopped = stopped || ask(context); }

  static std::int64_t rows_a_block(std::int64_t values_a_row, std::int64_t K) {
    return std::max<std::int64_t>(1, (std::int64_t{1} << 25) / (values_a_row * K + 8));
  }
};

// A stretch of an order: the places from begin to end.
struct Part {
  std::int64_t begin;
  std::int64_t end;
};

// The rows of a pass: index[0..count), or 0..count in order where index is null.
struct Order {
  const std::uint32_t* index;
  std::int64_t count;

  std::int64_t operator[](std::int64_t at) const { return index ? index[at] : at; }
};

// Calls visit(i, next) for every row in a part of the order, fetching ahead where the order jumps (else next is -1);
// stops when the poll says so.
template <class Rows, class Visit>
ALWAYS_INLINE void for_each_row(const Rows& rows, Order order, Part part, std::int64_t K, Poll& poll, Visit&& visit) {
  const std::int64_t block = Poll::rows_a_block(rows.values_a_row(), K);
  for (std::int64_t begin = part.begin; begin < part.end && !poll(); begin += block) {
    const std::int64_t end = std::min(part.end, begin + block), last = order.count - 1;
    if (!order.index) {
      for (std::int64_t at = begin; at < end; ++at) visit(at, -1);
      continue;
    }
    for (std::int64_t at = begin; at < end; ++at) {
      rows.prefetch_bounds(order.index[std::min(at + 2 * prefetch_distance, last)]);
      rows.prefetch(order.index[std::min(at + prefetch_distance, last)]);
      visit(order.index[at], order.index[std::min(at + 1, last)]);
    }
  }
}

template <class Rows, class Visit>
ALWAYS_INLINE void for_each_row(const Rows& rows, Order order, std::int64_t K, Poll& poll, Visit&& visit) {
  for_each_row(rows, order, Part{0, order.count}, K, poll, visit);
}

// With tie_positive a score of 0 reads as +1, so it is a mistake only on a negative row.
inline bool is_mistake(double score, int sign, bool tie_positive) {
  return tie_positive ? (score >= 0) != (sign > 0) : !(sign * score > 0);
}

// The highest wrong class, the first if several tie.
inline std::int64_t highest_wrong(const double* scores, std::int64_t K, std::int64_t right) {
  std::int64_t wrong = right == 0 ? 1 : 0;
  for (std::int64_t k = wrong + 1; k < K; ++k)
    if (k != right && scores[k] > scores[wrong]) wrong = k;
  return wrong;
}

// K weight rows and intercepts: to read, or also to change.
template <class Rows, bool changeable = false>
struct Linear {
  using T = typename Rows::Value;
  std::conditional_t<changeable, T, const T>* weights;
  std::conditional_t<changeable, double, const double>* intercept;
  std::int64_t K;
  bool fit_intercept;

  operator Linear<Rows, false>() const
    requires changeable
  {
    return {weights, intercept, K, fit_intercept};
  }

  // Scores of row i for all K weight rows; `raw` and `out` hold K values.
  void scores(const Rows& rows, std::int64_t i, T* raw, double* out, std::int64_t next = -1) const {
    rows.scores(i, weights, K, raw, next);
    for (std::int64_t k = 0; k < K; ++k) out[k] = static_cast<double>(raw[k]) + intercept[k];
  }
};

// The mistakes of a model on the rows, each counted with its sample weight; it may stop once `limit` is reached.
template <class Rows>
[[gnu::noinline]] double count_mistakes(const Rows& rows, const std::int8_t* signs, const double* sample_weight,
                                        Order order, Linear<Rows> model, bool tie_positive, double limit, Poll& poll) {
  const double b = model.intercept[0];
  double found = 0;
  for_each_row(rows, order, 1, poll, [&](std::int64_t i, std::int64_t next) INLINE_LAMBDA {
    if (found >= limit) return;
    if (is_mistake(static_cast<double>(rows.dot(i, model.weights, next)) + b, signs[i], tie_positive))
      found += sample_weight ? sample_weight[i] : 1.0;
  });
  return found;
}

template <class Rows>
[[gnu::noinline]] double count_mistakes_joint(const Rows& rows, const std::int32_t* labels, const double* sample_weight,
                                              Order order, Linear<Rows> model, double limit, Poll& poll) {
  std::vector<typename Rows::Value> raw(model.K);
  std::vector<double> scores(model.K);
  double found = 0;
  for_each_row(rows, order, model.K, poll, [&](std::int64_t i, std::int64_t next) INLINE_LAMBDA {
    if (found >= limit) return;
    model.scores(rows, i, raw.data(), scores.data(), next);
    if (!(scores[labels[i]] - scores[highest_wrong(scores.data(), model.K, labels[i])] > 0))
      found += sample_weight ? sample_weight[i] : 1.0;
  });
  return found;
}

// q = ‖x‖² + 1 with an intercept; rules that ignore it only need to know whether it is 0.
template <class Rule, class Rows>
double extended_squared_norm(const Rows& rows, std::int64_t i, bool fit_intercept) {
  if constexpr (Rule::needs_norm) return static_cast<double>(rows.squared_norm(i)) + (fit_intercept ? 1.0 : 0.0);
  return fit_intercept || !rows.is_zero(i) ? 1.0 : 0.0;
}

// Learns from a part of the order; a pocket is checked on all of it. mistake_weight grows by the sample weight of every
// mistake.
template <class Rows, class Rule, class Keep>
void learn_binary(const Rows& rows, const std::int8_t* signs, const double* sample_weight, Order order, Part part,
                  Linear<Rows, true> model, const Rule& rule, Keep& keep, bool tie_positive, Counters& counters,
                  double& mistake_weight, Poll& poll) {
  using T = typename Rows::Value;
  T* const w = model.weights;
  double b = model.intercept[0];
  const double reach = rule.reach();
  Counters c = counters;  // in registers until the end
  const auto check = [&](double limit) {
    return count_mistakes<Rows>(rows, signs, sample_weight, order, model, tie_positive, limit, poll);
  };
  for_each_row(rows, order, part, 1, poll, [&](std::int64_t i, std::int64_t next) INLINE_LAMBDA {
    const int sign = signs[i];
    const double score = static_cast<double>(rows.dot(i, w, next)) + b;
    const double margin = sign * score;
    bool mistake = false, update = false;
    if (!(margin > reach) && rule.wants(margin, mistake = is_mistake(score, sign, tie_positive))) {
      const double q = extended_squared_norm<Rule>(rows, i, model.fit_intercept);
      const double weight = sample_weight ? sample_weight[i] : 1.0;
      const double tau = q > 0 ? rule.step(margin, q, weight) : 0.0;
      update = tau != 0;
      if (update) {
        const double step = tau * sign;
        keep.before_update(rows, i, step, 0, -1, c);
        rows.add_to(i, static_cast<T>(step), w, 0, 1);
        if (model.fit_intercept) b += step;
        model.intercept[0] = b;
      }
      c.updates += update;
      c.mistakes += mistake;
      if (mistake) mistake_weight += weight;
    }
    c.survived = update ? 1 : c.survived + 1;
    ++c.seen;
    keep.after(c, mistake, update, check);
  });
  counters = c;
}

template <class Rows, class Rule, class Keep>
void learn_joint(const Rows& rows, const std::int32_t* labels, const double* sample_weight, Order order, Part part,
                 Linear<Rows, true> model, const Rule& rule, Keep& keep, Counters& counters, double& mistake_weight,
                 Poll& poll) {
  using T = typename Rows::Value;
  const std::int64_t K = model.K;
  Counters c = counters;  // in registers until the end
  std::vector<T> raw(K);
  std::vector<double> scores(K);
  const auto check = [&](double limit) {
    return count_mistakes_joint<Rows>(rows, labels, sample_weight, order, model, limit, poll);
  };
  for_each_row(rows, order, part, K, poll, [&](std::int64_t i, std::int64_t next) INLINE_LAMBDA {
    const std::int64_t right = labels[i];
    model.scores(rows, i, raw.data(), scores.data(), next);
    const std::int64_t wrong = highest_wrong(scores.data(), K, right);
    const double margin = scores[right] - scores[wrong];
    const bool mistake = !(margin > 0);
    bool update = false;
    if (rule.wants(margin, mistake)) {
      const double q = 2 * extended_squared_norm<Rule>(rows, i, model.fit_intercept);
      const double weight = sample_weight ? sample_weight[i] : 1.0;
      const double tau = q > 0 ? rule.step(margin, q, weight) : 0.0;
      update = tau != 0;
      if (update) {
        keep.before_update(rows, i, tau, right, wrong, c);
        rows.add_to(i, static_cast<T>(tau), model.weights, right, K);
        rows.add_to(i, static_cast<T>(-tau), model.weights, wrong, K);
        if (model.fit_intercept) {
          model.intercept[right] += tau;
          model.intercept[wrong] -= tau;
        }
      }
      c.updates += update;
      c.mistakes += mistake;
      if (mistake) mistake_weight += weight;
    }
    c.survived = update ? 1 : c.survived + 1;
    ++c.seen;
    keep.after(c, mistake, update, check);
  });
  counters = c;
}

}  // namespace rosenblatt
