// Updates as Python holds them: a tuple of five arrays.
#pragma once

#include "arrays.hpp"
#include "votes.hpp"

namespace rosenblatt {

// Updates of K weight rows: the rows that made them, their steps, the rows of weights that gained and lost, and how
// many examples the weights before each had survived.
using UpdateArrays =
    std::tuple<Input<std::int64_t>, Input<double>, Input<std::int32_t>, Input<std::int32_t>, Input<std::int64_t>>;

inline void check_updates(const UpdateArrays& updates, std::int64_t K, std::int64_t rows) {
  const auto& [which, steps, gains, loses, survived] = updates;
  const std::int64_t count = static_cast<std::int64_t>(which.size());
  for (std::size_t size : {steps.size(), gains.size(), loses.size(), survived.size()})
    if (static_cast<std::int64_t>(size) != count) throw nb::value_error("updates: the arrays differ in length");
  for (std::int64_t u = 0; u < count; ++u) {
    const bool inside = which.data()[u] >= 0 && which.data()[u] < rows && gains.data()[u] >= 0 && gains.data()[u] < K &&
                        loses.data()[u] >= -1 && loses.data()[u] < K;
    if (!inside) throw nb::value_error("updates: one names a row or a class that is not there");
  }
}

// The updates from first to end, after which the last weights survived so many examples.
inline Updates part_of(const UpdateArrays& updates, std::int64_t first, std::int64_t end, std::int64_t survived_last) {
  const auto& [which, steps, gains, loses, survived] = updates;
  return {which.data() + first,    steps.data() + first, gains.data() + first, loses.data() + first,
          survived.data() + first, end - first,          survived_last};
}

inline nb::tuple to_tuple(Log&& log) {
  return nb::make_tuple(to_vector(std::move(log.rows)), to_vector(std::move(log.steps)),
                        to_vector(std::move(log.gains)), to_vector(std::move(log.loses)),
                        to_vector(std::move(log.survived)));
}

}  // namespace rosenblatt
