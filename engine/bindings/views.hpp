// Who learns from what, as Python holds it: rule, targets and state. All are views, checked once.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "arrays.hpp"
#include "dispatch.hpp"

namespace rosenblatt {

struct PyRule {
  AnyRule rule;
  std::shared_ptr<const Shrinking> penalty;  // null: none

  PyRule(const std::string& name, double eta0, double beta, double C, double r, double epsilon, double shrink,
         double cut);

  // For learners whose weights cannot shrink.
  const AnyRule& without_penalty(const char* who) const;
};

using AnyTargets = nb::ndarray<nb::ro, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

// signs (int8), classes (int32) or numbers (float64).
class PyTargets {
 public:
  PyTargets(AnyTargets y, std::int64_t weight_rows, std::optional<Input<double>> sample_weight, bool tie_positive,
            double epsilon);

  // The task, for so many rows.
  const AnyTask& of(std::int64_t rows) const {
    check_size(y_, rows, "targets");
    return task_;
  }

 private:
  AnyTargets y_;
  std::optional<Input<double>> sample_weight_;
  AnyTask task_;
};

// The arrays of a dict, kept alive. Names that are not asked for are not looked at.
class NamedArrays final : public Arrays {
 public:
  // ndim 0: an array may have any shape.
  NamedArrays(const nb::dict& arrays, std::size_t ndim);

  bool has(const char* name) const { return held_.find(name) != held_.end(); }
  std::int64_t size(const char* name) const { return static_cast<std::int64_t>(at(name).size()); }
  bool is_float32(const char* name) const { return at(name).dtype() == nb::dtype<float>(); }

 protected:
  void* find(const char* name, Kind kind, std::int64_t size, double initial) override;

 private:
  const Floats& at(const char* name) const;
  std::map<std::string, std::optional<Floats>, std::less<>> held_;  // none: nothing that could be learned in
};

class PyState {
 public:
  PyState(const PyState&) = delete;
  PyState(const std::string& keep, const nb::dict& arrays, bool fit_intercept, bool feature_major);

  std::int64_t K() const { return K_; }
  std::int64_t features() const { return features_; }
  bool is_float32() const { return is_float32_; }
  bool feature_major() const { return feature_major_; }
  const std::string& keep() const { return keep_; }

  StateView view(bool ratchet = false, Log* log = nullptr) {
    return {arrays_, keep_, K_, features_, fit_intercept_, ratchet, log};
  }
  // The view, if it fits the rows and the targets.
  StateView view_for(const Rows& rows, const AnyTask& task, bool ratchet = false, Log* log = nullptr);

 private:
  std::string keep_;
  NamedArrays arrays_;
  std::int64_t K_, features_;
  bool fit_intercept_, feature_major_, is_float32_;
};

// What a learner without weights of its own counts.
class PyTally {
 public:
  PyTally(const PyTally&) = delete;
  explicit PyTally(const nb::dict& arrays)
      : arrays_(arrays, 1), counters(reinterpret_cast<Counters*>(arrays_.get<std::int64_t>("counters", counter_count))),
        mistake_weight(arrays_.get<double>("mistake_weight", 1)),
        pocket_mistakes(arrays_.has("pocket_mistakes") ? arrays_.get<double>("pocket_mistakes", 1) : nullptr) {}

 private:
  NamedArrays arrays_;

 public:
  Counters* const counters;
  double* const mistake_weight;
  double* const pocket_mistakes;  // null: the keep is no pocket
};

}  // namespace rosenblatt
