// A lock for what a stream learns: Python takes it by `with`, and the engine at no cost while nobody else asks for it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>

#include "arrays.hpp"

namespace rosenblatt {

// The thread that has it may take it again. All but the waiting is done under the GIL.
class Lock {
 public:
  // Waits until it is free, while other threads run; Ctrl-C is raised meanwhile.
  void take() {
    const unsigned long me = PyThread_get_thread_ident();
    while (depth_ > 0 && owner_ != me) wait();
    owner_ = me;
    ++depth_;
  }

  void give_back() {
    if (depth_ == 0 || owner_ != PyThread_get_thread_ident())
      throw std::runtime_error("lock: this thread does not hold it");
    if (--depth_ > 0 || waiting_ == 0) return;
    const std::lock_guard guard(mutex_);
    freed_.notify_one();
  }

 private:
  void wait() {
    ++waiting_;
    {
      std::unique_lock guard(mutex_);  // before the GIL is released: then no notice is missed
      nb::gil_scoped_release others;
      freed_.wait_for(guard, std::chrono::milliseconds(100));
      guard.unlock();
    }
    --waiting_;
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  }

  unsigned long owner_ = 0;
  std::int64_t depth_ = 0, waiting_ = 0;
  std::mutex mutex_;
  std::condition_variable freed_;
};

// A turn at what the lock protects; of none (null) everyone may have one.
class Turn {
 public:
  explicit Turn(Lock* lock) : lock_(lock) {
    if (lock_) lock_->take();
  }
  Turn(const Turn&) = delete;
  ~Turn() {
    if (lock_) lock_->give_back();
  }

 private:
  Lock* lock_;
};

}  // namespace rosenblatt
