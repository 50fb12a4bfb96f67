// A contest: learners that go over the same rows, epoch by epoch, judged by rows that were held out.
//
// Everything between two epochs happens here, for all of them in one call, so that on small data the choice of a
// learner costs little more than learning. Who goes on is for the caller to say.
//
// Invariant: a contestant does exactly what its learner would do alone on the same order of the same rows.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "generator.hpp"
#include "large.hpp"
#include "loops.hpp"
#include "pass.hpp"
#include "strips.hpp"

namespace rosenblatt {

// Rows to learn from, in another order every epoch, and rows to be judged by.
struct Fold {
  std::vector<std::uint32_t> training, held, order;
  Generator generator;

  static Order all_of(const std::vector<std::uint32_t>& rows) {
    return {rows.data(), static_cast<std::int64_t>(rows.size())};
  }
};

// How an epoch went.
struct Epoch {
  double accuracy;  // on the held-out rows, each counted with its sample weight; 0 without any
  double mistakes;
  double updates;
  double separates;       // 1: no mistake was made, and the weights separate the rows that were learned from
  double mistake_weight;  // the sample weights of the mistakes
  double finite;          // 1: all weights are
};

class Contest {
 public:
  struct Contestant {
    Fold& fold;
    std::string keep;
    OwnArrays arrays;
    Pass pass;

    StateView view(const Contest& contest) {
      return {arrays, keep, weight_rows(contest.task), contest.features, contest.fit_intercept, true};
    }
  };

  AnyRows rows;
  AnyTask task;
  std::int64_t features;
  bool fit_intercept;
  std::vector<std::unique_ptr<Fold>> folds;
  std::vector<std::unique_ptr<Contestant>> contestants;

  // One more contestant, from weights of 0.
  void add(std::size_t fold, const AnyRule& rule, const std::string& keep) {
    auto one = std::make_unique<Contestant>(Contestant{*folds[fold], keep, {}, {}});
    one->pass = make_pass(rows, task, {}, one->view(*this), rule, nullptr);
    visit_keep<double>(keep, [&]<class Keep>(std::type_identity<Keep>) {
      if (!Keep::is_weights)
        throw std::invalid_argument("keep='" + keep + "': in a contest the answer must be a weight vector");
    });
    const Counters none{.seen = 0,
                        .mistakes = 0,
                        .updates = 0,
                        .survived = 0,
                        .run = 0,
                        .checked = 1,
                        .pocket_is_current = 1,
                        .pocket_run = -1};
    *counters(*one) = none;
    contestants.push_back(std::move(one));
  }

  // The order of the next epoch, the same for all contestants of a fold.
  void shuffle() {
    for (auto& fold : folds) {
      fold->order.resize(fold->training.size());
      Strips(static_cast<std::int64_t>(fold->order.size()))
          .draw_order(fold->training.data(), fold->order.data(), fold->generator);
    }
  }

  // One epoch for some of the contestants.
  std::vector<Epoch> run(const std::vector<std::int64_t>& who, Poll& poll) {
    std::vector<Counters> before;
    std::vector<double> weight_before;
    for (std::int64_t k : who) {
      before.push_back(*counters(*contestants[k]));
      weight_before.push_back(*mistake_weight(*contestants[k]));
    }
    for (auto& fold : folds) {
      std::vector<const Pass*> together;
      for (std::int64_t k : who) {
        if (&contestants[k]->fold != fold.get()) continue;
        contestants[k]->pass.order = Fold::all_of(fold->order);
        together.push_back(&contestants[k]->pass);
      }
      run_together(together, poll);
    }
    std::vector<Epoch> epochs;
    for (std::size_t k = 0; k < who.size(); ++k) {
      Contestant& one = *contestants[who[k]];
      const std::int64_t mistakes = counters(one)->mistakes - before[k].mistakes;
      const std::int64_t updates = counters(one)->updates - before[k].updates;
      constexpr double any = std::numeric_limits<double>::min();
      const bool separates = mistakes == 0 && (updates == 0 || count_mistakes(rows, task, Fold::all_of(one.fold.order),
                                                                              one.view(*this), any, poll) == 0);
      epochs.push_back({accuracy(one, poll), static_cast<double>(mistakes), static_cast<double>(updates),
                        separates ? 1.0 : 0.0, *mistake_weight(one) - weight_before[k], is_finite(one) ? 1.0 : 0.0});
    }
    return epochs;
  }

  // The scores of the held-out rows by the answer so far, K per row.
  void held_scores(Contestant& one, double* out, Poll& poll) const {
    with_answer(one, [&]<class View>(const View& view, const Linear<View>& model) {
      Loops<View>::scores(view, Fold::all_of(one.fold.held), model, out, poll);
    });
  }

 private:
  static Counters* counters(Contestant& one) {
    return reinterpret_cast<Counters*>(one.arrays.get<std::int64_t>("counters", counter_count));
  }
  static double* mistake_weight(Contestant& one) { return one.arrays.get<double>("mistake_weight", 1); }

  static bool is_finite(const Contestant& one) {
    const auto all_finite = [](const auto& values) {
      return std::all_of(values.begin(), values.end(),
                         [](auto value) { return std::isfinite(static_cast<double>(value)); });
    };
    return std::visit(all_finite, one.arrays.all.find("weights")->second) &&
           std::visit(all_finite, one.arrays.all.find("intercept")->second);
  }

  // Calls f(rows, model) with the weights that the keep says are the answer.
  template <class F>
  void with_answer(Contestant& one, F&& f) const {
    std::visit(
        [&](const auto& view) {
          using View = std::decay_t<decltype(view)>;
          using T = typename View::Value;
          const State<T> state(one.view(*this));
          Large<T> weights;
          std::vector<double> intercept(state.K);
          if (!keep_answer(state, weights, intercept)) return f(view, Linear<View>(state));
          f(view, Linear<View>(weights.data(), intercept.data(), state.K));
        },
        rows);
  }

  // The weights that the keep says are the answer, unless the raw ones are: then nothing is written, and it is false.
  template <class T>
  static bool keep_answer(const State<T>& state, Large<T>& weights, std::vector<double>& intercept) {
    return visit_keep<T>(state.keep, [&]<class Keep>(std::type_identity<Keep>) {
      if constexpr (!Keep::is_weights || Keep::is_raw) return false;
      const Keep keep = Keep::of(state);
      weights.resize(state.K * state.features);
      for (std::size_t at = 0; at < weights.size(); ++at)
        weights[at] = static_cast<T>(keep.kept(state.weights, at, *state.counters));
      for (std::int64_t k = 0; k < state.K; ++k)
        intercept[k] = keep.kept_intercept(state.intercept, k, *state.counters);
      return true;
    });
  }

  double accuracy(Contestant& one, Poll& poll) const {
    double found = 0;
    with_answer(one, [&]<class View>(const View& view, const Linear<View>& model) {
      found = Loops<View>::accuracy(view, task, Fold::all_of(one.fold.held), model, poll);
    });
    return found;
  }
};

}  // namespace rosenblatt
