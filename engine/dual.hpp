// The one kernel loop: a score is a sum over the updates so far, score(x) = sum_u step_u (K(x_u, x) + bias).
//
// Invariant: the score of every row is the sum over the log of updates in its order, one addition an update, however
// far behind it is. So rows may catch up when they are next looked at, 32 at a time and with all the updates that they
// missed: every kernel value is needed once an epoch, and a panel stays in the cache while it is needed.
#pragma once

#include "kernel.hpp"
#include "train.hpp"

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

// What happens to one example in kernel space: K(x, x) + bias is squared_norm(), and take(step) takes the step.
// K(x, x) may be negative: a rule that ignores it steps along any row that is not 0. Has there been a step?
template <class Length, class Take>
bool learn_by(const Rule& rule, const AnyTask& task, const Verdict& verdict, std::int64_t i, Counters& c,
              double& mistake_weight, Length&& squared_norm, Take&& take) {
  const auto weigh = [&] { return sample_weight_of(task, i); };
  return learn_example(verdict, rule.update_threshold(), false, c, mistake_weight, weigh, [&](double weight) {
    if (!rule.wants(verdict.margin, verdict.mistake)) return false;
    const double q = squared_norm() * std::visit([](const auto& t) { return t.norms; }, task);
    if (rule.needs_norm() ? !(q > 0) : q == 0) return false;
    const double step = verdict.direction * rule.step(verdict.loss, q, weight);
    if (step != 0) take(step);
    return step != 0;
  });
}

// Learning on one table. Scores of rows that fell behind the log are brought up when they are needed.
class DualRun {
 public:
  // start: scores of all rows by what was learned before, row after row.
  DualRun(Source& source, const AnyTask& task, double bias, std::vector<double> start)
      : source_(source), task_(task), K_(weight_rows(task)), bias_(bias), scores_(std::move(start)),
        applied_(source.count, 0) {}

  Log log;
  std::int64_t pocket = -1;  // how many of the updates made the weights in the pocket; -1: none was put there

  // One pass over the order. ratchet: null unless the keep is the pocket; mistake_weight grows by the sample weight of
  // every mistake.
  void learn(Order order, const Rule& rule, const Ratchet* ratchet, Counters& c, double& mistake_weight,
             StopToken& stop) {
    // Rows of one panel that were last seen at different times would be brought up together from the earliest of them,
    // so a new order begins with all rows brought up in the old one.
    std::vector<std::uint32_t> rows(order.count);
    for (std::int64_t at = 0; at < order.count; ++at) rows[at] = static_cast<std::uint32_t>(order[at]);
    if (rows != previous_) catch_up(stop);
    previous_.swap(rows);
    PanelScores panel(K_);
    std::vector<double> scores(K_);
    double kernel[panel_rows] = {};
    for_each_panel(order, stop, [&](const std::uint32_t* index, int count) {
      bring_up(index, count, panel);
      for (int r = 0; r < count; ++r) {
        const std::int64_t i = index[r];
        for (std::int64_t k = 0; k < K_; ++k) scores[k] = panel.at(k, r);
        const Verdict verdict = verdict_of(task_, scores.data(), i);
        const bool update = learn_by(
            rule, task_, verdict, i, c, mistake_weight, [&] { return source_.diagonal(i) + bias_; },
            [&](double step) {
              log.add({i, step, verdict.target_row, verdict.rival_row}, c.survived);
              source_.values(i, kernel);
              panel.add(kernel, bias_, step, verdict.target_row, verdict.rival_row);
            });
        // In the middle of a panel: bring all rows up, then go back to it.
        const auto settle = [&] {
          keep(index, count, panel);
          catch_up(stop);
          source_.load(index, count);
        };
        if (update && source_.by_column) settle();
        if (!ratchet) continue;
        const auto check = [&](double) {
          settle();
          return count_wrong(order);
        };
        ratchet->after(c, verdict.mistake, update, check, [&] { pocket = size(); });
      }
      keep(index, count, panel);
    });
  }

  bool is_finite() const {
    return std::all_of(scores_.begin(), scores_.end(), [](double score) { return std::isfinite(score); });
  }

 private:
  std::int64_t size() const { return static_cast<std::int64_t>(log.rows.size()); }

  // The sample weights of the rows that the current weights get wrong.
  double count_wrong(Order order) const {
    double found = 0;
    for (std::int64_t at = 0; at < order.count; ++at)
      if (verdict_of(task_, scores_.data() + order[at] * K_, order[at]).mistake)
        found += sample_weight_of(task_, order[at]);
    return found;
  }

  // On exit `local` holds the scores of these rows by all updates so far, and they are the panel of the source.
  void bring_up(const std::uint32_t* index, int count, PanelScores& local) {
    const std::int64_t applied = applied_[*index];
    if (!std::all_of(index, index + count, [&](std::uint32_t i) { return applied_[i] == applied; }))
      for (int r = 0; r < count; ++r) {  // after Ctrl-C rows may have fallen behind at different times: one by one
        bring_up(index + r, 1, local);
        keep(index + r, 1, local);
      }
    source_.load(index, count);
    local.load(scores_.data(), index, count);
    double kernel[panel_rows] = {};
    for (std::int64_t u = applied_[*index]; u < size(); ++u) {
      source_.values(log.rows[u], kernel);
      local.add(kernel, bias_, log.steps[u], log.targets[u], log.rivals[u]);
    }
  }

  void keep(const std::uint32_t* index, int count, const PanelScores& local) {
    local.store(scores_.data(), index, count);
    for (int r = 0; r < count; ++r) applied_[index[r]] = size();
  }

  // Brings up the rows of the latest order.
  void catch_up(StopToken& stop) {
    PanelScores local(K_);
    const Order order{previous_.data(), std::ssize(previous_)};
    for_each_panel(order, stop, [&](const std::uint32_t* index, int count) {
      bring_up(index, count, local);
      keep(index, count, local);
    });
  }

  Source& source_;
  AnyTask task_;
  std::int64_t K_;
  double bias_;
  std::vector<double> scores_;
  std::vector<std::int64_t> applied_;
  std::vector<std::uint32_t> previous_;
};

// Predictions for rows that are not learned from: one running sum over the log gives the last score and the votes of
// every weight vector that lived. A row's answer does not depend on the rows beside it.

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

// One of several problems over the same rows: its part of the log.
struct Problem {
  Range updates;
  std::int64_t survived_last;  // by the vector after all updates
  double* out;                 // rows x K: where the votes or the last scores go
};

// Writes the votes of each problem, or its last scores. start: the scores of all rows by the weights before the first
// update; null: 0.
inline void dual_predict(Source& source, const Log& log, const std::vector<Problem>& problems, std::int64_t K,
                         double bias, const double* start, bool votes, StopToken& stop) {
  std::vector<double> kernel(source.others * panel_rows);
  for_each_panel({nullptr, source.count}, stop, [&](const std::uint32_t* index, int count) {
    source.load(index, count);
    for (std::int64_t s = 0; s < source.others; ++s) source.values(s, kernel.data() + s * panel_rows);
    for (const Problem& problem : problems) {
      PanelScores scores(K), voted(K);
      if (start) scores.load(start, index, count);
      for (std::int64_t u = problem.updates.begin; u < problem.updates.end; ++u) {
        if (votes) vote_for(scores, K, static_cast<double>(log.survived[u]), voted);
        scores.add(kernel.data() + log.rows[u] * panel_rows, bias, log.steps[u], log.targets[u], log.rivals[u]);
      }
      if (votes) vote_for(scores, K, static_cast<double>(problem.survived_last), voted);
      (votes ? voted : scores).store(problem.out, index, count);
    }
  });
}

}  // namespace rosenblatt
