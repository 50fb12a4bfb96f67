// Kernel learning with at most B support rows.
//
//   forget-oldest   a new row takes the place of the oldest one
//   forgetron       the same, after the weights were shrunk just enough that the loss of that row can be borne
//                   (Dekel, Shalev-Shwartz and Singer 2008, the self-tuned version)
//   projectron      once there are B rows, a step along x is a step along its projection onto their span
//                   (Orabona, Keshet and Caputo 2009)
//
// Invariant: a row's score is the sum over the slots in their order, so a pass may be cut anywhere. With a bias the
// kernel is K + bias throughout, so a row that goes takes its share of the intercept with it.
#pragma once

#include "dual.hpp"

namespace rosenblatt {

enum class Policy { forget_oldest, forgetron, projectron };

// Arrays of the caller, with room for B rows.
struct BudgetArrays {
  std::int64_t budget;
  std::int64_t* members;  // for each slot the row of the table
  double* coefficients;   // B x K
  double* matrix;         // B x B: kernel values of the slots (forgetron) or the inverse of that matrix (projectron)
  std::int64_t* size;
  std::int64_t* oldest;  // slots are a ring once they are full
  double* numbers;       // see below

  double& steps_taken() { return numbers[0]; }       // forgetron: M
  double& spent() { return numbers[1]; }             // forgetron: Q, what the removed rows have cost
  double& radius_squared() { return numbers[2]; }    // the largest K(x, x) of a mistaken row
  double& worst_projection() { return numbers[3]; }  // projectron: the largest ‖x - Px‖²
};

class BudgetRun {
 public:
  BudgetRun(Source& rows, const AnyTask& task, double bias, Policy policy, BudgetArrays pool)
      : rows_(rows), task_(task), K_(weight_rows(task)), bias_(bias), policy_(policy), pool_(pool),
        kernel_(pool.budget * panel_rows) {}

  void learn(Order order, const Rule& rule, Counters& c, double& mistake_weight, StopToken& stop) {
    std::vector<double> scores(K_);
    for_each_panel(order, stop, [&](const std::uint32_t* index, int count) {
      rows_.load(index, count);
      for (std::int64_t s = 0; s < *pool_.size; ++s) load_slot(s);
      for (int r = 0; r < count; ++r) {
        const std::int64_t i = index[r];
        score(r, scores.data());
        const Verdict verdict = verdict_of(task_, scores.data(), i);
        double norm = 0;
        learn_by(
            rule, task_, verdict, i, c, mistake_weight, [&] { return norm = rows_.diagonal(i) + bias_; },
            [&](double tau) { step(i, r, norm, tau, verdict); });
      }
    });
  }

 private:
  double kernel(std::int64_t s, int r) const { return kernel_[s * panel_rows + r]; }
  double* coefficient(std::int64_t s) const { return pool_.coefficients + s * K_; }
  double& matrix(std::int64_t s, std::int64_t t) const { return pool_.matrix[s * pool_.budget + t]; }

  void load_slot(std::int64_t s) {
    double* to = kernel_.data() + s * panel_rows;
    rows_.values(pool_.members[s], to);
    for (int r = 0; r < panel_rows; ++r) to[r] += bias_;
  }

  void score(int r, double* out) const {
    for (std::int64_t k = 0; k < K_; ++k) out[k] = 0;
    for (std::int64_t s = 0; s < *pool_.size; ++s)
      for (std::int64_t k = 0; k < K_; ++k) out[k] += coefficient(s)[k] * kernel(s, r);
  }

  void add(std::int64_t s, double step, const Verdict& verdict) {
    coefficient(s)[verdict.target_row] += step;
    if (verdict.rival_row >= 0) coefficient(s)[verdict.rival_row] -= step;
  }

  void step(std::int64_t i, int r, double norm, double step, const Verdict& verdict) {
    pool_.radius_squared() = std::max(pool_.radius_squared(), std::fabs(norm));
    pool_.steps_taken() += 1;
    for (std::int64_t s = 0; s < *pool_.size; ++s)
      if (pool_.members[s] == i) return add(s, step, verdict);
    if (policy_ == Policy::projectron && project(r, norm, step, verdict)) return;
    const std::int64_t s = *pool_.size < pool_.budget ? (*pool_.size)++ : make_room(r, step);
    if (policy_ == Policy::forgetron) {
      for (std::int64_t t = 0; t < *pool_.size; ++t) matrix(s, t) = matrix(t, s) = kernel(t, r);
      matrix(s, s) = norm;
    }
    pool_.members[s] = i;
    std::fill_n(coefficient(s), K_, 0.0);
    add(s, step, verdict);
    load_slot(s);
  }

  // Frees the slot of the oldest row. The step along the new row is part of the weights that the forgetron shrinks.
  std::int64_t make_room(int r, double& step) {
    const std::int64_t s = *pool_.oldest;
    *pool_.oldest = (s + 1) % pool_.budget;
    if (policy_ == Policy::forgetron) step *= shrink(s, r, step);
    return s;
  }

  // The largest phi in (0, 1] with Psi(phi sigma, phi mu) + Q <= 15/32 M, where Psi(l, m) = l² + 2l - 2lm: by so much
  // can the removal of a row with coefficient l and margin m set the weights back. In units of the largest K(x, x).
  double shrink(std::int64_t s, int r, double step) {
    const double coefficient_of_oldest = coefficient(s)[0];
    const double sign = coefficient_of_oldest < 0 ? -1.0 : 1.0, sigma = sign * coefficient_of_oldest;
    double score_of_oldest = step * kernel(s, r);
    for (std::int64_t t = 0; t < *pool_.size; ++t) score_of_oldest += coefficient(t)[0] * matrix(t, s);
    const double mu = sign * score_of_oldest / pool_.radius_squared();
    const double a = sigma * sigma - 2 * sigma * mu, b = 2 * sigma;
    const double room = 15.0 / 32.0 * pool_.steps_taken() - pool_.spent();
    double phi = 1.0;
    if (a + b > room) phi = std::min(1.0, 2 * room / (b + std::sqrt(std::max(0.0, b * b + 4 * a * room))));
    pool_.spent() += a * phi * phi + b * phi;
    for (std::int64_t t = 0; t < *pool_.size; ++t) coefficient(t)[0] *= phi;
    return phi;
  }

  // Steps along the projection of row r of the panel; false if there is room for the row itself and it adds something.
  bool project(int r, double norm, double step, const Verdict& verdict) {
    const std::int64_t size = *pool_.size;
    std::vector<double> shares(size);
    double inside = 0;
    for (std::int64_t s = 0; s < size; ++s) {
      for (std::int64_t t = 0; t < size; ++t) shares[s] += matrix(s, t) * kernel(t, r);
      inside += shares[s] * kernel(s, r);
    }
    const double outside = norm > 0 ? std::max(0.0, norm - inside) : norm - inside;  // K need not be positive
    if (size < pool_.budget && std::fabs(outside) > 1e-10 * std::fabs(norm)) {
      // The inverse of the matrix with one more row and column.
      for (std::int64_t s = 0; s < size; ++s) {
        for (std::int64_t t = 0; t < size; ++t) matrix(s, t) += shares[s] * shares[t] / outside;
        matrix(s, size) = matrix(size, s) = -shares[s] / outside;
      }
      matrix(size, size) = 1.0 / outside;
      return false;
    }
    pool_.worst_projection() = std::max(pool_.worst_projection(), outside);
    for (std::int64_t s = 0; s < size; ++s) add(s, step * shares[s], verdict);
    return true;
  }

  Source& rows_;
  AnyTask task_;
  std::int64_t K_;
  double bias_;
  Policy policy_;
  BudgetArrays pool_;
  std::vector<double> kernel_;
};

}  // namespace rosenblatt
