// The state of a learner, and which weights are the answer (the keep):
//   update_kept(...)     moves the weights by `step` along row i (and by `-step` for the rival row), with the
//                        bookkeeping of the keep
//   observe_row(...)     an example is over: was it a mistake, was there an update? observes_rows says for which keeps.
//
// Invariant: a keep never changes the raw weights otherwise than the rule says, so learning can always go on.
#pragma once

#include "rows.hpp"
#include "rules.hpp"

namespace rosenblatt {

// Python sees the counters as one int64 array in this order.
struct Counters {
  std::int64_t seen = 0;  // examples
  std::int64_t mistakes = 0;
  std::int64_t updates = 0;
  std::int64_t survived = 0;  // examples since the last update, the one that made it included
  std::int64_t run = 0;       // correct answers of the current weights in a row
  std::int64_t checked = 1;   // have the current weights been checked on all rows?
  std::int64_t pocket_is_current = 1;
  std::int64_t pocket_run = -1;  // -1: the starting weights, which any first update challenges
};
inline constexpr std::int64_t counter_count = sizeof(Counters) / sizeof(std::int64_t);

// What an update is made of: `step` along row i for weight row `target`, and as much the other way for `rival` (-1:
// none).
struct Step {
  std::int64_t i;
  double step;
  std::int64_t target, rival;
};

// The list of updates, each with the examples that the weights before it had survived.
struct Log {
  std::vector<std::int64_t> rows;
  std::vector<double> steps;
  std::vector<std::int32_t> targets, rivals;
  std::vector<std::int64_t> survived;

  void add(const Step& by, std::int64_t survived_before) {
    rows.push_back(by.i);
    steps.push_back(by.step);
    targets.push_back(static_cast<std::int32_t>(by.target));
    rivals.push_back(static_cast<std::int32_t>(by.rival));
    survived.push_back(survived_before);
  }
};

enum class Keep { last, average, tail, vote, pocket };
inline constexpr std::string_view keep_names[] = {"last", "average", "tail", "vote", "pocket"};

class Penalty;

// The arrays of a learner: K weight rows over so many features. Null: not used.
struct StateArrays {
  Keep keep = Keep::last;
  std::int64_t K = 1, features = 0;
  bool is_float32 = false, fit_intercept = true;
  bool ratchet = false;  // is a challenger of the pocket checked on all rows?
  Log* log = nullptr;    // where a vote's updates go
  const Penalty* penalty = nullptr;

  void* weights = nullptr;
  double* intercept = nullptr;
  Counters* counters = nullptr;
  double* mistake_weight = nullptr;  // grows by the sample weight of every mistake or update
  double *sums = nullptr, *intercept_sums = nullptr;
  double *recent_sums = nullptr, *intercept_recent_sums = nullptr;
  double *later_sums = nullptr, *intercept_later_sums = nullptr;
  void* pocket = nullptr;
  double *pocket_intercept = nullptr, *pocket_mistakes = nullptr;
  void* variances = nullptr;
  double* intercept_variances = nullptr;
  double *settled_at = nullptr, *summed_at = nullptr;  // of a penalty

  enum class Extent { weights, rows, one };

  // Calls f(name, pointer, extent, initial value, used) for every array; void: of the type of the rows. `second_order`
  // and `shrinks`: is the rule AROW, is there a penalty?
  template <class F>
  void for_each(bool second_order, bool shrinks, F&& f) {
    const bool averages = keep == Keep::average, tail = keep == Keep::tail, pockets = keep == Keep::pocket;
    f("weights", weights, Extent::weights, 0.0, true);
    f("intercept", intercept, Extent::rows, 0.0, true);
    f("counters", counters, Extent::one, 0.0, true);
    f("mistake_weight", mistake_weight, Extent::one, 0.0, true);
    f("sums", sums, Extent::weights, 0.0, averages);
    f("intercept_sums", intercept_sums, Extent::rows, 0.0, averages);
    f("recent_sums", recent_sums, Extent::weights, 0.0, tail);
    f("intercept_recent_sums", intercept_recent_sums, Extent::rows, 0.0, tail);
    f("later_sums", later_sums, Extent::weights, 0.0, tail);
    f("intercept_later_sums", intercept_later_sums, Extent::rows, 0.0, tail);
    f("pocket", pocket, Extent::weights, 0.0, pockets);
    f("pocket_intercept", pocket_intercept, Extent::rows, 0.0, pockets);
    f("pocket_mistakes", pocket_mistakes, Extent::one, std::numeric_limits<double>::infinity(), pockets);
    f("variances", variances, Extent::weights, 1.0, second_order);
    f("intercept_variances", intercept_variances, Extent::rows, 1.0, second_order);
    f("settled_at", settled_at, Extent::one, 0.0, shrinks);
    f("summed_at", summed_at, Extent::weights, 0.0, shrinks && averages);
  }

  std::int64_t size(Extent extent) const {
    return extent == Extent::weights ? K * features : extent == Extent::rows ? K : 1;
  }
};

// The same with weights of a known type.
template <class T>
struct State : StateArrays {
  T* weights;
  explicit State(const StateArrays& arrays) : StateArrays(arrays), weights(static_cast<T*>(arrays.weights)) {}
};

// Sums of changes, each times so many examples.
struct WeightedSums {
  double *sums, *intercept;
  double examples;
};

// Moves the weights, and all of these sums with them. In float32 a small step may be rounded away in the weights: the
// sums then take the change that was really made, else the mean would leave the range of the weights.
template <class Rows, class T, class... Sums>
ALWAYS_INLINE void move_weights(const Rows& rows, const Step& by, const State<T>& s, std::int64_t K,
                                const Sums&... sums) {
  T* const weights = s.weights;
  const auto move_row = [&](double step, std::int64_t k) INLINE_LAMBDA {
    if constexpr (sizeof(T) == 4 && sizeof...(Sums) > 0) {
      rows.for_each_weight(by.i, k, K, [&](std::int64_t at, T x) INLINE_LAMBDA {
        const T before = weights[at];
        weights[at] += static_cast<T>(step) * x;
        const double change = static_cast<double>(weights[at]) - static_cast<double>(before);
        ((sums.sums[at] += sums.examples * change), ...);
      });
    } else {
      (rows.add_to(by.i, sums.examples * step, sums.sums, k, K), ...);
      rows.add_to(by.i, static_cast<T>(step), weights, k, K);
    }
    if (s.fit_intercept) ((sums.intercept[k] += sums.examples * step), ...);
  };
  move_row(by.step, by.target);
  if (by.rival >= 0) move_row(-by.step, by.rival);
}

inline std::int64_t last_power(std::int64_t seen) {
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(1, seen))));
}

// The mean over the latest examples: those after half of the last power of two, which leaves out the first quarter to
// half of them. As for the average, but the sums count examples from there; `later` holds those that count from the
// last power of two, which comes next.
template <class Rows, class T>
void update_tail(const Rows& rows, const Step& by, const State<T>& s, std::int64_t seen) {
  const std::int64_t power = last_power(seen);
  const WeightedSums recent{s.recent_sums, s.intercept_recent_sums, static_cast<double>(seen - power / 2)};
  const double since = seen > power ? static_cast<double>(seen - power) : 0.0;
  move_weights(rows, by, s, s.K, recent, WeightedSums{s.later_sums, s.intercept_later_sums, since});
}

template <class T>
void next_tail(const State<T>& s, std::int64_t seen) {
  if (seen < 2 || last_power(seen) != seen) return;
  const std::int64_t size = s.K * s.features;
  std::copy_n(s.later_sums, size, s.recent_sums);
  std::copy_n(s.intercept_later_sums, s.K, s.intercept_recent_sums);
  std::fill_n(s.later_sums, size, 0.0);
  std::fill_n(s.intercept_later_sums, s.K, 0.0);
}

// The weights that the keep says are the answer: w - sums/examples, or w without sums. Python has the same formulas for
// whole arrays (learners/weights.py).
struct Answer {
  const double *weights, *intercept, *sums = nullptr, *intercept_sums = nullptr;
  double examples = 1.0;

  static Answer of(const State<double>& s) {
    const std::int64_t seen = s.counters->seen;
    const auto at_least_one = [](std::int64_t count) { return static_cast<double>(std::max<std::int64_t>(1, count)); };
    if (s.keep == Keep::average) return {s.weights, s.intercept, s.sums, s.intercept_sums, at_least_one(seen)};
    if (s.keep == Keep::tail)
      return {s.weights, s.intercept, s.recent_sums, s.intercept_recent_sums,
              at_least_one(seen - last_power(seen) / 2)};
    if (s.keep == Keep::pocket) return {static_cast<const double*>(s.pocket), s.pocket_intercept};
    return {s.weights, s.intercept};  // a vote has no answer of this kind
  }
  double weight(std::int64_t at) const { return sums ? weights[at] - sums[at] / examples : weights[at]; }
  double intercept_of(std::int64_t k) const {
    return sums ? intercept[k] - intercept_sums[k] / examples : intercept[k];
  }
};

// Gallant's pocket. With the ratchet a challenger is checked on all rows, once, when its run of correct answers beats
// the pocket's run, and must make fewer mistakes; without (a stream has no "all rows") the longer run decides. A stream
// may change, and the longest run of all would then stay for ever: with every 64th mistake the pocket's run counts
// half, however the stream is cut into calls. A stream without mistakes has no reason to let go.
struct Ratchet {
  static constexpr std::int64_t mistakes_of_half_a_run = 64;
  double* mistakes;  // of the pocket on all rows, each counted with its sample weight
  bool checks;

  // An example is over. check(limit) counts the mistakes of the current weights on all rows, and may stop once limit is
  // reached; take() puts the current weights into the pocket.
  template <class Check, class Take>
  void after(Counters& c, bool mistake, bool update, Check&& check, Take&& take) const {
    if (update) {
      c.run = c.checked = c.pocket_is_current = 0;
    } else {
      c.run = mistake ? 0 : c.run + 1;
    }
    if (!checks && mistake && c.mistakes % mistakes_of_half_a_run == 0) {
      c.pocket_run /= 2;
      c.checked = 0;
    }
    if (c.run > c.pocket_run && !c.checked) {
      c.checked = 1;
      const double challenge = checks ? check(*mistakes) : 0.0;
      if (!checks || challenge < *mistakes) {
        if (checks) *mistakes = challenge;
        take();
        c.pocket_is_current = 1;
      }
      if (c.pocket_run < 0) c.pocket_run = 0;
    }
    if (c.pocket_is_current && c.run > c.pocket_run) c.pocket_run = c.run;
  }
};

// All but the last weights and their average, for which the loop has code of its own.
template <class Rows, class T>
[[gnu::noinline]] void update_kept(const Rows& rows, const Step by, const State<T>& s, std::int64_t seen,
                                   std::int64_t survived) {
  if (s.keep == Keep::tail) return update_tail(rows, by, s, seen);
  if (s.keep == Keep::vote) s.log->add(by, survived);  // every weight vector that lived
  move_weights(rows, by, s, s.K);
}

// Does the keep need observe_row after every example?
inline bool observes_rows(Keep keep) { return keep == Keep::tail || keep == Keep::pocket; }

template <class T, class Check>
void observe_row(const State<T>& s, Counters& c, bool mistake, bool update, Check&& check) {
  if (s.keep == Keep::tail) return next_tail(s, c.seen);
  Ratchet{s.pocket_mistakes, s.ratchet}.after(c, mistake, update, check, [&] {
    std::memcpy(s.pocket, s.weights, s.K * s.features * sizeof(T));
    std::memcpy(s.pocket_intercept, s.intercept, s.K * sizeof(double));
  });
}

}  // namespace rosenblatt
