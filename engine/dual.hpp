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

#include "dispatch.hpp"
#include "example.hpp"
#include "order.hpp"
#include "source.hpp"

namespace rosenblatt {

// Scores of a panel: class after class, 32 rows side by side.
class PanelScores {
 public:
  explicit PanelScores(std::int64_t K) : K_(K), values_(K * panel_rows) {}

  double* of_class(std::int64_t k) { return values_.data() + k * panel_rows; }
  double at(std::int64_t k, int r) const { return values_[k * panel_rows + r]; }

  void add(const double* kernel, double bias, double step, std::int64_t gain, std::int64_t lose) {
    double* up = of_class(gain);
    for (int r = 0; r < panel_rows; ++r) up[r] += step * (kernel[r] + bias);
    if (lose < 0) return;
    double* down = of_class(lose);
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
void for_each_panel(Order order, Poll& poll, Visit&& visit) {
  std::uint32_t index[panel_rows];
  for (std::int64_t begin = 0; begin < order.count && !poll(); begin += panel_rows) {
    const int count = static_cast<int>(std::min<std::int64_t>(panel_rows, order.count - begin));
    for (int r = 0; r < count; ++r) index[r] = static_cast<std::uint32_t>(order[begin + r]);
    visit(index, count);
  }
}

// Learning on one table. Scores of rows that fell behind the log are brought up when they are needed.
class DualRun {
 public:
  // start: scores of all rows by what was learned before, row after row.
  DualRun(Source& source, const AnyTask& task, double bias, std::vector<double> start)
      : source_(source), task_(task), K_(weight_rows(task)), bias_(bias), scores_(std::move(start)),
        applied_(source.count(), 0) {}

  const Log& log() const { return log_; }
  std::int64_t pocket() const {
    return pocket_;
  }  // how many of the updates made the weights in the pocket; -1: none was put there

  // One pass over the order. ratchet: null unless the keep is the pocket; mistake_weight grows by the sample weight of
  // every mistake.
  void learn(Order order, const AnyRule& rule, const Ratchet* ratchet, Counters& c, double& mistake_weight,
             Poll& poll) {
    if (follows_other_order(order)) catch_up({previous_.data(), static_cast<std::int64_t>(previous_.size())}, poll);
    remember(order);
    const double reach = visit_first_order<double>(rule, [](const auto& chosen) { return chosen.reach(); });
    std::visit(
        [&](const auto& task) {
          Working<std::decay_t<decltype(task)>> panel{*this, order, ratchet, poll, PanelScores(K_)};
          std::vector<double> scores(K_);
          for_each_panel(order, poll, [&](const std::uint32_t* index, int count) {
            panel.index = index;
            panel.count = count;
            bring_up(index, count, panel.scores);
            for (int r = 0; r < count; ++r) {
              for (std::int64_t k = 0; k < K_; ++k) scores[k] = panel.scores.at(k, r);
              const Verdict verdict = task.of(scores.data(), index[r]);
              learn_example(
                  task, reach, index[r], verdict, false, c, mistake_weight,
                  [&](std::int64_t i, const Verdict& judged, double weight, const Counters& now) {
                    return visit_first_order<bool>(
                        rule, [&](const auto& chosen) { return take_step(chosen, i, judged, weight, panel, now); });
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
  double count_mistakes(Order order, Poll& poll) {
    catch_up(order, poll);
    return count_wrong(order);
  }

 private:
  // The panel that is learned from: where a step is taken, and who is told of it.
  template <class Task>
  struct Working {
    DualRun& run;
    Order order;
    const Ratchet* ratchet;
    Poll& poll;
    PanelScores scores;
    const std::uint32_t* index = nullptr;
    int count = 0;
    double kernel[panel_rows] = {};

    // K(x, x) may be negative: a rule that ignores q steps along any row that is not 0.
    template <class Rule>
    double q(const Rule&, std::int64_t i, const Verdict&) {
      const double q = (run.source_.diagonal(i) + run.bias_) * Task::norms;
      if constexpr (Rule::needs_norm) return q;
      return q != 0 ? 1.0 : 0.0;
    }

    template <class Rule>
    void move(const Rule&, std::int64_t i, double step, Basis, const Verdict& verdict, const Counters& c) {
      run.log_.add(i, step, verdict.gain, verdict.lose, c);
      run.source_.values(i, kernel);
      scores.add(kernel, run.bias_, step, verdict.gain, verdict.lose);
    }

    void after(Counters& c, bool mistake, bool update) {
      const bool share_now = update && run.source_.by_column();
      if (share_now) run.settle(index, count, scores, poll);
      if (!ratchet) return;
      const auto check = [&](double) {
        if (!share_now) run.settle(index, count, scores, poll);
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
        local.add(kernel, bias_, log_.steps[u], log_.gains[u], log_.loses[u]);
      }
    }
    keep(index, count, local);
  }

  void add_where_missing(std::int64_t u, const double* kernel, const std::uint32_t* index, int count,
                         PanelScores& local) {
    for (int r = 0; r < count; ++r) {
      if (u < applied_[index[r]]) continue;
      const double change = log_.steps[u] * (kernel[r] + bias_);
      local.of_class(log_.gains[u])[r] += change;
      if (log_.loses[u] >= 0) local.of_class(log_.loses[u])[r] -= change;
    }
  }

  void keep(const std::uint32_t* index, int count, const PanelScores& local) {
    local.store(scores_.data(), index, count);
    for (int r = 0; r < count; ++r) applied_[index[r]] = size();
  }

  void catch_up(Order order, Poll& poll) {
    PanelScores local(K_);
    for_each_panel(order, poll, [&](const std::uint32_t* index, int count) { bring_up(index, count, local); });
  }

  // In the middle of a panel: bring all rows up, then go back to it.
  void settle(const std::uint32_t* index, int count, const PanelScores& local, Poll& poll) {
    keep(index, count, local);
    catch_up({previous_.data(), static_cast<std::int64_t>(previous_.size())}, poll);
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

}  // namespace rosenblatt
