// The engine as a Python module, the same for every instruction set it is compiled for; random orders of rows.
#include <limits>

#include "arrays.hpp"
#include "shuffle.hpp"

namespace rosenblatt {
namespace {

bool cpu_has_avx2() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2");
#else
  return false;
#endif
}

// All zeros would stay zeros.
Generator to_generator(const Array<std::uint64_t>& state) {
  check_size(state, 4, "generator");
  Generator g;
  std::copy_n(state.data(), 4, g.state.begin());
  if (g.state == decltype(g.state){}) fail("generator: its state must not be all zeros");
  return g;
}

void store(const Generator& g, Array<std::uint64_t>& state) { std::copy_n(g.state.begin(), 4, state.data()); }

Strips to_strips(std::int64_t count, std::int64_t window) {
  if (count < 0 || count > std::numeric_limits<std::uint32_t>::max()) fail("count: must be from 0 to 2^32 - 1");
  if (window < 1) fail("window: must be at least 1");
  return Strips(count, window);
}

std::tuple<std::int64_t, std::int64_t, std::int64_t> strips_of(std::int64_t count, std::int64_t window) {
  const Strips strips = to_strips(count, window);
  return {strips.length, strips.strips(), strips.windows()};
}

Vector<std::int64_t> window_bounds(std::int64_t count, std::int64_t window) {
  const Strips strips = to_strips(count, window);
  std::vector<std::int64_t> bounds(strips.windows() + 1);
  for (std::size_t w = 0; w < bounds.size(); ++w) bounds[w] = strips.begin_of(w);
  return to_vector(std::move(bounds));
}

void bind_shuffle(nb::module_& m) {
  m.def(
      "seed_generator",
      [](std::uint64_t seed, std::uint64_t stream) {
        const Generator g = Generator::seeded(seed, stream);
        return to_vector(std::vector<std::uint64_t>(g.state.begin(), g.state.end()));
      },
      "seed"_a, "stream"_a = 0, "The state of a new generator: four integers.");
  m.def(
      "shuffle",
      [](Array<std::uint32_t> items, Array<std::uint64_t> state) {
        Generator g = to_generator(state);
        {
          nb::gil_scoped_release release;
          shuffle(items.data(), static_cast<std::int64_t>(items.size()), g);
        }
        store(g, state);
      },
      "items"_a.noconvert(), "state"_a.noconvert(), "Shuffle the items in place.");
  m.attr("WINDOW") = window_rows;
  m.def("strips_of", &strips_of, "count"_a, "window"_a, "How so many rows are cut: rows of a strip, strips, windows.");
  m.def("window_bounds", &window_bounds, "count"_a, "window"_a,
        "Where each window of so many rows begins among the strips in their order, and where the last one ends.");
  m.def(
      "draw_strips",
      [](std::int64_t count, Array<std::uint64_t> state, std::int64_t window) {
        const Strips strips = to_strips(count, window);
        Generator g = to_generator(state);
        std::vector<std::uint32_t> turns = strips.draw(g);
        store(g, state);
        return to_vector(std::move(turns));
      },
      "count"_a, "state"_a.noconvert(), "window"_a, "The strips of so many rows in random order.");
  m.def(
      "draw_windows",
      [](Input<std::uint32_t> turns, Array<std::uint64_t> state, std::int64_t count, std::int64_t window,
         std::int64_t first, std::int64_t end) {
        const Strips strips = to_strips(count, window);
        check_size(turns, strips.strips(), "turns");
        if (first < 0 || end < first || end > strips.windows()) fail("first, end: no such windows");
        for (std::size_t s = 0; s < turns.size(); ++s)
          if (turns.data()[s] >= turns.size()) fail("turns: names a strip that is not there");
        Generator g = to_generator(state);
        std::vector<std::uint32_t> rows((end - first) * strips.most * strips.length);
        rows.resize(strips.draw_windows(turns.data(), first, end, nullptr, rows.data(), g) - rows.data());
        store(g, state);
        return to_vector(std::move(rows));
      },
      "turns"_a.noconvert(), "state"_a.noconvert(), "count"_a, "window"_a, "first"_a, "end"_a,
      "The rows of the windows from first to end, strips in the order of turns.");
  m.def(
      "draw_order",
      [](Array<std::uint32_t> out, Array<std::uint64_t> state, OrderIndex rows, std::int64_t window) {
        const Strips strips = to_strips(static_cast<std::int64_t>(out.size()), window);
        if (rows) check_size(*rows, strips.count, "rows");
        Generator g = to_generator(state);
        {
          nb::gil_scoped_release release;
          strips.draw_order(rows ? rows->data() : nullptr, out.data(), g);
        }
        store(g, state);
      },
      "out"_a.noconvert(), "state"_a.noconvert(), "rows"_a.noconvert().none() = nb::none(), "window"_a = window_rows,
      "Write an order of the rows, or of the numbers from 0 on: strips of consecutive rows in random order, and the "
      "rows of a window of strips shuffled again.");
  m.def(
      "symmetric_uniform",
      [](std::int64_t count, Array<std::uint64_t> state) {
        if (count < 0) fail("count: must be at least 0");
        Generator g = to_generator(state);
        std::vector<double> values(count);
        for (double& value : values) value = g.symmetric_uniform();
        store(g, state);
        return to_vector(std::move(values));
      },
      "count"_a, "state"_a.noconvert(), "Numbers from -1 (included) to 1.");
}

}  // namespace
}  // namespace rosenblatt

NB_MODULE(ENGINE_NAME, m) {
  using namespace rosenblatt;
  m.doc() = "The compiled engine of rosenblatt: arrays in, arrays out.";
  nb::set_leak_warnings(false);  // what a thread still uses when Python ends is nobody's mistake
  m.def("cpu_has_avx2", &cpu_has_avx2, "Does this CPU have AVX2?");
  bind_shuffle(m);
  bind_rows(m);
  bind_train(m);
  bind_contest(m);
  bind_stream(m);
  bind_kernel(m);
  bind_text(m);
}
