// The engine as a Python module, the same for every instruction set it is compiled for; random orders of rows.
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

// The generator of a state.
Generator& to_generator(const Array<std::uint64_t>& words) {
  check_size(words, 4, "generator");
  auto& generator = *reinterpret_cast<Generator*>(words.data());
  if (generator.state == decltype(generator.state){}) fail("generator: its state must not be all zeros");  // they stay
  return generator;
}

void bind_shuffle(nb::module_& m) {
  m.def(
      "seed_generator",
      [](std::uint64_t seed, std::uint64_t stream) {
        const Generator g = Generator::seeded(seed, stream);
        return to_vector(std::vector<std::uint64_t>(g.state.begin(), g.state.end()));
      },
      "seed"_a, "stream"_a = 0, "The state of a new generator: four integers.");
  m.attr("WINDOW") = window_rows;
  m.def(
      "draw_order",
      [](Array<std::uint32_t> out, Array<std::uint64_t> state, OrderIndex rows, std::int64_t window) {
        const auto count = static_cast<std::int64_t>(out.size());
        if (count > std::numeric_limits<std::uint32_t>::max()) fail("out: must have at most 2^32 - 1 rows");
        if (window < 1) fail("window: must be at least 1");
        if (rows) check_size(*rows, count, "rows");
        Generator& g = to_generator(state);
        nb::gil_scoped_release release;
        draw_order(count, window, rows ? rows->data() : nullptr, out.data(), g);
      },
      "out"_a.noconvert(), "state"_a.noconvert(), "rows"_a.noconvert().none() = nb::none(), "window"_a = window_rows,
      "Write an order of the rows, or of the numbers from 0 on: strips of consecutive rows in random order, and the "
      "rows of a window of strips shuffled again.");
  m.def(
      "symmetric_uniform",
      [](std::int64_t count, Array<std::uint64_t> state) {
        if (count < 0) fail("count: must be at least 0");
        Generator& g = to_generator(state);
        std::vector<double> values(count);
        for (double& value : values) value = g.symmetric_uniform();
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
  bind_stream(m);
  bind_kernel(m);
  bind_text(m);
}
