// Which weights are the answer. A keep names its arrays in `of`, and is told of every example and every update:
//   before_update(...)   the weights are about to change by `step` times row i (and `-step` for the losing class)
//   after(...)           an example is over: was it a mistake, was there an update?
//   kept(...)            the answer's weight at a place, and kept_intercept(...) its intercept
// is_weights: is the answer one weight vector? is_raw: is it the current one? watches: does `after` do anything?
//
// Invariant: a keep never changes the raw weights, so learning can always go on.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>

#include "state.hpp"

namespace rosenblatt {

// What most keeps do: nothing. The raw weights are the answer.
struct Last {
  static constexpr std::string_view name = "last";
  static constexpr bool is_weights = true, is_raw = true, watches = false;

  template <class T>
  static Last of(const State<T>&) {
    return {};
  }
  template <class Rows>
  void before_update(const Rows&, std::int64_t, double, std::int64_t, std::int64_t, const Counters&) {}
  template <class Check>
  void after(Counters&, bool, bool, Check&&) {}
  template <class T>
  double kept(const T* weights, std::int64_t at, const Counters&) const {
    return static_cast<double>(weights[at]);
  }
  double kept_intercept(const double* intercept, std::int64_t k, const Counters&) const { return intercept[k]; }
};

// Sums u = sum over updates of (examples seen before it) * change, so that the mean of the weights after each of
// N examples is w - u/N. Only the features of mistaken rows are touched.
struct Average : Last {
  static constexpr std::string_view name = "average";
  static constexpr bool is_raw = false;
  double* sums;
  double* intercept_sums;
  std::int64_t K;
  bool fit_intercept;

  template <class T>
  static Average of(const State<T>& s) {
    return {{},
            s.arrays.template get<double>("sums", s.K * s.features),
            s.arrays.template get<double>("intercept_sums", s.K),
            s.K,
            s.fit_intercept};
  }
  template <class Rows>
  void before_update(const Rows& rows, std::int64_t i, double step, std::int64_t gain, std::int64_t lose,
                     const Counters& c) {
    const double before = static_cast<double>(c.seen) * step;
    rows.template add_to<double>(i, before, sums, gain, K);
    if (fit_intercept) intercept_sums[gain] += before;
    if (lose < 0) return;
    rows.template add_to<double>(i, -before, sums, lose, K);
    if (fit_intercept) intercept_sums[lose] -= before;
  }
  template <class T>
  double kept(const T* weights, std::int64_t at, const Counters& c) const {
    return static_cast<double>(weights[at]) - sums[at] / examples(c);
  }
  double kept_intercept(const double* intercept, std::int64_t k, const Counters& c) const {
    return intercept[k] - intercept_sums[k] / examples(c);
  }

 private:
  static double examples(const Counters& c) { return static_cast<double>(std::max<std::int64_t>(1, c.seen)); }
};

// The mean over the latest examples: those after `from`, which is half of the last power of two and so leaves out the
// first quarter to half of them. As for the average, but the sums count examples from there; `later` holds those that
// count from the last power of two, where `from` will be next.
struct Tail : Last {
  static constexpr std::string_view name = "tail";
  static constexpr bool is_raw = false, watches = true;
  double *recent, *intercept_recent, *later, *intercept_later;
  std::int64_t K, size;
  bool fit_intercept;

  template <class T>
  static Tail of(const State<T>& s) {
    const std::int64_t size = s.K * s.features;
    const auto get = [&](const char* array, std::int64_t length) {
      return s.arrays.template get<double>(array, length);
    };
    return {{},
            get("recent_sums", size),
            get("intercept_recent_sums", s.K),
            get("later_sums", size),
            get("intercept_later_sums", s.K),
            s.K,
            size,
            s.fit_intercept};
  }
  template <class Rows>
  void before_update(const Rows& rows, std::int64_t i, double step, std::int64_t gain, std::int64_t lose,
                     const Counters& c) {
    add(rows, i, static_cast<double>(c.seen - from(c.seen)) * step, gain, lose, recent, intercept_recent);
    if (c.seen > last_power(c.seen))
      add(rows, i, static_cast<double>(c.seen - last_power(c.seen)) * step, gain, lose, later, intercept_later);
  }
  template <class Check>
  void after(Counters& c, bool, bool, Check&&) {
    if (c.seen < 2 || last_power(c.seen) != c.seen) return;
    std::copy_n(later, size, recent);
    std::copy_n(intercept_later, K, intercept_recent);
    std::fill_n(later, size, 0.0);
    std::fill_n(intercept_later, K, 0.0);
  }
  template <class T>
  double kept(const T* weights, std::int64_t at, const Counters& c) const {
    return static_cast<double>(weights[at]) - recent[at] / examples(c);
  }
  double kept_intercept(const double* intercept, std::int64_t k, const Counters& c) const {
    return intercept[k] - intercept_recent[k] / examples(c);
  }

 private:
  static std::int64_t last_power(std::int64_t seen) {
    return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(std::max<std::int64_t>(1, seen))));
  }
  static std::int64_t from(std::int64_t seen) { return last_power(seen) / 2; }
  static double examples(const Counters& c) {
    return static_cast<double>(std::max<std::int64_t>(1, c.seen - from(c.seen)));
  }
  template <class Rows>
  void add(const Rows& rows, std::int64_t i, double change, std::int64_t gain, std::int64_t lose, double* to,
           double* to_intercept) const {
    rows.template add_to<double>(i, change, to, gain, K);
    if (fit_intercept) to_intercept[gain] += change;
    if (lose < 0) return;
    rows.template add_to<double>(i, -change, to, lose, K);
    if (fit_intercept) to_intercept[lose] -= change;
  }
};

// The list of updates: every weight vector that lived.
struct Vote : Last {
  static constexpr std::string_view name = "vote";
  static constexpr bool is_weights = false, is_raw = false;
  Log* log;

  template <class T>
  static Vote of(const State<T>& s) {
    return {{}, s.log};
  }
  template <class Rows>
  void before_update(const Rows&, std::int64_t i, double step, std::int64_t gain, std::int64_t lose,
                     const Counters& c) {
    log->add(i, step, gain, lose, c);
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
struct Pocket : Last {
  static constexpr std::string_view name = "pocket";
  static constexpr bool is_raw = false, watches = true;
  T* weights;
  double* intercept;
  Ratchet ratchet;
  const T* current;
  const double* current_intercept;
  std::int64_t size;  // K * features
  std::int64_t K;

  static Pocket of(const State<T>& s) {
    constexpr double none_yet = std::numeric_limits<double>::infinity();
    return {{},
            s.arrays.template get<T>("pocket", s.K * s.features),
            s.arrays.template get<double>("pocket_intercept", s.K),
            {s.arrays.template get<double>("pocket_mistakes", 1, none_yet), s.ratchet},
            s.weights,
            s.intercept,
            s.K * s.features,
            s.K};
  }
  template <class Check>
  void after(Counters& c, bool mistake, bool update, Check&& check) {
    ratchet.after(c, mistake, update, check, [&] {
      std::memcpy(weights, current, size * sizeof(T));
      std::memcpy(intercept, current_intercept, K * sizeof(double));
    });
  }
  double kept(const T*, std::int64_t at, const Counters&) const { return static_cast<double>(weights[at]); }
  double kept_intercept(const double*, std::int64_t k, const Counters&) const { return intercept[k]; }
};

}  // namespace rosenblatt
