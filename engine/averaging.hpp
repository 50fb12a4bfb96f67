// The state of a learner, and which weights are the answer (the keep). A keep answers:
//   update(...)   move the weights by `step` along row i (and by `-step` for the rival row), with its own bookkeeping
//   after(...)    an example is over: was it a mistake, was there an update?
//   kept(...)     the answer's weight at a place, and kept_intercept(...) its intercept
// observes_every_row: does `after` do anything?
//
// Invariant: a keep never changes the raw weights otherwise than the rule says, so learning can always go on.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <map>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "rows.hpp"

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

// The list of updates, each with the examples that the weights before it had survived.
struct Log {
  std::vector<std::int64_t> rows;
  std::vector<double> steps;
  std::vector<std::int32_t> targets, rivals;
  std::vector<std::int64_t> survived;

  void add(std::int64_t i, double step, std::int64_t target, std::int64_t rival, const Counters& c) {
    rows.push_back(i);
    steps.push_back(step);
    targets.push_back(static_cast<std::int32_t>(target));
    rivals.push_back(static_cast<std::int32_t>(rival));
    survived.push_back(c.survived);
  }
};

enum class Keep { last, average, tail, vote, pocket };
inline constexpr std::string_view keep_names[] = {"last", "average", "tail", "vote", "pocket"};

inline Keep to_keep(std::string_view name) {
  const auto* const found = std::find(std::begin(keep_names), std::end(keep_names), name);
  if (found == std::end(keep_names))
    throw std::invalid_argument("keep='" + std::string(name) + "': must be last, average, tail, vote or pocket");
  return static_cast<Keep>(found - keep_names);
}

// The arrays of a learner: K weight rows over so many features. Null: not used.
struct StateArrays {
  Keep keep = Keep::last;
  std::int64_t K = 1, features = 0;
  bool is_float32 = false, fit_intercept = true;
  bool ratchet = false;  // is a challenger of the pocket checked on all rows?
  Log* log = nullptr;    // where a vote's updates go

  void* weights = nullptr;
  double* intercept = nullptr;
  Counters* counters = nullptr;
  double* mistake_weight = nullptr;  // grows by the sample weight of every mistake
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
  // and `penalty`: is the rule AROW, do weights shrink?
  template <class F>
  void for_each(bool second_order, bool penalty, F&& f) {
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
    f("settled_at", settled_at, Extent::one, 0.0, penalty);
    f("summed_at", summed_at, Extent::weights, 0.0, penalty && averages);
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

// A vector that begins with a line of the cache, so that packs of values lie within one.
template <class T>
struct CacheAligned {
  using value_type = T;
  CacheAligned() = default;
  template <class U>
  CacheAligned(const CacheAligned<U>&) {}
  T* allocate(std::size_t count) { return static_cast<T*>(::operator new(count * sizeof(T), std::align_val_t{64})); }
  void deallocate(T* piece, std::size_t) noexcept { ::operator delete(piece, std::align_val_t{64}); }
  bool operator==(const CacheAligned&) const { return true; }
};
template <class T>
using AlignedVector = std::vector<T, CacheAligned<T>>;

// Arrays that the engine owns: those that a state uses, with their initial values.
struct OwnedArrays {
  using Values = std::variant<AlignedVector<float>, AlignedVector<double>, AlignedVector<std::int64_t>>;
  std::map<std::string, Values> all;

  void make(StateArrays& arrays, bool second_order, bool penalty = false) {
    arrays.for_each(second_order, penalty,
                    [&]<class P>(const char* name, P& pointer, StateArrays::Extent extent, double initial, bool used) {
                      if (!used) return;
                      const std::int64_t size = arrays.size(extent);
                      if constexpr (std::is_same_v<P, Counters*>) {
                        pointer = reinterpret_cast<Counters*>(put<std::int64_t>(name, counter_count, 0));
                        *pointer = Counters{};
                      } else if (std::is_same_v<P, void*> && arrays.is_float32) {
                        pointer = reinterpret_cast<P>(put<float>(name, size, initial));
                      } else {
                        pointer = reinterpret_cast<P>(put<double>(name, size, initial));
                      }
                    });
  }

  // More features, whose weights lie feature after feature behind the others.
  void grow(StateArrays& arrays) {
    arrays.for_each(arrays.variances, arrays.settled_at,
                    [&]<class P>(const char* name, P& pointer, StateArrays::Extent extent, double initial, bool used) {
                      if (!used || extent != StateArrays::Extent::weights) return;
                      std::visit(
                          [&]<class V>(AlignedVector<V>& values) {
                            values.resize(arrays.size(extent), static_cast<V>(initial));
                            pointer = reinterpret_cast<P>(values.data());
                          },
                          all.at(name));
                    });
  }

 private:
  template <class V>
  V* put(const char* name, std::int64_t size, double initial) {
    AlignedVector<V> values(size, static_cast<V>(initial));
    values.reserve(1);  // an empty array has an address too
    return std::get<AlignedVector<V>>(all[name] = std::move(values)).data();
  }
};

// What an update is made of: `step` along row i for weight row `target`, and as much the other way for `rival` (-1:
// none).
struct Step {
  std::int64_t i;
  double step;
  std::int64_t target, rival;
};

// The raw weights are the answer. Most keeps do nothing more.
struct Last {
  static constexpr bool observes_every_row = false;

  template <class T>
  static Last of(const State<T>&) {
    return {};
  }
  template <class Rows, class T>
  void update(const Rows& rows, const Step& by, T* weights, std::int64_t K, const Counters&) {
    rows.add_to(by.i, static_cast<T>(by.step), weights, by.target, K);
    if (by.rival >= 0) rows.add_to(by.i, static_cast<T>(-by.step), weights, by.rival, K);
  }
  template <class Check>
  void after(Counters&, bool, bool, Check&&) {}
  template <class T>
  double kept(const T* weights, std::int64_t at, const Counters&) const {
    return static_cast<double>(weights[at]);
  }
  double kept_intercept(const double* intercept, std::int64_t k, const Counters&) const { return intercept[k]; }
};

// Sums of changes, each times some examples. In float32 a small step may be rounded away in the weights: the sums then
// take the change that was really made, else the mean would leave the range of the weights.
struct WeightedSums {
  double *sums, *intercept;  // intercept: null without one

  template <class Rows, class T>
  void update(const Rows& rows, const Step& by, T* weights, std::int64_t K, double examples) const {
    add(rows, by.i, by.step, weights, by.target, K, examples);
    if (by.rival >= 0) add(rows, by.i, -by.step, weights, by.rival, K, examples);
  }

 private:
  template <class Rows, class T>
  void add(const Rows& rows, std::int64_t i, double step, T* weights, std::int64_t k, std::int64_t K,
           double examples) const {
    if constexpr (sizeof(T) == 4) {
      rows.add_to(i, static_cast<T>(step), weights, k, K,
                  [to = sums, examples](std::int64_t at, double change) INLINE_LAMBDA { to[at] += examples * change; });
    } else {
      rows.add_to(i, examples * step, sums, k, K);
      rows.add_to(i, step, weights, k, K);
    }
    if (intercept) intercept[k] += examples * step;
  }
};

// Sums u = sum over updates of (examples seen before it) * change, so that the mean of the weights after each of
// N examples is w - u/N. Only the features of mistaken rows are touched.
struct Average : Last {
  WeightedSums sums;
  const double* intercept_sums;

  template <class T>
  static Average of(const State<T>& s) {
    return {{}, {s.sums, s.fit_intercept ? s.intercept_sums : nullptr}, s.intercept_sums};
  }
  template <class Rows, class T>
  void update(const Rows& rows, const Step& by, T* weights, std::int64_t K, const Counters& c) {
    sums.update(rows, by, weights, K, static_cast<double>(c.seen));
  }
  template <class T>
  double kept(const T* weights, std::int64_t at, const Counters& c) const {
    return static_cast<double>(weights[at]) - sums.sums[at] / examples(c);
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
template <class T>
struct Tail : Last {
  static constexpr bool observes_every_row = true;
  State<T> state;

  static Tail of(const State<T>& s) { return {{}, s}; }
  template <class Rows>
  void update(const Rows& rows, const Step& by, T* weights, std::int64_t K, const Counters& c) {
    const bool later = c.seen > last_power(c.seen);
    const auto recent_examples = static_cast<double>(c.seen - from(c.seen)),
               later_examples = static_cast<double>(c.seen - last_power(c.seen));
    add(rows, by.i, by.step, weights, by.target, K, recent_examples, later, later_examples);
    if (by.rival >= 0) add(rows, by.i, -by.step, weights, by.rival, K, recent_examples, later, later_examples);
  }
  template <class Check>
  void after(Counters& c, bool, bool, Check&&) {
    if (c.seen < 2 || last_power(c.seen) != c.seen) return;
    const std::int64_t size = state.K * state.features;
    std::copy_n(state.later_sums, size, state.recent_sums);
    std::copy_n(state.intercept_later_sums, state.K, state.intercept_recent_sums);
    std::fill_n(state.later_sums, size, 0.0);
    std::fill_n(state.intercept_later_sums, state.K, 0.0);
  }
  double kept(const T* weights, std::int64_t at, const Counters& c) const {
    return static_cast<double>(weights[at]) - state.recent_sums[at] / examples(c);
  }
  double kept_intercept(const double* intercept, std::int64_t k, const Counters& c) const {
    return intercept[k] - state.intercept_recent_sums[k] / examples(c);
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
  void add(const Rows& rows, std::int64_t i, double step, T* weights, std::int64_t k, std::int64_t K, double recent,
           bool later, double latest) const {
    if constexpr (sizeof(T) == 4) {
      rows.add_to(i, static_cast<T>(step), weights, k, K, [&](std::int64_t at, double change) {
        state.recent_sums[at] += recent * change;
        if (later) state.later_sums[at] += latest * change;
      });
    } else {
      rows.add_to(i, recent * step, state.recent_sums, k, K);
      if (later) rows.add_to(i, latest * step, state.later_sums, k, K);
      rows.add_to(i, step, weights, k, K);
    }
    if (!state.fit_intercept) return;
    state.intercept_recent_sums[k] += recent * step;
    if (later) state.intercept_later_sums[k] += latest * step;
  }
};

// The list of updates: every weight vector that lived.
struct Vote : Last {
  Log* log;

  template <class T>
  static Vote of(const State<T>& s) {
    return {{}, s.log};
  }
  template <class Rows, class T>
  void update(const Rows& rows, const Step& by, T* weights, std::int64_t K, const Counters& c) {
    log->add(by.i, by.step, by.target, by.rival, c);
    Last::update(rows, by, weights, K, c);
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
  static constexpr bool observes_every_row = true;
  State<T> state;

  static Pocket of(const State<T>& s) { return {{}, s}; }
  template <class Check>
  void after(Counters& c, bool mistake, bool update, Check&& check) {
    Ratchet{state.pocket_mistakes, state.ratchet}.after(c, mistake, update, check, [&] {
      std::memcpy(state.pocket, state.weights, state.K * state.features * sizeof(T));
      std::memcpy(state.pocket_intercept, state.intercept, state.K * sizeof(double));
    });
  }
  double kept(const T*, std::int64_t at, const Counters&) const {
    return static_cast<double>(static_cast<const T*>(state.pocket)[at]);
  }
  double kept_intercept(const double*, std::int64_t k, const Counters&) const { return state.pocket_intercept[k]; }
};

}  // namespace rosenblatt
