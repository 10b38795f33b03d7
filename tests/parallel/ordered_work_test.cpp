#include "parallel/ordered_work.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

namespace kvtool {
namespace {

using namespace std::chrono_literals;

struct Job {
  int number = 0;
  int square = 0;
};

constexpr int jobs = 100;

// Makes jobs 0 to 99.
auto counting(int& next) {
  return [&next](Job& job) {
    if (next == jobs) return false;
    job.number = next++;
    return true;
  };
}

class OrderedWorkTest : public testing::TestWithParam<unsigned> {};

TEST_P(OrderedWorkTest, ResultsComeInTheOrderOfTheJobs) {
  int next = 0;
  std::vector<int> squares;
  OrderedWork<Job>(GetParam()).run(
      counting(next),
      [](Job& job, unsigned) {
        if (job.number % 7 == 0) std::this_thread::sleep_for(1ms);  // later ones overtake it
        job.square = job.number * job.number;
      },
      [&](const Job& job) { squares.push_back(job.square); });
  ASSERT_EQ(squares.size(), jobs);
  for (int i = 0; i < jobs; ++i) EXPECT_EQ(squares[static_cast<std::size_t>(i)], i * i);
}

TEST_P(OrderedWorkTest, EachThreadHasANumberBelowTheirCount) {
  int next = 0;
  std::atomic<unsigned> highest = 0;
  OrderedWork<Job>(GetParam()).run(
      counting(next), [&](Job&, unsigned thread) { highest = std::max(highest.load(), thread); },
      [](const Job&) {});
  EXPECT_LT(highest, std::max(1U, GetParam()));
}

TEST_P(OrderedWorkTest, AnErrorOfAJobComesOutInItsTurn) {
  int next = 0;
  std::vector<int> seen;
  auto work = [](Job& job, unsigned) {
    if (job.number == 50) throw std::runtime_error("job 50");
  };
  EXPECT_THROW(OrderedWork<Job>(GetParam()).run(
                   counting(next), work, [&](const Job& job) { seen.push_back(job.number); }),
               std::runtime_error);
  std::vector<int> before(50);
  std::iota(before.begin(), before.end(), 0);
  EXPECT_EQ(seen, before);
}

TEST_P(OrderedWorkTest, AnErrorOfTheCallerEndsTheThreads) {
  int next = 0;
  auto refuse = [](const Job& job) {
    if (job.number == 3) throw std::runtime_error("no more");
  };
  EXPECT_THROW(OrderedWork<Job>(GetParam()).run(counting(next), [](Job&, unsigned) {}, refuse),
               std::runtime_error);
}

INSTANTIATE_TEST_SUITE_P(Threads, OrderedWorkTest, testing::Values(0U, 1U, 2U, 5U));

}  // namespace
}  // namespace kvtool
