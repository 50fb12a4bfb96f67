#include "separate.hpp"

#include "arrays.hpp"

namespace rosenblatt {
namespace {

std::tuple<bool, std::int64_t, std::int64_t, std::int64_t, std::int64_t> separate_rows(
    const Rows& rows, Input<std::int8_t> signs, const Floats& weights, Array<double> intercept, bool fit_intercept,
    std::int64_t max_updates) {
  check_size(signs, rows.count(), "signs");
  check_size(intercept, 1, "intercept");
  Interrupt interrupt(std::nullopt);
  const Separation found = std::visit(
      [&](const auto& view) {
        using View = std::decay_t<decltype(view)>;
        const Linear<View, true> model{floats<typename View::Value>(weights, view.features, "weights"), intercept.data(), 1,
                                 fit_intercept};
        nb::gil_scoped_release release;
        return separate(view, signs.data(), model, max_updates, interrupt.poll());
      },
      rows.view);
  interrupt.raise_if_stopped();
  return {found.converged, found.updates, found.passes, found.visits, found.support};
}

}  // namespace

void bind_separate(nb::module_& m) {
  m.def("separate", &separate_rows, "rows"_a, "signs"_a.noconvert(), nb::kw_only(), "weights"_a.noconvert(),
        "intercept"_a.noconvert(), "fit_intercept"_a, "max_updates"_a,
        "Move the weights until they separate the rows: (converged, updates, passes, visits, support).");
}

}  // namespace rosenblatt
