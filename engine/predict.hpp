// Votes of every weight vector that lived, from the list of updates.
//
// A row's score under the k-th vector is a running sum: v_k·x = v_(k-1)·x + step_k (x_k·x + 1). So one product with
// each stored row, then one scan over the updates, gives all the votes.
#pragma once

#include <cstdint>
#include <vector>

#include "train.hpp"

namespace rosenblatt {

// A list of updates with the rows that made them, to predict by.
struct Updates {
  const std::int64_t* support;  // which stored row
  const double* steps;
  const std::int32_t *targets, *rivals;  // rivals: -1 with two classes
  const std::int64_t* survived;          // of the vector before the update
  std::int64_t count;
  std::int64_t survived_last;  // of the last vector
};

// products: the dot product of the row with each stored row; scores: those of the starting weights, changed in place.
// out gets the votes: with two classes those for +1 less those for -1, with more one sum a class.
inline void count_votes(const Updates& u, const double* products, bool fit_intercept, std::int64_t K, double* scores,
                        double* out) {
  for (std::int64_t k = 0; k < K; ++k) out[k] = 0;
  const auto vote = [&](std::int64_t survived) {
    if (K == 1) {
      out[0] += static_cast<double>(scores[0] >= 0 ? survived : -survived);
      return;
    }
    std::int64_t best = 0;
    for (std::int64_t k = 1; k < K; ++k)
      if (scores[k] > scores[best]) best = k;
    out[best] += static_cast<double>(survived);
  };
  for (std::int64_t at = 0; at < u.count; ++at) {
    vote(u.survived[at]);
    const double change = u.steps[at] * (products[u.support[at]] + (fit_intercept ? 1.0 : 0.0));
    scores[u.targets[at]] += change;
    if (u.rivals[at] >= 0) scores[u.rivals[at]] -= change;
  }
  vote(u.survived_last);
}

// A row is laid out densely once, so that its product with each stored row is one pass over the stored row.
template <class T>
void spread(const AnyRows& rows, std::int64_t i, T* out) {
  std::visit(
      [&](const auto& r) {
        if constexpr (std::decay_t<decltype(r)>::sparse) {
          std::fill_n(out, r.features, T(0));
          for (std::int64_t p = r.starts[i]; p < r.starts[i + 1]; ++p) out[r.columns[p]] = static_cast<T>(r.values[p]);
        } else {
          std::copy_n(r.row(i), r.features, out);
        }
      },
      rows);
}

// The stored rows decide the precision; the rows have the same.
template <class Rows>
void votes_of_rows(const AnyRows& rows, std::int64_t count, const Rows& support, const Updates& updates,
                   const Linear<typename Rows::Value>& start, bool fit_intercept, double* out, StopToken& stop) {
  using T = typename Rows::Value;
  const std::int64_t K = start.K;
  std::vector<double> products(support.count), scores(K);
  std::vector<T> row(support.features), raw(K);
  for (std::int64_t i = 0; i < count && !stop(); ++i) {
    std::visit(
        [&](const auto& r) {
          if constexpr (std::is_same_v<typename std::decay_t<decltype(r)>::Value, T>)
            r.scores(i, start.weights, K, raw.data());
        },
        rows);
    for (std::int64_t k = 0; k < K; ++k) scores[k] = static_cast<double>(raw[k]) + start.intercept[k];
    spread(rows, i, row.data());
    for (std::int64_t s = 0; s < support.count; ++s) products[s] = static_cast<double>(support.dot(s, row.data()));
    count_votes(updates, products.data(), fit_intercept, K, scores.data(), out + i * K);
  }
}

}  // namespace rosenblatt
