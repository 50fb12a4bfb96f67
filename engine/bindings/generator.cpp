#include "generator.hpp"

#include <algorithm>
#include <numeric>

#include "arrays.hpp"

namespace rosenblatt {
namespace {

void store(const Generator& g, Array<std::uint64_t>& state) { std::copy_n(g.state.begin(), 4, state.data()); }

}  // namespace

void bind_generator(nb::module_& m) {
  m.def(
      "seed_generator",
      [](std::uint64_t seed, std::uint64_t stream) {
        const Generator g = Generator::seeded(seed, stream);
        return to_vector(std::vector<std::uint64_t>(g.state.begin(), g.state.end()));
      },
      "seed"_a, "stream"_a = 0, "The state of a new generator: four integers.");
  m.def(
      "shuffle",
      [](Array<std::uint32_t> items, Array<std::uint64_t> state, bool number) {
        Generator g = to_generator(state);
        {
          nb::gil_scoped_release release;
          if (number) std::iota(items.data(), items.data() + items.size(), 0u);
          shuffle(items.data(), static_cast<std::int64_t>(items.size()), g);
        }
        store(g, state);
      },
      "items"_a.noconvert(), "state"_a.noconvert(), nb::kw_only(), "number"_a = false,
      "Shuffle the items in place; with `number`, the numbers from 0 on in their place.");
  m.def(
      "symmetric_uniform",
      [](std::int64_t count, Array<std::uint64_t> state) {
        if (count < 0) throw nb::value_error("count: must be at least 0");
        Generator g = to_generator(state);
        std::vector<double> values(count);
        for (double& value : values) value = g.symmetric_uniform();
        store(g, state);
        return to_vector(std::move(values));
      },
      "count"_a, "state"_a.noconvert(), "Numbers from -1 (included) to 1.");
}

}  // namespace rosenblatt
