// The scores of more than one weight row. Those of long rows are taken for a few rows at a time: a weight row is then
// read once for all of them.
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
        together_(is_long(rows) ? most : 1), raw_(together_ * K) {}

  // The scores of row i, which comes next in the order.
  const T* scores(std::int64_t i) {
    if constexpr (!Rows::sparse) {
      if (together_ > 1) {
        if (at_ == loaded_) load();
        return raw_.data() + K_ * at_++;
      }
    }
    rows_.scores(i, weights_, K_, raw_.data());
    return raw_.data();
  }

  void take_again(Changed changed) {
    if constexpr (!Rows::sparse) {
      if (changed.gain < 0) return;
      const T *gain = weights_ + changed.gain * rows_.features, *lose = weights_ + changed.lose * rows_.features;
      for (std::int64_t r = at_; r < loaded_; ++r) {
        T both[2];
        two_dots(row_[r], gain, lose, rows_.features, both);
        raw_[r * K_ + changed.gain] = both[0];
        raw_[r * K_ + changed.lose] = both[1];
      }
    }
  }

 private:
  static constexpr std::int64_t most = rows_at_once;

  static bool is_long(const Rows& rows) {
    if constexpr (Rows::sparse)
      return false;
    else
      return rows.is_long();
  }

  // While rows are read, each weight row asks for its share of those behind them, into the second cache: the first one
  // has enough to hold.
  void load() {
    const std::int64_t features = rows_.features;
    at_ = 0;
    loaded_ = std::min(most, end_ - place_);
    for (std::int64_t r = 0; r < loaded_; ++r) row_[r] = rows_.row(order_[place_ + r]);
    place_ += loaded_;
    const std::int64_t behind = std::min(most, end_ - place_);
    const std::int64_t bytes = features * sizeof(T), share = bytes / K_ / 64 * 64 + 64;
    for (std::int64_t k = 0; k < K_; ++k) {
      for (std::int64_t r = 0; r < behind; ++r) {
        const char* row = reinterpret_cast<const char*>(rows_.row(order_[place_ + r]));
        for (std::int64_t at = k * share; at < std::min(bytes, (k + 1) * share); at += 64)
          __builtin_prefetch(row + at, 0, 2);
      }
      const T* weights = weights_ + k * features;
      if (loaded_ == most)
        many_dots<most>(row_, weights, features, raw_.data() + k, K_);
      else
        for (std::int64_t r = 0; r < loaded_; ++r) raw_[r * K_ + k] = dot(row_[r], weights, features);
    }
  }

  const Rows& rows_;
  const Order order_;
  const T* const weights_;
  const std::int64_t K_;
  std::int64_t place_, end_;  // in the order: what is to be loaded next
  const std::int64_t together_;
  std::int64_t at_ = 0, loaded_ = 0;  // rows of those that are loaded
  const T* row_[most];
  std::vector<T> raw_;
};

}  // namespace rosenblatt
