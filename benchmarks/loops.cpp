// The engine's inner loops, one at a time, for counting their instructions: loops NAME runs one, loops lists them.
//
// Only what happens inside counted() is counted. The rows come from the engine's own generator, so that every machine
// does the same work. Loops are not inlined: the compiler must not know the sizes that only a benchmark knows.
#include <cstdio>
#include <cstring>
#include <functional>
#include <list>
#include <string>
#include <vector>

#include "shuffle.hpp"
#include "train.hpp"

namespace {

using namespace rosenblatt;

constexpr std::int64_t row_count = 2000, feature_count = 100, values_a_row = 60, vocabulary = 5000, class_count = 10;

const Rule perceptron = make_rule("perceptron"), pa_one = make_rule("PA-I");

// Everything that a pass needs, over dense rows of 100 features and sparse rows of 60 values out of 5,000 features.
template <class T>
struct Work {
  Generator generator = Generator::seeded(1, 0);
  std::vector<T> dense, sparse;
  std::vector<std::int32_t> columns, classes;
  std::vector<std::int64_t> starts;
  std::vector<std::int8_t> signs;
  std::vector<std::uint32_t> order;
  StateArrays arrays;
  std::list<std::vector<double>> owned;
  StopToken stop;

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
      starts.push_back(static_cast<std::int64_t>(columns.size()));
      for (std::int64_t j = 0; j < values_a_row; ++j) {
        const std::int64_t width = vocabulary / values_a_row;
        columns.push_back(static_cast<std::int32_t>(j * width + generator.below(width)));
        sparse.push_back(static_cast<T>(generator.symmetric_uniform()) + signs.back() * static_cast<T>(0.1));
      }
      order.push_back(static_cast<std::uint32_t>(i));
    }
    starts.push_back(static_cast<std::int64_t>(columns.size()));
    rosenblatt::shuffle(order.data(), row_count, generator);
    arrays.keep = Keep::average;  // the arrays, as large as any loop wants them
    arrays.K = class_count;
    arrays.features = vocabulary;
    arrays.is_float32 = sizeof(T) == 4;
    arrays.for_each(false, true, [&]<class P>(const char*, P& pointer, StateArrays::Extent extent, double, bool used) {
      if (!used) return;
      constexpr std::size_t each = std::is_same_v<P, Counters*> ? counter_count : 1;
      pointer = reinterpret_cast<P>(owned.emplace_back(arrays.size(extent) * each).data());
    });
  }

  DenseRows<T> dense_rows() const { return {dense.data(), row_count, feature_count, feature_count}; }
  SparseRows<T> sparse_rows() const { return {sparse.data(), columns.data(), starts.data(), row_count, vocabulary}; }
  Order as_given() const { return {nullptr, row_count}; }
  Order shuffled() const { return {order.data(), row_count}; }

  State<T> state(std::int64_t K, std::int64_t features, Keep keep = Keep::last) {
    StateArrays some = arrays;
    some.K = K;
    some.features = features;
    some.keep = keep;
    return State<T>(some);
  }

  template <class Rows>
  void binary(const Rows& rows, Order pass, const Rule& rule, Keep keep = Keep::last) {
    counted_learn(rows, Binary{{{nullptr}}, signs.data(), false}, pass, rule, state(1, rows.features, keep));
  }
  template <class Rows>
  void joint(const Rows& rows, Order pass, const Rule& rule) {
    counted_learn(rows, Multiclass{{nullptr}, classes.data(), class_count}, pass, rule,
                  state(class_count, rows.features));
  }
  template <class Rows>
  void penalized(const Rows& rows, Order pass, Keep keep) {
    const Penalty penalty(1 - 1e-4, 1e-5);
    State<T> learner = state(1, rows.features, keep);
    learner.penalty = &penalty;
    counted_learn(rows, Binary{{{nullptr}}, signs.data(), false}, pass, perceptron, learner);
  }

 private:
  template <class Rows, class Task>
  [[gnu::noinline, gnu::noclone]] void counted_learn(const Rows& rows, const Task& task, Order pass, const Rule& rule,
                                                     const State<T>& learner) {
    Loops<Rows>::learn(rows, task, pass, {0, pass.count}, learner, rule, stop);
  }
};

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
     with<double>([](auto& w) { w.binary(w.dense_rows(), w.as_given(), perceptron); })},
    {"dense float32, in order", dense_values,
     with<float>([](auto& w) { w.binary(w.dense_rows(), w.as_given(), perceptron); })},
    {"dense float64, shuffled", dense_values,
     with<double>([](auto& w) { w.binary(w.dense_rows(), w.shuffled(), perceptron); })},
    {"dense float32, shuffled", dense_values,
     with<float>([](auto& w) { w.binary(w.dense_rows(), w.shuffled(), perceptron); })},
    {"sparse float64, in order", sparse_values,
     with<double>([](auto& w) { w.binary(w.sparse_rows(), w.as_given(), perceptron); })},
    {"sparse float32, in order", sparse_values,
     with<float>([](auto& w) { w.binary(w.sparse_rows(), w.as_given(), perceptron); })},
    {"sparse float64, shuffled", sparse_values,
     with<double>([](auto& w) { w.binary(w.sparse_rows(), w.shuffled(), perceptron); })},
    {"dense float64, averaged", dense_values,
     with<double>([](auto& w) { w.binary(w.dense_rows(), w.shuffled(), perceptron, Keep::average); })},
    {"dense float64, PA-I", dense_values,
     with<double>([](auto& w) { w.binary(w.dense_rows(), w.shuffled(), pa_one); })},
    {"dense float64, ten classes", dense_values * class_count,
     with<double>([](auto& w) { w.joint(w.dense_rows(), w.shuffled(), perceptron); })},
    {"sparse float64, ten classes", sparse_values * class_count,
     with<double>([](auto& w) { w.joint(w.sparse_rows(), w.shuffled(), perceptron); })},
    {"sparse float64, penalized", sparse_values,
     with<double>([](auto& w) { w.penalized(w.sparse_rows(), w.shuffled(), Keep::last); })},
    {"sparse float64, penalized and averaged", sparse_values,
     with<double>([](auto& w) { w.penalized(w.sparse_rows(), w.shuffled(), Keep::average); })},
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
