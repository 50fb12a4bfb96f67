// Ranges of an order on several threads at once.
//
// Invariant: only for work whose ranges are independent of one another, so that the number of threads changes no bit.
#pragma once

#include <atomic>
#include <cstdlib>
#include <fstream>
#include <future>
#include <thread>

#include "train.hpp"

namespace rosenblatt {

// A thread for so many values is worth starting.
inline constexpr std::int64_t values_per_thread = std::int64_t{1} << 20;

// Threads that this process may use: ROSENBLATT_THREADS or OMP_NUM_THREADS, which joblib and Dask set in their workers,
// else the cores, at most the quota of the control group.
inline std::int64_t thread_limit() {
  for (const char* name : {"ROSENBLATT_THREADS", "OMP_NUM_THREADS"})
    if (const char* given = std::getenv(name))
      if (const long count = std::strtol(given, nullptr, 10); count > 0) return std::min<std::int64_t>(count, 1024);
  static const std::int64_t cores = [] {
    std::int64_t found = std::max<std::int64_t>(1, std::thread::hardware_concurrency());
    double quota, period;
    if (std::ifstream("/sys/fs/cgroup/cpu.max") >> quota >> period && period > 0)  // "max 100000" is no quota
      found = std::clamp<std::int64_t>(static_cast<std::int64_t>(std::ceil(quota / period)), 1, found);
    return found;
  }();
  return cores;
}

// Calls work(range, stop) for ranges that make up the places from 0 to count, on several threads; values: how many are
// read in all. If there are no more threads, the rest is done here.
template <class Work>
void run_threads(std::int64_t count, std::int64_t values, StopToken& stop, Work&& work) {
  const std::int64_t parts = std::max<std::int64_t>(1, std::min({values / values_per_thread, thread_limit(), count}));
  const auto range = [&](std::int64_t k) { return Range{count * k / parts, count * (k + 1) / parts}; };
  std::atomic<bool> stopped = false;
  const auto run = [&](std::int64_t k) {
    StopToken inner{[&] { return stopped.load(); }};
    work(range(k), inner);
  };
  std::vector<std::future<void>> others;
  for (std::int64_t k = 1; k < parts; ++k)
    others.push_back(std::async(std::launch::async | std::launch::deferred, run, k));
  try {
    work(range(0), stop);
    stopped = stop.stopped;
  } catch (...) {
    stopped = true;
    throw;
  }
  for (std::future<void>& other : others) other.get();
}

}  // namespace rosenblatt
