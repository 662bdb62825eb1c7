// MLX's distributed operations inside compiled functions: in a group of one, and in two processes over the ring back
// end. The program starts itself as both of them: `<program> worker <rank> <folder>`.
#include <gtest/gtest.h>
#include <mlx/mlx.h>
#include <netinet/in.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <espalier/espalier.hpp>
#include <espalier/mlx/mlx.hpp>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

extern char** environ;

namespace mx = mlx::core;
namespace dist = mx::distributed;
namespace fs = std::filesystem;

namespace {

std::string program;         // how this program was called
constexpr int no_ring = 75;  // exit status of a process that could not reach the other one

struct train_state {
  mx::array weight;
  mx::array steps;
};

std::vector<float> values_of(const mx::array& a) { return {a.data<float>(), a.data<float>() + a.size()}; }

// --- A group of one. -------------------------------------------------------------------------------------------------

TEST(Distributed, InAGroupOfOneReductionsAreTheIdentity) {
  auto step = espalier::compile([](train_state& state, const mx::array& x) {
    const dist::Group group = dist::init(false);
    state.weight = state.weight + dist::all_sum(x, group);
    state.steps = dist::all_max(state.steps, group);
    return dist::all_gather(x, group);
  });
  train_state state{mx::array({0.0f, 0.0f}), mx::array(7.0f)};
  for (const float v : {1.0f, 2.0f, 3.0f}) {
    const mx::array gathered = step(state, mx::array({v, 10 * v}));
    espalier::eval(state, gathered);
    EXPECT_EQ(values_of(gathered), (std::vector{v, 10 * v}));
  }
  EXPECT_EQ(values_of(state.weight), (std::vector{6.0f, 60.0f}));
  EXPECT_EQ(values_of(state.steps), std::vector{7.0f});
  EXPECT_EQ(step.stats().traces, 1u);
  EXPECT_EQ(step.stats().hits, 2u);
}

TEST(Distributed, WhatMlxRefusesInAGroupOfOneArrivesAndLeavesNoTrace) {
  auto send = espalier::compile([](const mx::array& x) { return dist::send(x, 0, dist::init(false)); });
  EXPECT_THROW(send(mx::array(1.0f)), std::invalid_argument);
  EXPECT_EQ(send.stats().entries, 0u);
}

// --- What each of two processes does. They communicate in one order: each operation needs the one before. ------------

// send and recv, all_sum, all_gather, and state, in one function.
void every_operation(int rank) {
  auto step = espalier::compile([](train_state& state, const mx::array& x, int own_rank) {
    const mx::array of_rank_0 = own_rank == 0 ? dist::send(x, 1) : dist::recv_like(x, 0);
    state.weight = state.weight + dist::all_sum(x * of_rank_0);
    state.steps = state.steps + mx::array(1.0f);
    return dist::all_gather(state.weight + x);
  });
  train_state state{mx::array({0.0f, 0.0f}), mx::array(0.0f)};
  float sum = 0;
  for (const float x0 : {1.0f, 2.0f, 3.0f, 4.0f, 5.0f}) {
    const float x1 = 10 * x0 + 3;
    const mx::array gathered = step(state, mx::full({2}, rank == 0 ? x0 : x1), rank);
    espalier::eval(state, gathered);
    sum += x0 * x0 + x1 * x0;
    EXPECT_EQ(values_of(gathered), (std::vector{sum + x0, sum + x0, sum + x1, sum + x1}));
    EXPECT_EQ(values_of(state.weight), (std::vector{sum, sum}));
    EXPECT_EQ(values_of(state.steps), std::vector{x0});
  }
  EXPECT_EQ(step.stats().traces, 1u);
  EXPECT_EQ(step.stats().hits, 4u);
}

// Messages that look the same are not merged: a merged receipt would count twice, and leave a message to the next call.
void every_message(int rank) {
  auto sum_of_messages = espalier::compile([](const mx::array& x, const mx::array& y, int own_rank) {
    const auto pass = [&](const mx::array& a) { return own_rank == 0 ? dist::send(a, 1) : dist::recv_like(a, 0); };
    return mx::sum(mx::concatenate({pass(x), pass(y), pass(x)}));
  });
  for (const float v : {1.0f, 2.0f, 3.0f}) {
    const float own = rank == 0 ? v : 0;  // rank 1 has only what it receives
    EXPECT_EQ(sum_of_messages(mx::array({own}), mx::array({100 * own}), rank).item<float>(), 102 * v);
  }
  EXPECT_EQ(sum_of_messages.stats().traces, 1u);
  EXPECT_EQ(sum_of_messages.stats().hits, 2u);
}

// Data-parallel training, the gradient taken inside: both processes go the way of one that has both batches.
void shared_gradient(int rank) {
  auto step = espalier::compile([](mx::array& weight, const mx::array& x) {
    const auto loss = [](const mx::array& w, const mx::array& b) { return mx::sum(mx::square(w - b)); };
    const auto [value, gradient] = espalier::value_and_grad(loss)(weight, x);
    weight = weight - mx::array(0.125f) * dist::all_sum(gradient);
    return value;
  });
  mx::array weight(0.0f);
  float expected = 0;
  for (const float x0 : {8.0f, 16.0f, 24.0f, 32.0f, 40.0f}) {  // all numbers are small multiples of 1/16: exact
    const float x1 = 64, own = rank == 0 ? x0 : x1;
    const mx::array value = step(weight, mx::array(own));
    espalier::eval(weight, value);
    EXPECT_EQ(value.item<float>(), (expected - own) * (expected - own));
    expected -= 0.125f * (2 * (expected - x0) + 2 * (expected - x1));
    EXPECT_EQ(weight.item<float>(), expected);
  }
  EXPECT_EQ(step.stats().traces, 1u);
  EXPECT_EQ(step.stats().hits, 4u);
}

int worker(const std::string& rank, const std::string& folder) {
  alarm(60);
  setenv("MLX_RANK", rank.c_str(), 1);
  setenv("MLX_HOSTFILE", (folder + "/hosts.json").c_str(), 1);
  // MLX compiles fused operations to files in here: two processes must not write one file.
  setenv("TMPDIR", (folder + "/" + rank).c_str(), 1);
  fs::create_directory(fs::path(folder) / rank);
  const testing::ScopedTrace trace(__FILE__, __LINE__, "rank " + rank);
  try {
    dist::init(true, "ring");
  } catch (const std::exception& e) {
    std::cout << "rank " << rank << ": " << e.what() << '\n';
    return no_ring;
  }
  EXPECT_EQ(dist::init().size(), 2);
  EXPECT_EQ(std::to_string(dist::init().rank()), rank);
  for (const auto test : {every_operation, every_message, shared_gradient}) test(dist::init().rank());
  return testing::UnitTest::GetInstance()->Passed() ? EXIT_SUCCESS : EXIT_FAILURE;
}

// --- Starting them. --------------------------------------------------------------------------------------------------

// Two ports of 127.0.0.1 that were free a moment ago, in the form of a hostfile; empty if there is no such network.
std::string free_addresses() {
  std::string text;
  std::array<int, 2> sockets{};
  for (int& s : sockets) {
    s = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any_address = reinterpret_cast<sockaddr*>(&address);
    if (bind(s, any_address, size) != 0 || getsockname(s, any_address, &size) != 0) return "";
    text += (text.empty() ? "[[\"127.0.0.1:" : ", [\"127.0.0.1:") + std::to_string(ntohs(address.sin_port)) + "\"]";
  }
  for (const int s : sockets) close(s);
  return text + "]";
}

pid_t start(std::string rank, std::string folder) {
  std::string word = "worker";
  char* const arguments[] = {program.data(), word.data(), rank.data(), folder.data(), nullptr};
  pid_t id = 0;
  const int error = posix_spawnp(&id, program.c_str(), nullptr, nullptr, arguments, environ);
  if (error != 0) throw std::system_error(error, std::generic_category(), program);
  return id;
}

int exit_status(pid_t id) {
  int how = 0;
  waitpid(id, &how, 0);  // comes back: the process has set its alarm
  return WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
}

TEST(Distributed, TwoProcessesReplayEveryOperation) {
  if (!dist::is_available("ring")) GTEST_SKIP() << "this MLX was built without the ring back end";
  int first = no_ring, second = no_ring;
  for (int attempt = 0; attempt < 3 && (first == no_ring || second == no_ring); ++attempt) {  // a port was taken
    const std::string addresses = free_addresses();
    if (addresses.empty()) GTEST_SKIP() << "127.0.0.1 cannot be used here";
    const auto folder = fs::temp_directory_path() / ("espalier_ring_" + std::to_string(std::random_device{}()));
    fs::create_directories(folder);
    std::ofstream(folder / "hosts.json") << addresses;
    const pid_t rank_0 = start("0", folder.string()), rank_1 = start("1", folder.string());
    first = exit_status(rank_0);
    second = exit_status(rank_1);
    fs::remove_all(folder);
  }
  const std::string meaning = "1: a check failed, see above; 75: no connection; 142: took too long";
  EXPECT_EQ(first, EXIT_SUCCESS) << meaning;
  EXPECT_EQ(second, EXIT_SUCCESS) << meaning;
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  program = argv[0];
  if (argc == 4 && std::string_view(argv[1]) == "worker") {
    const int status = worker(argv[2], argv[3]);
    std::fflush(nullptr);
    std::_Exit(status);  // not exit(): whether the ring's threads end well is not what is tested
  }
  unsetenv("MLX_HOSTFILE");  // this process is a group of one
  return RUN_ALL_TESTS();
}
