// Jobs that are made and used in order by one thread and worked on by several in between.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace kvtool {

// `produce(job)` fills a job, or answers false when there are no more; `work(job, thread)` runs on
// one of `threads` threads; `consume(job)` gets the jobs in the order in which they were made.
// Produce and consume run in the caller's thread, one at a time. Jobs are reused. The first
// exception ends everything and comes out of run(), which is called once.
template <class Job>
class OrderedWork {
 public:
  explicit OrderedWork(unsigned threads) : threads_(threads), slots_(threads < 2 ? 1 : 2 * threads) {}

  template <class Produce, class Work, class Consume>
  void run(Produce produce, Work work, Consume consume) {
    if (threads_ < 2) return run_here(produce, work, consume);
    std::vector<std::jthread> workers;
    for (unsigned i = 0; i < threads_; ++i)
      workers.emplace_back([this, &work, i] { work_on(work, i); });
    const StopBeforeJoin stop(*this);  // destroyed before the workers are joined
    run_threads(produce, consume);
  }

 private:
  enum class State { free, ready, taken, done };
  struct Slot {
    Job job;
    State state = State::free;
    std::exception_ptr error;
  };
  struct StopBeforeJoin {
    explicit StopBeforeJoin(OrderedWork& work) : work_(work) {}
    ~StopBeforeJoin() { work_.stop(); }
    StopBeforeJoin(const StopBeforeJoin&) = delete;
    StopBeforeJoin& operator=(const StopBeforeJoin&) = delete;
    OrderedWork& work_;
  };

  template <class Produce, class Work, class Consume>
  void run_here(Produce& produce, Work& work, Consume& consume) {
    Job& job = slots_.front().job;
    while (produce(job)) {
      work(job, 0U);
      consume(job);
    }
  }

  template <class Produce, class Consume>
  void run_threads(Produce& produce, Consume& consume) {
    std::size_t made = 0;
    std::size_t used = 0;
    for (bool more = true; more || used < made;) {
      if (more && made - used < slots_.size()) {
        Slot& slot = slots_[made % slots_.size()];
        more = produce(slot.job);
        if (!more) continue;
        set(slot, State::ready);
        ++made;
      } else {
        Slot& slot = slots_[used % slots_.size()];
        wait_for_done(slot);
        consume(slot.job);
        set(slot, State::free);
        ++used;
      }
    }
  }

  template <class Work>
  void work_on(Work& work, unsigned thread) {
    for (;;) {
      Slot* slot = take();
      if (slot == nullptr) return;
      try {
        work(slot->job, thread);
      } catch (...) {
        slot->error = std::current_exception();
      }
      set(*slot, State::done);
    }
  }

  // The next job in order, or nullptr at the end.
  Slot* take() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stop_ || slots_[next_].state == State::ready; });
    if (stop_) return nullptr;
    Slot& slot = slots_[next_];
    slot.state = State::taken;
    next_ = (next_ + 1) % slots_.size();
    return &slot;
  }

  void wait_for_done(Slot& slot) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return slot.state == State::done; });
    if (slot.error) std::rethrow_exception(slot.error);
  }

  void set(Slot& slot, State state) {
    {
      const std::lock_guard lock(mutex_);
      slot.state = state;
    }
    changed_.notify_all();
  }

  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
  }

  unsigned threads_;
  std::vector<Slot> slots_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t next_ = 0;
  bool stop_ = false;
};

}  // namespace kvtool
