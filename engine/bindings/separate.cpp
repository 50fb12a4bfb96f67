#include "separate.hpp"

#include "arrays.hpp"

namespace rosenblatt {
namespace {

std::tuple<bool, std::int64_t, std::int64_t, std::int64_t, std::int64_t> separate_rows(
    const Rows& rows, Input<std::int8_t> signs, const Floats& weights, Array<double> intercept, bool fit_intercept,
    std::int64_t max_updates) {
  check_size(signs, rows.count(), "signs");
  check_size(intercept, 1, "intercept");
  Separation found;
  std::visit(
      [&](const auto& view) {
        auto* w = floats<typename std::decay_t<decltype(view)>::Value>(weights, view.features, "weights");
        Interrupt().run([&](Poll& poll) {
          found = separate(view, signs.data(), w, *intercept.data(), fit_intercept, max_updates, poll);
        });
      },
      rows.view());
  return {found.converged, found.updates, found.passes, found.visits, found.support};
}

}  // namespace

void bind_separate(nb::module_& m) {
  m.def("separate", &separate_rows, "rows"_a, "signs"_a.noconvert(), nb::kw_only(), "weights"_a.noconvert(),
        "intercept"_a.noconvert(), "fit_intercept"_a, "max_updates"_a,
        "Move the weights until they separate the rows: (converged, updates, passes, visits, support).");
}

}  // namespace rosenblatt
