// What the engine computes, as one hash for each case: the same on every CPU, or the promise is broken.
//
//   bits               a line for each case, with the hash of all that was learned or read
//   bits write FILE    weights learned here, as a model file holds them: little-endian
//   bits read FILE     the hash of the scores of the same rows by the weights of a file, wherever it was written
//
// Hashes are taken of numbers, not of bytes in memory, so that the order of bytes of a CPU does not show.
#include <bit>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "kernel.hpp"
#include "shuffle.hpp"
#include "text/hash.hpp"
#include "text/svmlight.hpp"
#include "train.hpp"

using namespace rosenblatt;

class Digest {
 public:
  void add(std::uint64_t word) {
    for (int byte = 0; byte < 8; ++byte) {
      state_ ^= word >> (8 * byte) & 0xff;
      state_ *= 0x100000001b3ull;
    }
  }
  void add(std::int64_t number) { add(static_cast<std::uint64_t>(number)); }
  void add(std::int32_t number) { add(static_cast<std::int64_t>(number)); }
  void add(std::uint32_t number) { add(static_cast<std::uint64_t>(number)); }
  void add(double number) { add(std::bit_cast<std::uint64_t>(number)); }
  void add(float number) { add(std::bit_cast<std::uint32_t>(number)); }
  void add(const std::string& text) {
    for (unsigned char letter : text) add(std::uint64_t{letter});
  }
  template <class Values>
  void add_all(const Values& values) {
    add(static_cast<std::uint64_t>(values.size()));
    for (const auto& value : values) add(value);
  }
  void print(const std::string& name) const {
    std::printf("%-52s %016llx\n", name.c_str(), static_cast<unsigned long long>(state_));
  }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325ull;
};

// Rows of three classes with noise, dense and sparse, in an order of their own.
template <class T>
struct Data {
  static constexpr std::int64_t count = 400, features = 37, vocabulary = 500, values_a_row = 11, K = 3;
  std::vector<T> dense, sparse;
  std::vector<std::int32_t> columns, classes;
  std::vector<std::int64_t> starts{0};
  std::vector<std::int8_t> signs;
  std::vector<double> targets, weights;
  std::vector<std::uint32_t> order;

  Data() {
    Generator g = Generator::seeded(7, sizeof(T));
    for (std::int64_t i = 0; i < count; ++i) {
      double score = 0;
      for (std::int64_t j = 0; j < features; ++j) {
        dense.push_back(static_cast<T>(g.symmetric_uniform()));
        score += j % 3 ? dense.back() : -dense.back();
      }
      const bool noisy = g.below(10) == 0;
      signs.push_back((noisy ? g.below(2) == 0 : score > 0) ? 1 : -1);
      classes.push_back(noisy ? static_cast<std::int32_t>(g.below(K)) : score > 1 ? 2 : score > -1 ? 1 : 0);
      targets.push_back(score);
      weights.push_back(0.5 + g.below(4));
      for (std::int64_t j = 0; j < values_a_row; ++j) {
        const std::int64_t width = vocabulary / values_a_row;
        columns.push_back(static_cast<std::int32_t>(j * width + g.below(width)));
        sparse.push_back(static_cast<T>(g.symmetric_uniform()) + static_cast<T>(0.25) * signs.back());
      }
      starts.push_back(static_cast<std::int64_t>(columns.size()));
      order.push_back(static_cast<std::uint32_t>(i));
    }
    shuffle(order.data(), count, g);
  }

  AnyRows rows(bool is_dense) const {
    if (is_dense) return DenseRows<T>{dense.data(), count, features, features};
    return SparseRows<T>{sparse.data(), columns.data(), starts.data(), count, vocabulary};
  }
  std::int64_t width(bool is_dense) const { return is_dense ? features : vocabulary; }
};

// The arrays of a state by name. Those in the type of the rows take half of their doubles if the rows are float32.
struct OwnedArrays {
  struct Held {
    std::vector<double> values;
    std::int64_t size;
    bool is_float32;
  };
  std::map<std::string, Held> all;

  void make(StateArrays& state, bool second_order, bool penalty) {
    state.for_each(second_order, penalty,
                   [&]<class P>(const char* name, P& pointer, StateArrays::Extent extent, double initial, bool used) {
                     if (!used) return;
                     const bool is_float32 = std::is_same_v<P, void*> && state.is_float32;
                     constexpr std::int64_t each = std::is_same_v<P, Counters*> ? counter_count : 1;
                     Held& held = all[name];
                     held = {std::vector<double>(state.size(extent) * each, initial), state.size(extent) * each,
                             is_float32};
                     pointer = reinterpret_cast<P>(held.values.data());
                     if (is_float32)
                       std::fill_n(reinterpret_cast<float*>(pointer), held.size, static_cast<float>(initial));
                     if constexpr (each > 1) *pointer = Counters{};
                   });
  }
  template <class T>
  static std::span<const T> view(const Held& held) {
    return {reinterpret_cast<const T*>(held.values.data()), static_cast<std::size_t>(held.size)};
  }
};

// Three epochs, with sample weights.
template <class T>
OwnedArrays learned(const Data<T>& data, bool is_dense, const AnyTask& task, const char* rule, const char* keep,
                    const Penalty* penalty = nullptr, Log* log = nullptr) {
  OwnedArrays arrays;
  StateArrays state;
  state.keep = to_enum<Keep>("keep", keep, keep_names);
  state.K = weight_rows(task);
  state.features = data.width(is_dense);
  state.is_float32 = sizeof(T) == 4;
  state.log = log;
  state.penalty = penalty;
  const Rule chosen = make_rule(rule);
  arrays.make(state, chosen.second_order(), penalty);
  const AnyRows rows = data.rows(is_dense);
  const Order order{data.order.data(), data.count};
  StopToken stop;
  for (int epoch = 0; epoch < 3; ++epoch) {
    check_state(state, chosen);
    const Pass pass{rows, task, order, state, chosen};
    run_passes({&pass}, stop);
  }
  return arrays;
}

void add_arrays(Digest& digest, const OwnedArrays& arrays) {
  for (const auto& [name, held] : arrays.all) {
    digest.add(name);
    held.is_float32 ? digest.add_all(OwnedArrays::view<float>(held)) : digest.add_all(OwnedArrays::view<double>(held));
  }
}

template <class T>
void learn_all(const char* precision) {
  const Data<T> data;
  for (bool is_dense : {true, false})
    for (bool joint : {false, true})
      for (const char* rule : {"perceptron", "normalized", "PA", "PA-I", "PA-II", "AROW"})
        for (const char* keep : {"last", "average", "tail", "pocket", "vote"}) {
          const std::string named = rule, kept = keep;
          if (named == "AROW" && kept != "last" && kept != "average") continue;
          const AnyTask task = joint ? AnyTask(Multiclass{{data.weights.data()}, data.classes.data(), data.K})
                                     : AnyTask(Binary{{{data.weights.data()}}, data.signs.data(), false});
          Log log;
          Digest digest;
          add_arrays(digest, learned(data, is_dense, task, rule, keep, nullptr, kept == "vote" ? &log : nullptr));
          digest.add_all(log.rows);
          digest.add_all(log.steps);
          digest.add_all(log.survived);
          digest.print(std::string(precision) + (is_dense ? " dense " : " sparse ") + (joint ? "joint " : "two ") +
                       named + " " + kept);
        }
  // The second and the third are so strong that all weights are settled within an epoch.
  const std::pair<const char*, Penalty> penalties[] = {
      {"elasticnet", {1 - 0.15e-3, 0.85e-3}}, {"l2", {0.9, 0.0}}, {"strong", {0.8, 0.01}}, {"l1", {1.0, 1e-3}}};
  for (bool is_dense : {true, false})
    for (bool joint : {false, true})
      for (const char* keep : {"last", "average"})
        for (const auto& [name, penalty] : penalties) {
          const AnyTask task = joint ? AnyTask(Multiclass{{nullptr}, data.classes.data(), data.K})
                                     : AnyTask(Binary{{{nullptr}}, data.signs.data(), false});
          Digest digest;
          add_arrays(digest, learned(data, is_dense, task, "PA-I", keep, &penalty));
          digest.print(std::string(precision) + (is_dense ? " dense " : " sparse ") + (joint ? "joint " : "two ") +
                       keep + " " + name);
        }
}

void read_all() {
  const std::string lines =
      "+1 1:0.5 3:2e-3 # c\n-1 2:1 9:-4.25e+10\n3 1:0.1 2:123456789.123456789\n1 7:.5 6:12345678.12345678 8:1e-310\n";
  Parsed rows;
  for_each_line(lines.data(), lines.size(), rows,
                [&](const char* at, const char* end) { return svmlight::read_line(at, end, rows, true); });
  Digest digest;
  for (std::size_t p = 0; p < rows.values.size(); ++p) {
    digest.add(rows.values[p]);
    digest.add(static_cast<std::int64_t>(rows.indices[p]));
  }
  digest.print("svmlight");
  Digest hashes;
  for (std::size_t length = 0; length < lines.size(); ++length) hashes.add(hash_bytes(lines.data(), length, 42));
  hashes.print("murmur");
}

void kernel_all() {
  Digest digest;
  for (int i = -2000; i < 2000; ++i) {
    digest.add(fixed_exp(i * 0.37));
    digest.add(fixed_tanh(i * 0.013));
  }
  digest.print("exp and tanh");
}

constexpr const char* written_rule = "PA-I";

OwnedArrays model(const Data<float>& data) {
  return learned(data, true, Binary{{{nullptr}}, data.signs.data(), false}, written_rule, "last");
}

void write_model(const char* path) {
  const Data<float> data;
  const OwnedArrays arrays = model(data);
  std::ofstream file(path, std::ios::binary);
  for (float weight : OwnedArrays::view<float>(arrays.all.at("weights"))) {
    const auto bits = std::bit_cast<std::uint32_t>(weight);
    for (int byte = 0; byte < 4; ++byte) file.put(static_cast<char>(bits >> (8 * byte) & 0xff));
  }
}

void read_model(const char* path) {
  const Data<float> data;
  std::ifstream file(path, std::ios::binary);
  std::vector<float> weights(data.features);
  for (float& weight : weights) {
    std::uint32_t bits = 0;
    for (int byte = 0; byte < 4; ++byte) bits |= static_cast<std::uint32_t>(file.get() & 0xff) << (8 * byte);
    weight = std::bit_cast<float>(bits);
  }
  Digest digest;
  for (std::int64_t i = 0; i < data.count; ++i)
    digest.add(dot(data.dense.data() + i * data.features, weights.data(), data.features));
  digest.print("scores by a model file");
}

int main(int count, char** words) {
  if (count == 3 && std::strcmp(words[1], "write") == 0) return write_model(words[2]), 0;
  if (count == 3 && std::strcmp(words[1], "read") == 0) return read_model(words[2]), 0;
  learn_all<float>("float32");
  learn_all<double>("float64");
  read_all();
  kernel_all();
  return 0;
}
