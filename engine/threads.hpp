// Parts of an order on several cores at once.
//
// Invariant: only for work whose parts have nothing to do with one another, so that the number of threads does not
// change a bit.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

#include "order.hpp"

namespace rosenblatt {

// A thread for so many values is worth starting.
inline constexpr std::int64_t values_per_thread = std::int64_t{1} << 20;

// Calls work(part, poll) for parts that make up the places from 0 to count; values: how many are looked at in all.
template <class Work>
void run_in_parts(std::int64_t count, std::int64_t values, Poll& poll, Work&& work) {
  const std::int64_t cores = std::max<std::int64_t>(1, std::thread::hardware_concurrency());
  const std::int64_t parts =
      std::clamp<std::int64_t>(values / values_per_thread, 1, std::min(cores, std::max<std::int64_t>(1, count)));
  std::atomic<bool> stopped = false;
  std::vector<std::exception_ptr> raised(parts);
  std::vector<std::thread> threads;
  const auto part = [&](std::int64_t k) { return Part{count * k / parts, count * (k + 1) / parts}; };
  const auto run = [&](std::int64_t k) {
    try {
      Poll asked{[](void* flag) { return static_cast<std::atomic<bool>*>(flag)->load(); }, &stopped};
      work(part(k), asked);
    } catch (...) { raised[k] = std::current_exception(); }
  };
  std::int64_t started = 1;
  try {
    for (; started < parts; ++started) threads.emplace_back(run, started);
  } catch (const std::system_error&) {
    // No more threads: the rest is done here.
  }
  try {
    work(part(0), poll);
    for (; started < parts && !poll.stopped; ++started) work(part(started), poll);
  } catch (...) { raised[0] = std::current_exception(); }
  if (poll.stopped || raised[0]) stopped = true;
  for (std::thread& thread : threads) thread.join();
  for (const std::exception_ptr& each : raised)
    if (each) std::rethrow_exception(each);
}

}  // namespace rosenblatt
