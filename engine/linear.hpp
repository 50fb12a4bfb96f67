// The one linear loop: Task x Rows, with the rule and the keep chosen at run time.
//
// On entry: the arrays of a state, targets in range, an order of rows or none.
// On exit: the same arrays, one pass later. Nothing else is read or kept, so a pass may be cut anywhere.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ahead.hpp"
#include "example.hpp"
#include "loops.hpp"
#include "steps.hpp"
#include "threads.hpp"
#include "widened.hpp"

namespace rosenblatt {

// Calls visit(i, scores), one score per weight row, for a part of an order. `shrunk`: the model's weights, where a
// penalty shrinks them. A visit that may change them says which.
template <bool one, class Rows, class Visit>
ALWAYS_INLINE void for_each_score(const Rows& rows, Order order, Part part, const Linear<Rows> model, Poll& poll,
                                  const Shrunk<typename Rows::Value>* shrunk, Visit&& visit) {
  if constexpr (one) {
    for_each_row(rows, order, part, 1, poll, [&](std::int64_t i, std::int64_t next) INLINE_LAMBDA {
      const double product =
          shrunk ? shrunk->product(rows, i, next) : static_cast<double>(rows.dot(i, model.weights, next));
      const double score = product + model.intercept[0];
      visit(i, &score);
    });
  } else {
    Ahead<Rows> ahead(rows, order, part, model.weights, model.K);
    std::vector<double> scores(model.K);
    std::vector<typename Rows::Value> products(shrunk ? model.K : 0);
    for_each_row(rows, order, part, model.K, poll, [&](std::int64_t i, std::int64_t) INLINE_LAMBDA {
      if (shrunk) {
        shrunk->products(rows, i, products.data(), scores.data());
      } else {
        const auto* raw = ahead.scores(i);
        for (std::int64_t k = 0; k < model.K; ++k) scores[k] = static_cast<double>(raw[k]);
      }
      for (std::int64_t k = 0; k < model.K; ++k) scores[k] += model.intercept[k];
      if constexpr (std::is_void_v<decltype(visit(i, scores.data()))>)
        visit(i, scores.data());
      else
        ahead.take_again(visit(i, scores.data()));
    });
  }
}

// The same, where nothing shrinks.
template <bool one, class Rows, class Visit>
ALWAYS_INLINE void for_each_score(const Rows& rows, Order order, Part part, const Linear<Rows> model, Poll& poll,
                                  Visit&& visit) {
  for_each_score<one>(rows, order, part, model, poll, nullptr, visit);
}

// The same whatever the model.
template <class Rows, class Visit>
void for_each_score(const Rows& rows, Order order, Part part, const Linear<Rows>& model, Poll& poll, Visit&& visit) {
  if (model.K == 1)
    for_each_score<true>(rows, order, part, model, poll, visit);
  else
    for_each_score<false>(rows, order, part, model, poll, visit);
}

// The mistakes of a model on the rows, each counted with its sample weight; it may stop once `limit` is reached.
template <class Rows, class Task>
[[gnu::noinline]] double count_mistakes(const Rows& rows, const Task& task, Order order, const Linear<Rows>& model,
                                        double limit, Poll& poll, double found = 0) {
  for_each_score<Task::one_row>(rows, order, {0, order.count}, model, poll,
                                [&](std::int64_t i, const double* scores) INLINE_LAMBDA {
                                  if (found < limit && task.of(scores, i).mistake) found += task.weight(i);
                                });
  return found;
}

// Learns from a part of the order; a pocket is checked on all of it. `watched`: the keep hears of every example, not
// only of updates.
template <bool watched, class Rows, class Task, class Rule, class Keep>
void learn_as(const Rows& given_rows, const Task& given, Order order, Part part,
              const State<typename Rows::Value> state, const Rule& rule, Keep& keep, Poll& poll,
              const Whole<Rows>* whole) {
  using T = typename Rows::Value;
  const Rows& rows = given_rows;
  const Task task = given;
  Counters c = *state.counters;
  double mistake_weight = *state.mistake_weight;
  const Steps<Rows, Task, Rule, Keep> steps{given_rows, state, rule, keep};
  const double reach = reach_of(rule);
  Shrunk<T>* shrunk = nullptr;
  if constexpr (watched) shrunk = std::get_if<Shrunk<T>>(&keep);
  if (shrunk) shrunk->come_to(c.seen);
  const auto check = [&](double limit) {
    if (whole)
      return Loops<Rows>::count_mistakes(whole->rows, whole->task, whole->order, Linear<Rows>(state), limit,
                                         whole->poll);
    return count_mistakes(given_rows, given, order, Linear<Rows>(state), limit, poll);
  };
  for_each_score<Task::one_row>(
      rows, order, part, Linear<Rows>(state), poll, shrunk, [&](std::int64_t i, const double* scores) INLINE_LAMBDA {
        const Verdict verdict = task.of(scores, i);
        [[maybe_unused]] const bool update = learn_example(
            task, reach, i, verdict, watched && shrunk, c, mistake_weight,
            [&](std::int64_t at, const Verdict& judged, double weight, const Counters& counted)
                INLINE_LAMBDA { return steps.take(at, judged, weight, counted); },
            [&](Counters& counted, bool mistake, bool changed) INLINE_LAMBDA {
              if constexpr (watched)
                std::visit([&](auto& kept) { kept.after(counted, mistake, changed, check); }, keep);
            });
        if constexpr (!Task::one_row) return update ? Changed{verdict.gain, verdict.lose} : Changed{};
      });
  *state.counters = c;
  *state.mistake_weight = mistake_weight;
}

// Rows and targets for which the perceptron and its average have loops of their own, a tenth shorter.
template <class Rows, class Task>
inline constexpr bool is_common = !std::is_same_v<Task, Number>;
template <class T, class Task>
inline constexpr bool is_common<SparseRows<T, std::int64_t>, Task> = false;

template <class Rows>
void Loops<Rows>::learn(const Rows& rows, const AnyTask& task, Order order, Part part, const State<T>& state,
                        const RuleOf<T>& rule, KeepOf<T>& keep, Poll& poll, const Whole<Rows>* whole) {
  if constexpr (!Rows::sparse) {
    if (rows.stored) {
      const Whole<Rows> all{rows, task, order, poll};
      Poll inner;
      return for_each_block(rows, order, part, poll, [&](Block<T>& block) {
        const std::size_t logged = state.log ? state.log->rows.size() : 0;
        const Order among = block.order();
        learn(block.rows(), block.task(task), among, {0, among.count}, state, rule, keep, inner, &all);
        for (std::size_t k = logged; state.log && k < state.log->rows.size(); ++k)
          state.log->rows[k] = block.row_of(state.log->rows[k]);
      });
    }
  }
  const bool watches = std::visit([](const auto& kept) { return kept.watches; }, keep);
  std::visit(
      [&](const auto& given) {
        using Task = std::decay_t<decltype(given)>;
        if constexpr (is_common<Rows, Task>) {
          const auto* perceptron = std::get_if<Perceptron>(&rule);
          auto* last = std::get_if<Last>(&keep);
          auto* average = std::get_if<Average>(&keep);
          if (perceptron && last)
            return learn_as<false>(rows, given, order, part, state, *perceptron, *last, poll, whole);
          if (perceptron && average)
            return learn_as<false>(rows, given, order, part, state, *perceptron, *average, poll, whole);
        }
        if (watches)
          learn_as<true>(rows, given, order, part, state, rule, keep, poll, whole);
        else
          learn_as<false>(rows, given, order, part, state, rule, keep, poll, whole);
      },
      task);
}

template <class Rows>
double Loops<Rows>::count_mistakes(const Rows& rows, const AnyTask& task, Order order, const Linear<Rows>& model,
                                   double limit, Poll& poll, double found) {
  if constexpr (!Rows::sparse) {
    if (rows.stored) {
      Poll inner;
      for_each_block(rows, order, {0, order.count}, poll, [&](Block<T>& block) {
        if (found < limit)
          found = count_mistakes(block.rows(), block.task(task), block.order(), model, limit, inner, found);
      });
      return found;
    }
  }
  return std::visit(
      [&](const auto& given) { return rosenblatt::count_mistakes(rows, given, order, model, limit, poll, found); },
      task);
}

template <class Rows>
void Loops<Rows>::add_share(const Rows& rows, const AnyTask& task, Order order, const Linear<Rows>& model, Poll& poll,
                            Share& share) {
  if constexpr (!Rows::sparse) {
    if (rows.stored) {
      Poll inner;
      return for_each_block(rows, order, {0, order.count}, poll, [&](Block<T>& block) {
        add_share(block.rows(), block.task(task), block.order(), model, inner, share);
      });
    }
  }
  const auto count = [&](const auto& given) {
    for_each_score<std::decay_t<decltype(given)>::one_row>(rows, order, {0, order.count}, model, poll,
                                                           [&](std::int64_t i, const double* scores) {
                                                             share.all += given.weight(i);
                                                             if (given.is_right(scores, i))
                                                               share.right += given.weight(i);
                                                           });
  };
  std::visit(count, task);
}

template <class Rows>
double Loops<Rows>::accuracy(const Rows& rows, const AnyTask& task, Order order, const Linear<Rows>& model,
                             Poll& poll) {
  if (order.count == 0) return 0.0;
  Share share;
  add_share(rows, task, order, model, poll, share);
  return share.right / share.all;
}

template <class Rows>
void Loops<Rows>::scores(const Rows& rows, Order order, const Linear<Rows>& model, double* out, Poll& poll) {
  run_in_parts(order.count, order.count * rows.values_a_row() * model.K, poll, [&](Part part, Poll& asked) {
    double* at = out + part.begin * model.K;
    const auto write = [&](std::int64_t, const double* found) { at = std::copy_n(found, model.K, at); };
    if constexpr (!Rows::sparse) {
      if (rows.stored) {
        Poll inner;
        return for_each_block(rows, order, part, asked, [&](Block<T>& block) {
          const Order among = block.order();
          for_each_score(block.rows(), among, {0, among.count}, model, inner, write);
        });
      }
    }
    for_each_score(rows, order, part, model, asked, write);
  });
}

}  // namespace rosenblatt
