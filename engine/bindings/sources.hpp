// A source of kernel values as Python holds it.
#pragma once

#include "arrays.hpp"
#include "source.hpp"

namespace rosenblatt {

// With the arrays that the source looks into, kept alive.
struct KernelSource {
  std::unique_ptr<Source> source;
  std::vector<nb::object> owners;
  bool busy = false;

  // A source remembers what it was asked last.
  OneAtATime use() { return {busy, "source: another call is using it"}; }
};

using InputMatrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

}  // namespace rosenblatt
