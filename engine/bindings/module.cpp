// The engine as a Python module, the same for every instruction set it is compiled for.
#include "arrays.hpp"

namespace {

bool cpu_has_avx2() {
#if defined(__x86_64__)
  return __builtin_cpu_supports("avx2");
#else
  return false;
#endif
}

}  // namespace

NB_MODULE(ENGINE_NAME, m) {
  m.doc() = "The compiled engine of rosenblatt: arrays in, arrays out.";
  nb::set_leak_warnings(false);  // what a thread still uses when Python ends is nobody's mistake
  m.def("cpu_has_avx2", &cpu_has_avx2, "Does this CPU have AVX2?");
  rosenblatt::bind_generator(m);
  rosenblatt::bind_rows(m);
  rosenblatt::bind_views(m);
  rosenblatt::bind_train(m);
  rosenblatt::bind_contest(m);
  rosenblatt::bind_predict(m);
  rosenblatt::bind_stream(m);
  rosenblatt::bind_sources(m);
  rosenblatt::bind_kernel(m);
  rosenblatt::bind_packed(m);
  rosenblatt::bind_parse(m);
  rosenblatt::bind_separate(m);
}
