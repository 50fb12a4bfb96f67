// Which weights are the answer. A keep is told of every example and every update:
//   before_update(...)   the weights are about to change by `step` times row i (and `-step` for the wrong class)
//   after(...)           an example is over: was it a mistake, was there an update?
// Invariant: a keep never changes the raw weights, so learning can always go on.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

namespace rosenblatt {

// The counters of a state; Python sees them as one int64 array in this order.
struct Counters {
  std::int64_t seen;              // examples
  std::int64_t mistakes;
  std::int64_t updates;
  std::int64_t survived;          // examples since the last update, the one that made it included
  std::int64_t run;               // correct answers of the current weights in a row
  std::int64_t checked;           // have the current weights been checked on all rows?
  std::int64_t pocket_is_current;
  std::int64_t pocket_run;        // -1: the starting weights, which any first update challenges
};

struct Last {
  template <class Rows>
  void before_update(const Rows&, std::int64_t, double, std::int64_t, std::int64_t, const Counters&) {}
  template <class Check>
  void after(Counters&, bool, bool, Check&&) {}
};

// Sums u = sum over updates of (examples seen before it) * change, so that the mean of the weights after each of
// N examples is w - u/N. Only the features of mistaken rows are touched.
struct Average {
  double* sums;
  double* intercept_sums;  // null without an intercept
  std::int64_t K;

  template <class Rows>
  void before_update(const Rows& rows, std::int64_t i, double step, std::int64_t gain, std::int64_t lose,
                     const Counters& c) {
    const double before = static_cast<double>(c.seen) * step;
    rows.template add_to<double>(i, before, sums, gain, K);
    if (intercept_sums) intercept_sums[gain] += before;
    if (lose < 0) return;
    rows.template add_to<double>(i, -before, sums, lose, K);
    if (intercept_sums) intercept_sums[lose] -= before;
  }
  template <class Check>
  void after(Counters&, bool, bool, Check&&) {}
};

// The list of updates, each with the examples that the weights before it had survived.
struct Vote {
  std::vector<std::int64_t> rows;
  std::vector<double> steps;
  std::vector<std::int32_t> gains, loses;
  std::vector<std::int64_t> survived;

  template <class Rows>
  void before_update(const Rows&, std::int64_t i, double step, std::int64_t gain, std::int64_t lose,
                     const Counters& c) {
    rows.push_back(i);
    steps.push_back(step);
    gains.push_back(static_cast<std::int32_t>(gain));
    loses.push_back(static_cast<std::int32_t>(lose));
    survived.push_back(c.survived);
  }
  template <class Check>
  void after(Counters&, bool, bool, Check&&) {}
};

// Gallant's pocket. With the ratchet a challenger is checked on all rows, once, when its run of correct answers beats
// the pocket's run, and must make fewer mistakes; without (a stream has no "all rows") the longer run decides.
struct Ratchet {
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
    if (c.run > c.pocket_run && !c.checked) {
      c.checked = 1;
      bool better = true;
      if (checks) {
        const double challenge = check(*mistakes);
        better = challenge < *mistakes;
        if (better) *mistakes = challenge;
      }
      if (better) {
        take();
        c.pocket_is_current = 1;
      }
      if (c.pocket_run < 0) c.pocket_run = 0;
    }
    if (c.pocket_is_current && c.run > c.pocket_run) c.pocket_run = c.run;
  }
};

template <class T>
struct Pocket {
  T* weights;
  double* intercept;
  Ratchet ratchet;
  const T* current;
  const double* current_intercept;
  std::int64_t size;  // K * features
  std::int64_t K;

  template <class Rows>
  void before_update(const Rows&, std::int64_t, double, std::int64_t, std::int64_t, const Counters&) {}

  template <class Check>
  void after(Counters& c, bool mistake, bool update, Check&& check) {
    ratchet.after(c, mistake, update, check, [&] {
      std::memcpy(weights, current, size * sizeof(T));
      std::memcpy(intercept, current_intercept, K * sizeof(double));
    });
  }
};

}  // namespace rosenblatt
