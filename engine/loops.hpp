// The loops over one kind of rows, whatever the task: compiled once per kind, in engine/loops.
#pragma once

#include <cstdint>

#include "dispatch.hpp"
#include "order.hpp"
#include "task.hpp"

namespace rosenblatt {

// K weight rows and intercepts, to read.
template <class Rows>
struct Linear {
  using T = typename Rows::Value;
  const T* weights;
  const double* intercept;
  std::int64_t K;

  Linear(const T* weights_, const double* intercept_, std::int64_t K_)
      : weights(weights_), intercept(intercept_), K(K_) {}
  explicit Linear(const State<T>& state) : Linear(state.weights, state.intercept, state.K) {}
};

// All that a pocket is checked on, where it is not the order that is learned from.
template <class Rows>
struct Whole {
  const Rows& rows;
  const AnyTask& task;
  Order order;
  Poll& poll;
};

template <class Rows>
struct Loops {
  using T = typename Rows::Value;

  // Learns from a part of the order; a pocket is checked on all of it, or on `whole`.
  static void learn(const Rows& rows, const AnyTask& task, Order order, Part part, const State<T>& state,
                    const RuleOf<T>& rule, KeepOf<T>& keep, Poll& poll, const Whole<Rows>* whole = nullptr);

  // The mistakes of a model on the rows, each counted with its sample weight, on top of those `found`; it may stop once
  // `limit` is reached.
  static double count_mistakes(const Rows& rows, const AnyTask& task, Order order, const Linear<Rows>& model,
                               double limit, Poll& poll, double found = 0);

  // The share of the rows that a model predicts right, each counted with its sample weight; 0 without any.
  static double accuracy(const Rows& rows, const AnyTask& task, Order order, const Linear<Rows>& model, Poll& poll);

  // The weight of the rows that it predicts right, and of all, added up.
  struct Share {
    double right = 0, all = 0;
  };
  static void add_share(const Rows& rows, const AnyTask& task, Order order, const Linear<Rows>& model, Poll& poll,
                        Share& share);

  // K scores per row, in the order, on as many cores as there are.
  static void scores(const Rows& rows, Order order, const Linear<Rows>& model, double* out, Poll& poll);
};

extern template struct Loops<DenseRows<float>>;
extern template struct Loops<DenseRows<double>>;
extern template struct Loops<SparseRows<float, std::int32_t>>;
extern template struct Loops<SparseRows<float, std::int64_t>>;
extern template struct Loops<SparseRows<double, std::int32_t>>;
extern template struct Loops<SparseRows<double, std::int64_t>>;

}  // namespace rosenblatt
