// The one kernel loop: a score is a sum over the updates so far, score(x) = sum_u step_u (K(x_u, x) + bias).
//
// Invariant: the score of every row is the sum over the log of updates in its order, one addition an update, however
// far behind it is. So rows may catch up when they are next looked at, 32 at a time and with all the updates that they
// missed: every kernel value is needed once an epoch, and a panel stays in the cache while it is needed.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kernel.hpp"
#include "predict.hpp"

namespace rosenblatt {

// Scores of a panel: class after class, 32 rows side by side.
class PanelScores {
 public:
  explicit PanelScores(std::int64_t K) : K_(K), values_(K * panel_rows) {}

  double* of_class(std::int64_t k) { return values_.data() + k * panel_rows; }
  double at(std::int64_t k, int r) const { return values_[k * panel_rows + r]; }

  void add(const double* kernel, double bias, double step, std::int64_t target, std::int64_t rival) {
    double* up = of_class(target);
    for (int r = 0; r < panel_rows; ++r) up[r] += step * (kernel[r] + bias);
    if (rival < 0) return;
    double* down = of_class(rival);
    for (int r = 0; r < panel_rows; ++r) down[r] -= step * (kernel[r] + bias);
  }

  void load(const double* scores, const std::uint32_t* index, int count) {
    for (int r = 0; r < count; ++r)
      for (std::int64_t k = 0; k < K_; ++k) of_class(k)[r] = scores[index[r] * K_ + k];
  }
  void store(double* scores, const std::uint32_t* index, int count) const {
    for (int r = 0; r < count; ++r)
      for (std::int64_t k = 0; k < K_; ++k) scores[index[r] * K_ + k] = at(k, r);
  }

 private:
  std::int64_t K_;
  std::vector<double> values_;
};

// Calls visit(index, count) for the rows of an order, a panel at a time.
template <class Visit>
void for_each_panel(Order order, StopToken& stop, Visit&& visit) {
  std::uint32_t index[panel_rows];
  for (std::int64_t begin = 0; begin < order.count && !stop(); begin += panel_rows) {
    const int count = static_cast<int>(std::min<std::int64_t>(panel_rows, order.count - begin));
    for (int r = 0; r < count; ++r) index[r] = static_cast<std::uint32_t>(order[begin + r]);
    visit(index, count);
  }
}

// One step of a rule in a space: q(rule, i) is how long the example is there (0: nothing to step along), and
// move(i, step, verdict, counters) steps along it. Was there a step?
template <class Space>
bool take_step(const AnyRule& rule, std::int64_t i, const Verdict& verdict, double weight, Space& space,
               const Counters& c) {
  return visit_first_order<bool>(rule, [&](const auto& chosen) {
    if (!chosen.wants(verdict.margin, verdict.mistake)) return false;
    const double q = space.q(chosen, i);
    const double tau = q > 0 ? chosen.step(verdict.loss, q, weight) : 0.0;
    if (tau != 0) space.move(i, tau * verdict.direction, verdict, c);
    return tau != 0;
  });
}

// K(x, x) may be negative: a rule that ignores q steps along any row that is not 0.
template <class Rule>
double length_for(const Rule&, double q) {
  return Rule::needs_norm ? q : q != 0 ? 1.0 : 0.0;
}

// Learning on one table. Scores of rows that fell behind the log are brought up when they are needed.
class DualRun {
 public:
  // start: scores of all rows by what was learned before, row after row.
  DualRun(Source& source, const AnyTask& task, double bias, std::vector<double> start)
      : source_(source), task_(task), K_(weight_rows(task)), bias_(bias), scores_(std::move(start)),
        applied_(source.count(), 0) {}

  const Log& log() const { return log_; }
  // How many of the updates made the weights in the pocket; -1: none was put there.
  std::int64_t pocket() const { return pocket_; }

  // One pass over the order. ratchet: null unless the keep is the pocket; mistake_weight grows by the sample weight of
  // every mistake.
  void learn(Order order, const AnyRule& rule, const Ratchet* ratchet, Counters& c, double& mistake_weight,
             StopToken& stop) {
    if (follows_other_order(order)) catch_up({previous_.data(), static_cast<std::int64_t>(previous_.size())}, stop);
    remember(order);
    const double threshold =
        visit_first_order<double>(rule, [](const auto& chosen) { return chosen.update_threshold(); });
    std::visit(
        [&](const auto& task) {
          Working<std::decay_t<decltype(task)>> panel{*this, order, ratchet, stop, PanelScores(K_)};
          std::vector<double> scores(K_);
          for_each_panel(order, stop, [&](const std::uint32_t* index, int count) {
            panel.index = index;
            panel.count = count;
            bring_up(index, count, panel.scores);
            for (int r = 0; r < count; ++r) {
              for (std::int64_t k = 0; k < K_; ++k) scores[k] = panel.scores.at(k, r);
              const Verdict verdict = task.of(scores.data(), index[r]);
              learn_example(
                  task, threshold, index[r], verdict, false, c, mistake_weight,
                  [&](const Verdict& judged, double weight) {
                    return take_step(rule, index[r], judged, weight, panel, c);
                  },
                  [&](Counters& now, bool mistake, bool update) { panel.after(now, mistake, update); });
            }
            keep(index, count, panel.scores);
          });
        },
        task_);
  }

  bool is_finite() const {
    return std::all_of(scores_.begin(), scores_.end(), [](double score) { return std::isfinite(score); });
  }

  // The sample weights of the rows that the current weights get wrong.
  double count_mistakes(Order order, StopToken& stop) {
    catch_up(order, stop);
    return count_wrong(order);
  }

 private:
  // The panel that is learned from: where a step is taken, and who is told of it.
  template <class Task>
  struct Working {
    DualRun& run;
    Order order;
    const Ratchet* ratchet;
    StopToken& stop;
    PanelScores scores;
    const std::uint32_t* index = nullptr;
    int count = 0;
    double kernel[panel_rows] = {};

    template <class Rule>
    double q(const Rule& rule, std::int64_t i) {
      return length_for(rule, (run.source_.diagonal(i) + run.bias_) * Task::norms);
    }

    void move(std::int64_t i, double step, const Verdict& verdict, const Counters& c) {
      run.log_.add(i, step, verdict.target_row, verdict.rival_row, c);
      run.source_.values(i, kernel);
      scores.add(kernel, run.bias_, step, verdict.target_row, verdict.rival_row);
    }

    void after(Counters& c, bool mistake, bool update) {
      const bool share_now = update && run.source_.by_column();
      if (share_now) run.settle(index, count, scores, stop);
      if (!ratchet) return;
      const auto check = [&](double) {
        if (!share_now) run.settle(index, count, scores, stop);
        return run.count_wrong(order);
      };
      ratchet->after(c, mistake, update, check, [&] { run.pocket_ = run.size(); });
    }
  };

  std::int64_t size() const { return static_cast<std::int64_t>(log_.rows.size()); }

  double count_wrong(Order order) const {
    double found = 0;
    std::visit(
        [&](const auto& task) {
          for (std::int64_t at = 0; at < order.count; ++at)
            if (task.of(scores_.data() + order[at] * K_, order[at]).mistake) found += task.weight(order[at]);
        },
        task_);
    return found;
  }

  // On exit `local` holds the scores of these rows by all updates so far, and they are the panel of the source.
  void bring_up(const std::uint32_t* index, int count, PanelScores& local) {
    source_.load(index, count);
    local.load(scores_.data(), index, count);
    std::int64_t first = size(), last = 0;
    for (int r = 0; r < count; ++r) {
      first = std::min(first, applied_[index[r]]);
      last = std::max(last, applied_[index[r]]);
    }
    if (first == size()) return;
    double kernel[panel_rows] = {};
    for (std::int64_t u = first; u < size(); ++u) {
      source_.values(log_.rows[u], kernel);
      if (u < last) {
        add_where_missing(u, kernel, index, count, local);
      } else {
        local.add(kernel, bias_, log_.steps[u], log_.targets[u], log_.rivals[u]);
      }
    }
    keep(index, count, local);
  }

  void add_where_missing(std::int64_t u, const double* kernel, const std::uint32_t* index, int count,
                         PanelScores& local) {
    for (int r = 0; r < count; ++r) {
      if (u < applied_[index[r]]) continue;
      const double change = log_.steps[u] * (kernel[r] + bias_);
      local.of_class(log_.targets[u])[r] += change;
      if (log_.rivals[u] >= 0) local.of_class(log_.rivals[u])[r] -= change;
    }
  }

  void keep(const std::uint32_t* index, int count, const PanelScores& local) {
    local.store(scores_.data(), index, count);
    for (int r = 0; r < count; ++r) applied_[index[r]] = size();
  }

  void catch_up(Order order, StopToken& stop) {
    PanelScores local(K_);
    for_each_panel(order, stop, [&](const std::uint32_t* index, int count) { bring_up(index, count, local); });
  }

  // In the middle of a panel: bring all rows up, then go back to it.
  void settle(const std::uint32_t* index, int count, const PanelScores& local, StopToken& stop) {
    keep(index, count, local);
    catch_up({previous_.data(), static_cast<std::int64_t>(previous_.size())}, stop);
    source_.load(index, count);
  }

  // Rows of one panel that were last seen at different times would be brought up together from the earliest of them, so
  // a new order begins with all rows brought up in the old one.
  bool follows_other_order(Order order) const {
    if (previous_.empty() || applied_.empty()) return false;
    if (static_cast<std::int64_t>(previous_.size()) != order.count) return true;
    for (std::int64_t at = 0; at < order.count; ++at)
      if (previous_[at] != order[at]) return true;
    return false;
  }

  void remember(Order order) {
    previous_.resize(order.count);
    for (std::int64_t at = 0; at < order.count; ++at) previous_[at] = static_cast<std::uint32_t>(order[at]);
  }

  Source& source_;
  AnyTask task_;
  std::int64_t K_;
  double bias_;
  std::vector<double> scores_;
  std::vector<std::int64_t> applied_;
  std::vector<std::uint32_t> previous_;
  Log log_;
  std::int64_t pocket_ = -1;
};

// Predictions for rows that are not learned from: one running sum over the log gives the last score, the sum of all
// scores and the votes of every weight vector that lived. A row's answer does not depend on the rows beside it.

// Calls visit(first, count) for the rows in panels, each loaded into the source.
template <class Visit>
void for_each_loaded(Source& source, StopToken& stop, Visit&& visit) {
  for_each_panel({nullptr, source.count()}, stop, [&](const std::uint32_t* index, int count) {
    source.load(index, count);
    visit(static_cast<std::int64_t>(index[0]), count);
  });
}

// out (rows x C) = intercept + sum over s of coefficients[s, c] K(x, x_s), in the order of s.
inline void dual_scores(Source& source, const double* coefficients, const double* intercept, std::int64_t C,
                        double* out, StopToken& stop) {
  double kernel[panel_rows] = {};
  std::vector<double> sums(C * panel_rows);
  for_each_loaded(source, stop, [&](std::int64_t begin, int count) {
    std::fill(sums.begin(), sums.end(), 0.0);
    for (std::int64_t s = 0; s < source.others(); ++s) {
      source.values(s, kernel);
      for (std::int64_t c = 0; c < C; ++c) {
        const double coefficient = coefficients[s * C + c];
        if (coefficient == 0) continue;
        for (int r = 0; r < panel_rows; ++r) sums[c * panel_rows + r] += coefficient * kernel[r];
      }
    }
    for (int r = 0; r < count; ++r)
      for (std::int64_t c = 0; c < C; ++c) out[(begin + r) * C + c] = sums[c * panel_rows + r] + intercept[c];
  });
}

// Where the answers of one log go, each of rows x K; null where they are not wanted.
struct Answers {
  double *last, *sum, *votes;
};

// Counts the votes of one weight vector, as often as it survived: with two classes +1 or -1, with more one a class.
inline void vote_for(PanelScores& scores, std::int64_t K, double survived, PanelScores& votes) {
  if (K == 1) {
    const double* at = scores.of_class(0);
    double* to = votes.of_class(0);
    for (int r = 0; r < panel_rows; ++r) to[r] += at[r] >= 0 ? survived : -survived;
    return;
  }
  for (int r = 0; r < panel_rows; ++r) {
    std::int64_t best = 0;
    for (std::int64_t k = 1; k < K; ++k)
      if (scores.at(k, r) > scores.at(best, r)) best = k;
    votes.of_class(best)[r] += survived;
  }
}

inline void dual_predict(Source& source, const std::vector<Updates>& logs, std::int64_t K, double bias,
                         const std::vector<Answers>& answers, StopToken& stop) {
  std::vector<double> kernel(source.others() * panel_rows);
  const std::int64_t size = K * panel_rows;
  for_each_loaded(source, stop, [&](std::int64_t begin, int count) {
    for (std::int64_t s = 0; s < source.others(); ++s) source.values(s, kernel.data() + s * panel_rows);
    for (std::size_t p = 0; p < logs.size(); ++p) {
      const Updates& log = logs[p];
      PanelScores scores(K), sums(K), votes(K);
      const auto lived = [&](std::int64_t survived) {
        const double times = static_cast<double>(survived);
        if (answers[p].sum)
          for (std::int64_t at = 0; at < size; ++at) sums.of_class(0)[at] += times * scores.of_class(0)[at];
        if (answers[p].votes) vote_for(scores, K, times, votes);
      };
      for (std::int64_t u = 0; u < log.count; ++u) {
        lived(log.survived[u]);
        scores.add(kernel.data() + log.support[u] * panel_rows, bias, log.steps[u], log.targets[u], log.rivals[u]);
      }
      lived(log.survived_last);
      const auto write = [&](PanelScores& from, double* to) {
        for (int r = 0; to && r < count; ++r)
          for (std::int64_t k = 0; k < K; ++k) to[(begin + r) * K + k] = from.at(k, r);
      };
      write(scores, answers[p].last);
      write(sums, answers[p].sum);
      write(votes, answers[p].votes);
    }
  });
}

}  // namespace rosenblatt
