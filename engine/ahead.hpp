// The scores of more than one weight row, a few rows ahead where the weights are larger than the first cache: a weight
// row is then read once for all of them.
//
// Invariant: a row's scores are those of the weights as they are when its turn comes. An update changes two weight
// rows, and their scores are taken again.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "order.hpp"

namespace rosenblatt {

// The weight rows that a visit has changed; none: -1.
struct Changed {
  std::int64_t gain = -1, lose = -1;
};

template <class Rows>
class Ahead {
 public:
  using T = typename Rows::Value;

  // Along a part of the order, from its begin.
  Ahead(const Rows& rows, Order order, Part part, const T* weights, std::int64_t K)
      : rows_(rows), order_(order), weights_(weights), K_(K), place_(part.begin), end_(part.end),
        together_(K * rows.features * static_cast<std::int64_t>(sizeof(T)) > small ? most : 1), raw_(together_ * K) {}

  // The scores of row i, which comes next in the order; `next`: the one behind it, as for_each_row has it.
  const T* scores(std::int64_t i, std::int64_t next) {
    if constexpr (!Rows::sparse) {
      if (together_ > 1) {
        if (at_ == loaded_) load();
        return raw_.data() + K_ * at_++;
      }
    }
    rows_.scores(i, weights_, K_, raw_.data(), next);
    return raw_.data();
  }

  void take_again(Changed changed) {
    if constexpr (!Rows::sparse) {
      if (changed.gain < 0) return;
      for (std::int64_t r = at_; r < loaded_; ++r)
        for (const std::int64_t k : {changed.gain, changed.lose})
          raw_[r * K_ + k] = rows_.dot(index_[r], weights_ + k * rows_.features);
    }
  }

 private:
  static constexpr std::int64_t most = 4, small = 1 << 15;

  // Two rows at a time; while they are read each weight row asks for its share of the rows behind them, into the second
  // cache: the first one has the weights.
  void load() {
    const std::int64_t features = rows_.features;
    at_ = 0;
    loaded_ = std::min(most, end_ - place_);
    for (std::int64_t r = 0; r < loaded_; ++r) index_[r] = order_[place_ + r];
    place_ += loaded_;
    const std::int64_t behind = rows_.is_long() ? std::min(most, end_ - place_) : 0;
    const std::int64_t bytes = features * sizeof(T), share = bytes / K_ / 64 * 64 + 64;
    for (std::int64_t k = 0; k < K_; ++k) {
      for (std::int64_t r = 0; r < behind; ++r) {
        const char* row = reinterpret_cast<const char*>(rows_.row(order_[place_ + r]));
        for (std::int64_t at = k * share; at < std::min(bytes, (k + 1) * share); at += 64)
          __builtin_prefetch(row + at, 0, 2);
      }
      const T* weights = weights_ + k * features;
      T* out = raw_.data() + k;
      std::int64_t r = 0;
      for (; r + 2 <= loaded_; r += 2) {
        T both[2];
        two_dots(weights, rows_.row(index_[r]), rows_.row(index_[r + 1]), features, both);
        out[r * K_] = both[0];
        out[(r + 1) * K_] = both[1];
      }
      if (r < loaded_) out[r * K_] = rows_.dot(index_[r], weights);
    }
  }

  const Rows& rows_;
  const Order order_;
  const T* const weights_;
  const std::int64_t K_;
  std::int64_t place_, end_;  // in the order: what is to be loaded next
  const std::int64_t together_;
  std::int64_t at_ = 0, loaded_ = 0;  // rows of those that are loaded
  std::int64_t index_[most];
  std::vector<T> raw_;
};

}  // namespace rosenblatt
