// Answers for rows that are not learned from: one running sum over the log gives the last score, the sum of all scores
// and the votes of every weight vector that lived.
//
// Invariant: a row's answer does not depend on the rows beside it.
#pragma once

#include <cstdint>
#include <vector>

#include "dual.hpp"
#include "votes.hpp"

namespace rosenblatt {

// Calls visit(first, count) for the rows in panels, each loaded into the source.
template <class Visit>
void for_each_loaded(Source& source, Poll& poll, Visit&& visit) {
  for_each_panel({nullptr, source.count()}, poll, [&](const std::uint32_t* index, int count) {
    source.load(index, count);
    visit(static_cast<std::int64_t>(index[0]), count);
  });
}

// out (rows x C) = intercept + sum over s of coefficients[s, c] K(x, x_s), in the order of s.
inline void dual_scores(Source& source, const double* coefficients, const double* intercept, std::int64_t C,
                        double* out, Poll& poll) {
  double kernel[panel_rows] = {};
  std::vector<double> sums(C * panel_rows);
  for_each_loaded(source, poll, [&](std::int64_t begin, int count) {
    std::fill(sums.begin(), sums.end(), 0.0);
    for (std::int64_t s = 0; s < source.others(); ++s) {
      source.values(s, kernel);
      for (std::int64_t c = 0; c < C; ++c) {
        const double coefficient = coefficients[s * C + c];
        if (coefficient == 0) continue;
        for (int r = 0; r < panel_rows; ++r) sums[c * panel_rows + r] += coefficient * kernel[r];
      }
    }
    for (int r = 0; r < count; ++r)
      for (std::int64_t c = 0; c < C; ++c) out[(begin + r) * C + c] = sums[c * panel_rows + r] + intercept[c];
  });
}

// Where the answers of one log go, each of rows x K; null where they are not wanted.
struct Answers {
  double *last, *sum, *votes;
};

// Counts the votes of one weight vector, as often as it survived: with two classes +1 or -1, with more one a class.
inline void vote_for(PanelScores& scores, std::int64_t K, double survived, PanelScores& votes) {
  if (K == 1) {
    const double* at = scores.of_class(0);
    double* to = votes.of_class(0);
    for (int r = 0; r < panel_rows; ++r) to[r] += at[r] >= 0 ? survived : -survived;
    return;
  }
  for (int r = 0; r < panel_rows; ++r) {
    std::int64_t best = 0;
    for (std::int64_t k = 1; k < K; ++k)
      if (scores.at(k, r) > scores.at(best, r)) best = k;
    votes.of_class(best)[r] += survived;
  }
}

inline void walk(Source& source, const std::vector<Updates>& logs, std::int64_t K, double bias,
                 const std::vector<Answers>& answers, Poll& poll) {
  std::vector<double> kernel(source.others() * panel_rows);
  const std::int64_t size = K * panel_rows;
  for_each_loaded(source, poll, [&](std::int64_t begin, int count) {
    for (std::int64_t s = 0; s < source.others(); ++s) source.values(s, kernel.data() + s * panel_rows);
    for (std::size_t p = 0; p < logs.size(); ++p) {
      const Updates& log = logs[p];
      PanelScores scores(K), sums(K), votes(K);
      const auto lived = [&](std::int64_t survived) {
        const double times = static_cast<double>(survived);
        if (answers[p].sum)
          for (std::int64_t at = 0; at < size; ++at) sums.of_class(0)[at] += times * scores.of_class(0)[at];
        if (answers[p].votes) vote_for(scores, K, times, votes);
      };
      for (std::int64_t u = 0; u < log.count; ++u) {
        lived(log.survived[u]);
        scores.add(kernel.data() + log.support[u] * panel_rows, bias, log.steps[u], log.gains[u], log.loses[u]);
      }
      lived(log.survived_last);
      const auto write = [&](PanelScores& from, double* to) {
        for (int r = 0; to && r < count; ++r)
          for (std::int64_t k = 0; k < K; ++k) to[(begin + r) * K + k] = from.at(k, r);
      };
      write(scores, answers[p].last);
      write(sums, answers[p].sum);
      write(votes, answers[p].votes);
    }
  });
}

}  // namespace rosenblatt
