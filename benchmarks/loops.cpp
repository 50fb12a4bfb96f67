// The engine's inner loops, one at a time, for counting their instructions: loops NAME runs one, loops lists them.
//
// Only what happens inside counted() is counted. The rows come from the engine's own generator, so that every machine
// does the same work.
#include <cstdio>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "generator.hpp"
#include "keep.hpp"
#include "rows.hpp"
#include "rules.hpp"
#include "separate.hpp"
#include "train.hpp"

namespace {

using namespace rosenblatt;

constexpr std::int64_t row_count = 2000, feature_count = 100, values_a_row = 60, vocabulary = 5000, class_count = 10;

// Everything that a pass needs, over dense rows of 100 features and sparse rows of 60 values out of 5,000 features.
template <class T>
struct Work {
  Generator generator = Generator::seeded(1, 0);
  std::vector<T> dense, sparse;
  std::vector<std::int32_t> indices, starts, classes;
  std::vector<std::int8_t> signs;
  std::vector<std::uint32_t> order;
  std::vector<T> weights = std::vector<T>(class_count * vocabulary);
  std::vector<double> sums = std::vector<double>(class_count * vocabulary), intercept = std::vector<double>(class_count),
                      intercept_sums = std::vector<double>(class_count);
  Counters counters{};
  double mistake_weight = 0;
  Poll poll{[](void*) { return false; }, nullptr};

  Work() {
    for (std::int64_t i = 0; i < row_count; ++i) {
      double score = 0;
      for (std::int64_t j = 0; j < feature_count; ++j) {
        dense.push_back(static_cast<T>(generator.symmetric_uniform()));
        score += j % 2 ? dense.back() : -dense.back();
      }
      // One label in ten is drawn anew: a pass has mistakes to the end.
      const bool noisy = generator.below(10) == 0;
      signs.push_back((noisy ? generator.below(2) == 0 : score > 0) ? 1 : -1);
      classes.push_back(static_cast<std::int32_t>(generator.below(class_count)));
      starts.push_back(static_cast<std::int32_t>(indices.size()));
      for (std::int64_t j = 0; j < values_a_row; ++j) {
        const std::int64_t width = vocabulary / values_a_row;
        indices.push_back(static_cast<std::int32_t>(j * width + generator.below(width)));
        sparse.push_back(static_cast<T>(generator.symmetric_uniform()) + signs.back() * static_cast<T>(0.1));
      }
      order.push_back(static_cast<std::uint32_t>(i));
    }
    starts.push_back(static_cast<std::int32_t>(indices.size()));
    rosenblatt::shuffle(order.data(), row_count, generator);
  }

  DenseRows<T> dense_rows() const { return {dense.data(), row_count, feature_count, feature_count}; }
  SparseRows<T, std::int32_t> sparse_rows() const {
    return {sparse.data(), indices.data(), starts.data(), row_count, vocabulary};
  }
  Order as_given() const { return {nullptr, row_count}; }
  Order shuffled() const { return {order.data(), row_count}; }

  template <class Rows, class Rule, class Keep>
  void binary(const Rows& rows, Order pass, const Rule& rule, Keep keep) {
    const Linear<Rows, true> model{weights.data(), intercept.data(), 1, true};
    learn_binary(rows, signs.data(), nullptr, pass, {0, pass.count}, model, rule, keep, false, counters, mistake_weight, poll);
  }
  template <class Rows, class Rule, class Keep>
  void joint(const Rows& rows, Order pass, const Rule& rule, Keep keep) {
    const Linear<Rows, true> model{weights.data(), intercept.data(), class_count, true};
    learn_joint(rows, classes.data(), nullptr, pass, {0, pass.count}, model, rule, keep, counters, mistake_weight, poll);
  }
  Average average() { return {sums.data(), intercept_sums.data(), 1}; }
};

const PerceptronRule perceptron{1.0, 0.0};
const PassiveAggressiveRule pa_one{PassiveAggressiveRule::Variant::PA_I, 1.0};

struct Loop {
  const char* name;
  std::int64_t values;  // feature values that a pass looks at
  std::function<std::function<void()>()> prepare;
};

template <class T>
std::function<std::function<void()>()> with(void (*run)(Work<T>&)) {
  return [run] {
    auto* work = new Work<T>;  // lives as long as the program
    return [run, work] { run(*work); };
  };
}

constexpr std::int64_t dense_values = row_count * feature_count, sparse_values = row_count * values_a_row;

const Loop loops[] = {
    {"dense float64, in order", dense_values,
     with<double>([](auto& w) { w.binary(w.dense_rows(), w.as_given(), perceptron, Last{}); })},
    {"dense float32, in order", dense_values,
     with<float>([](auto& w) { w.binary(w.dense_rows(), w.as_given(), perceptron, Last{}); })},
    {"dense float64, shuffled", dense_values,
     with<double>([](auto& w) { w.binary(w.dense_rows(), w.shuffled(), perceptron, Last{}); })},
    {"dense float32, shuffled", dense_values,
     with<float>([](auto& w) { w.binary(w.dense_rows(), w.shuffled(), perceptron, Last{}); })},
    {"sparse float64, in order", sparse_values,
     with<double>([](auto& w) { w.binary(w.sparse_rows(), w.as_given(), perceptron, Last{}); })},
    {"sparse float32, in order", sparse_values,
     with<float>([](auto& w) { w.binary(w.sparse_rows(), w.as_given(), perceptron, Last{}); })},
    {"sparse float64, shuffled", sparse_values,
     with<double>([](auto& w) { w.binary(w.sparse_rows(), w.shuffled(), perceptron, Last{}); })},
    {"dense float64, averaged", dense_values,
     with<double>([](auto& w) { w.binary(w.dense_rows(), w.shuffled(), perceptron, w.average()); })},
    {"dense float64, PA-I", dense_values,
     with<double>([](auto& w) { w.binary(w.dense_rows(), w.shuffled(), pa_one, Last{}); })},
    {"dense float64, ten classes", dense_values * class_count,
     with<double>([](auto& w) { w.joint(w.dense_rows(), w.shuffled(), perceptron, Last{}); })},
    {"sparse float64, ten classes", sparse_values * class_count,
     with<double>([](auto& w) { w.joint(w.sparse_rows(), w.shuffled(), perceptron, Last{}); })},
    {"separate, dense float64", dense_values, with<double>([](auto& w) {
       separate(w.dense_rows(), w.signs.data(), Linear<DenseRows<double>, true>{w.weights.data(), w.intercept.data(), 1, true},
                500, w.poll);
     })},
    {"shuffle of the rows", row_count,
     with<double>([](auto& w) { rosenblatt::shuffle(w.order.data(), row_count, w.generator); })},
};

}  // namespace

extern "C" __attribute__((noinline)) void counted(const std::function<void()>& run) { run(); }

int main(int count, char** words) {
  for (const Loop& loop : loops) {
    if (count == 1) {
      std::printf("%lld\t%s\n", static_cast<long long>(loop.values), loop.name);
    } else if (std::strcmp(words[1], loop.name) == 0) {
      const auto run = loop.prepare();
      counted(run);
      return 0;
    }
  }
  return count == 1 ? 0 : 2;
}
