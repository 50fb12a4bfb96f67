// The state of a learner: named arrays, which the caller or a contest owns, and what they mean.
#pragma once

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <vector>

namespace rosenblatt {

// Python sees the counters as one int64 array in this order.
struct Counters {
  std::int64_t seen;  // examples
  std::int64_t mistakes;
  std::int64_t updates;
  std::int64_t survived;  // examples since the last update, the one that made it included
  std::int64_t run;       // correct answers of the current weights in a row
  std::int64_t checked;   // have the current weights been checked on all rows?
  std::int64_t pocket_is_current;
  std::int64_t pocket_run;  // -1: the starting weights, which any first update challenges
};
inline constexpr std::int64_t counter_count = sizeof(Counters) / sizeof(std::int64_t);

// The list of updates, each with the examples that the weights before it had survived.
struct Log {
  std::vector<std::int64_t> rows;
  std::vector<double> steps;
  std::vector<std::int32_t> gains, loses;
  std::vector<std::int64_t> survived;

  void add(std::int64_t i, double step, std::int64_t gain, std::int64_t lose, const Counters& c) {
    rows.push_back(i);
    steps.push_back(step);
    gains.push_back(static_cast<std::int32_t>(gain));
    loses.push_back(static_cast<std::int32_t>(lose));
    survived.push_back(c.survived);
  }
};

// Arrays by name. What is asked for is thereby declared: a view of the caller's arrays refuses a missing or mis-sized
// one, an owner makes it and fills it with the initial value.
class Arrays {
 public:
  enum class Kind { float32, float64, int64 };

  virtual ~Arrays() = default;

  template <class V>
  V* get(const char* name, std::int64_t size, V initial = 0) {
    constexpr Kind kind = std::is_same_v<V, float>    ? Kind::float32
                          : std::is_same_v<V, double> ? Kind::float64
                                                      : Kind::int64;
    static_assert(kind != Kind::int64 || std::is_same_v<V, std::int64_t>);
    return static_cast<V*>(find(name, kind, size, static_cast<double>(initial)));
  }

 protected:
  virtual void* find(const char* name, Kind kind, std::int64_t size, double initial) = 0;
};

// How a state is to be read: K weight rows over so many features, and which weights are the answer.
struct StateView {
  Arrays& arrays;
  std::string_view keep;
  std::int64_t K, features;
  bool fit_intercept;
  bool ratchet = false;  // is a challenger of the pocket checked on all rows?
  Log* log = nullptr;    // where a vote's updates go
};

// The arrays that every state has.
template <class T>
struct State : StateView {
  T* weights;
  double* intercept;
  Counters* counters;
  double* mistake_weight;  // grows by the sample weight of every mistake

  explicit State(const StateView& view)
      : StateView(view), weights(arrays.get<T>("weights", K * features)), intercept(arrays.get<double>("intercept", K)),
        counters(reinterpret_cast<Counters*>(arrays.get<std::int64_t>("counters", counter_count))),
        mistake_weight(arrays.get<double>("mistake_weight", 1)) {}
};

}  // namespace rosenblatt
