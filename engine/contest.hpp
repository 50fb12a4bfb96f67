// A contest: learners that go over the same rows, epoch by epoch, judged by rows that were held out.
//
// Everything between two epochs happens here, for all of them in one call, so that on small data the choice of a
// learner costs little more than learning. Who goes on is for the caller to say.
//
// Invariant: a contestant does exactly what its learner would do alone on the same order of the same rows.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <variant>
#include <vector>

#include "generator.hpp"
#include "large.hpp"
#include "second_order.hpp"
#include "together.hpp"

namespace rosenblatt {

struct ArowRule {
  double r;
};

// Rows to learn from, in another order every epoch, and rows to be judged by.
struct Fold {
  std::vector<std::uint32_t> training, held, order;
  Generator generator;
};

// How an epoch went.
struct Epoch {
  double accuracy;  // on the held-out rows, each counted with its sample weight; 0 without any
  double mistakes;
  double updates;
  double separates;  // 1: no mistake was made, and the weights separate the rows that were learned from
};

template <class Rows>
class Contest {
 public:
  using T = typename Rows::Value;
  using Rule = std::variant<PerceptronRule, PassiveAggressiveRule, ArowRule>;

  struct Contestant {
    const Contest* contest;
    const Fold* fold;
    Rule rule;
    bool average;
    Large<T> weights, variances;
    Large<double> sums;
    std::vector<double> intercept, intercept_sums, intercept_variances;
    Counters counters{0, 0, 0, 0, 0, 1, 1, -1};
    double mistake_weight = 0;

    Order order() const { return {fold->order.data(), static_cast<std::int64_t>(fold->order.size())}; }
    std::int64_t bytes_a_row() const { return contest->rows.values_a_row() * static_cast<std::int64_t>(sizeof(T)); }
    std::int64_t weight_bytes() const { return static_cast<std::int64_t>(weights.size() * sizeof(T)); }
    Linear<Rows, true> model() { return {weights.data(), intercept.data(), contest->K, contest->fit_intercept}; }

    void run(Part part, Poll& poll) {
      if (const auto* arow = std::get_if<ArowRule>(&rule)) {
        learn(part, poll, SecondOrder<Rows>{variances.data(), intercept_variances.data(), average ? sums.data() : nullptr,
                                            average ? intercept_sums.data() : nullptr, arow->r});
      } else if (const auto* perceptron = std::get_if<PerceptronRule>(&rule)) {
        with_keep(part, poll, *perceptron);
      } else {
        with_keep(part, poll, std::get<PassiveAggressiveRule>(rule));
      }
    }

   private:
    template <class Step>
    void with_keep(Part part, Poll& poll, const Step& step) {
      if (average)
        learn(part, poll, step, Average{sums.data(), contest->fit_intercept ? intercept_sums.data() : nullptr, contest->K});
      else
        learn(part, poll, step, Last{});
    }

    template <class... How>
    void learn(Part part, Poll& poll, How... how) {
      const Contest& c = *contest;
      if (c.K == 1)
        learn_binary(c.rows, c.signs, c.sample_weight, order(), part, model(), how..., false, counters, mistake_weight, poll);
      else
        learn_joint(c.rows, c.classes, c.sample_weight, order(), part, model(), how..., counters, mistake_weight, poll);
    }
  };

  Rows rows;
  const std::int8_t* signs;
  const std::int32_t* classes;
  const double* sample_weight;
  std::int64_t K;
  bool fit_intercept;
  std::vector<std::unique_ptr<Fold>> folds;
  std::vector<std::unique_ptr<Contestant>> contestants;

  void add(std::size_t fold, Rule rule, bool average) {
    auto one = std::make_unique<Contestant>(Contestant{this, folds[fold].get(), rule, average, {}, {}, {}, {}, {}, {}});
    const std::size_t size = K * rows.features;
    one->weights.assign(size, 0);
    one->intercept.assign(K, 0);
    if (average) {
      one->sums.assign(size, 0);
      one->intercept_sums.assign(K, 0);
    }
    if (std::holds_alternative<ArowRule>(rule)) {
      one->variances.assign(size, 1);
      one->intercept_variances.assign(K, 1);
    }
    contestants.push_back(std::move(one));
  }

  // The order of the next epoch, the same for all contestants of a fold.
  void shuffle() {
    for (auto& fold : folds) {
      fold->order = fold->training;
      rosenblatt::shuffle(fold->order.data(), static_cast<std::int64_t>(fold->order.size()), fold->generator);
    }
  }

  // One epoch for some of the contestants.
  std::vector<Epoch> run(const std::vector<std::int64_t>& who, Poll& poll) {
    std::vector<Counters> before;
    for (std::int64_t k : who) before.push_back(contestants[k]->counters);
    for (auto& fold : folds) {
      std::vector<Contestant*> together;
      for (std::int64_t k : who)
        if (contestants[k]->fold == fold.get()) together.push_back(contestants[k].get());
      run_together(together, poll);
    }
    std::vector<Epoch> epochs;
    Large<T> scratch;
    for (std::size_t k = 0; k < who.size(); ++k) {
      Contestant& one = *contestants[who[k]];
      const std::int64_t mistakes = one.counters.mistakes - before[k].mistakes;
      const std::int64_t updates = one.counters.updates - before[k].updates;
      const bool separates = mistakes == 0 && (updates == 0 || mistakes_of(one, poll) == 0);
      epochs.push_back({accuracy(one, scratch, poll), static_cast<double>(mistakes), static_cast<double>(updates),
                        separates ? 1.0 : 0.0});
    }
    return epochs;
  }

  // Epochs of one contestant, each in an order of its own, until it separates the rows.
  std::vector<Epoch> learn(std::int64_t who, std::int64_t most, Poll& poll) {
    std::vector<Epoch> epochs;
    while (static_cast<std::int64_t>(epochs.size()) < most && !poll() && (epochs.empty() || epochs.back().separates == 0)) {
      shuffle();
      epochs.push_back(run({who}, poll).front());
    }
    return epochs;
  }

  // The scores of the held-out rows by the answer so far, K a row.
  void held_scores(Contestant& one, double* out, Poll& poll) const {
    Large<T> weights;
    std::vector<T> raw(K);
    std::vector<double> intercept;
    const Linear<Rows> model = answer(one, weights, intercept);
    for_each_row(rows, held(one), K, poll, [&](std::int64_t i, std::int64_t next) INLINE_LAMBDA {
      if (K == 1)
        *out = static_cast<double>(rows.dot(i, model.weights, next)) + model.intercept[0];
      else
        model.scores(rows, i, raw.data(), out, next);
      out += K;
    });
  }

 private:
  static Order held(const Contestant& one) {
    return {one.fold->held.data(), static_cast<std::int64_t>(one.fold->held.size())};
  }

  double mistakes_of(Contestant& one, Poll& poll) const {
    constexpr double any = std::numeric_limits<double>::min();
    return K == 1 ? count_mistakes<Rows>(rows, signs, sample_weight, one.order(), one.model(), false, any, poll)
                  : count_mistakes_joint<Rows>(rows, classes, sample_weight, one.order(), one.model(), any, poll);
  }

  Linear<Rows> answer(Contestant& one, Large<T>& weights, std::vector<double>& intercept) const {
    if (!one.average) return one.model();
    const double seen = static_cast<double>(std::max<std::int64_t>(1, one.counters.seen));
    weights.resize(one.weights.size());
    for (std::size_t at = 0; at < weights.size(); ++at)
      weights[at] = static_cast<T>(static_cast<double>(one.weights[at]) - one.sums[at] / seen);
    intercept.resize(K);
    for (std::int64_t k = 0; k < K; ++k) intercept[k] = one.intercept[k] - one.intercept_sums[k] / seen;
    return {weights.data(), intercept.data(), K, fit_intercept};
  }

  double accuracy(Contestant& one, Large<T>& weights, Poll& poll) const {
    const Order order = held(one);
    if (order.count == 0) return 0.0;
    std::vector<T> raw(K);
    std::vector<double> intercept, scores(K);
    const Linear<Rows> model = answer(one, weights, intercept);
    double right = 0, all = 0;
    for_each_row(rows, order, K, poll, [&](std::int64_t i, std::int64_t next) INLINE_LAMBDA {
      bool is_right;
      if (K == 1) {
        is_right = (static_cast<double>(rows.dot(i, model.weights, next)) + model.intercept[0] >= 0) == (signs[i] > 0);
      } else {
        model.scores(rows, i, raw.data(), scores.data(), next);
        is_right = std::max_element(scores.begin(), scores.end()) - scores.begin() == classes[i];
      }
      const double weight = sample_weight ? sample_weight[i] : 1.0;
      all += weight;
      if (is_right) right += weight;
    });
    return right / all;
  }
};

}  // namespace rosenblatt
