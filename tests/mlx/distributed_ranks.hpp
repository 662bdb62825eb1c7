// Test programs that start themselves as several ranks of the ring back end on this machine.
//
//   int main(int argc, char** argv) { return run_tests_or_rank(argc, argv, {{"sums", [](int rank) { … }}}); }
//   TEST(…) { expect_success("sums"); }
//
// A rank's checks are GoogleTest's EXPECT_ macros; it is killed after a minute.
#pragma once

#include <gtest/gtest.h>
#include <mlx/distributed/distributed.h>
#include <mlx/distributed/distributed_impl.h>
#include <netinet/in.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <espalier/mlx/distributed.hpp>
#include <exception>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

extern char** environ;

namespace ranks {

inline std::string program;         // how this program was called
inline constexpr int no_ring = 75;  // exit status of a process that could not reach the others

using roles = std::map<std::string, std::function<void(int rank)>>;

inline int run_rank(const std::function<void(int)>& role, const std::string& rank, const std::string& folder) {
  alarm(60);
  std::signal(SIGPIPE, SIG_DFL);  // whatever the shell has done
  setenv("MLX_RANK", rank.c_str(), 1);
  setenv("MLX_HOSTFILE", (folder + "/hosts.json").c_str(), 1);
  const testing::ScopedTrace trace(__FILE__, __LINE__, "rank " + rank);
  try {
    espalier::distributed_group("ring");
  } catch (const std::exception& e) {
    std::cout << "rank " << rank << ": " << e.what() << '\n';
    return no_ring;
  }
  role(std::stoi(rank));
  return testing::UnitTest::GetInstance()->Passed() ? EXIT_SUCCESS : EXIT_FAILURE;
}

// So many ports of 127.0.0.1 that were free a moment ago, in the form of a hostfile; empty if there is no such network.
inline std::string free_addresses(int count) {
  std::string text;
  std::vector<int> sockets;
  for (int i = 0; i < count; ++i) {
    sockets.push_back(socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    auto* const any_address = reinterpret_cast<sockaddr*>(&address);
    if (bind(sockets.back(), any_address, size) != 0 || getsockname(sockets.back(), any_address, &size) != 0) return "";
    text += (text.empty() ? "[[\"127.0.0.1:" : ", [\"127.0.0.1:") + std::to_string(ntohs(address.sin_port)) + "\"]";
  }
  for (const int s : sockets) close(s);
  return text + "]";
}

inline pid_t start(std::string role, std::string rank, std::string folder) {
  std::string word = "rank";
  char* const arguments[] = {program.data(), word.data(), role.data(), rank.data(), folder.data(), nullptr};
  pid_t id = 0;
  const int error = posix_spawnp(&id, program.c_str(), nullptr, nullptr, arguments, environ);
  if (error != 0) throw std::system_error(error, std::generic_category(), program);
  return id;
}

// Of a process that ended: its exit status, or 128 and the signal.
inline int exit_status(pid_t id) {
  int how = 0;
  waitpid(id, &how, 0);  // comes back: the process has set its alarm
  return WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
}

// How the ranks ended, all of which played this role; empty where there is no network.
inline std::vector<int> run(const std::string& role, int count = 2) {
  std::vector<int> ends;
  for (int attempt = 0; attempt < 3; ++attempt) {  // a port may have been taken
    const std::string addresses = free_addresses(count);
    if (addresses.empty()) return {};
    const auto folder =
        std::filesystem::temp_directory_path() / ("espalier_ring_" + std::to_string(std::random_device{}()));
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "hosts.json") << addresses;
    std::vector<pid_t> processes;
    for (int rank = 0; rank < count; ++rank) processes.push_back(start(role, std::to_string(rank), folder.string()));
    ends.clear();
    for (const pid_t id : processes) ends.push_back(exit_status(id));
    std::filesystem::remove_all(folder);
    if (std::find(ends.begin(), ends.end(), no_ring) == ends.end()) break;
  }
  return ends;
}

inline void expect_success(const std::string& role, int count = 2) {
  if (!mlx::core::distributed::is_available("ring")) GTEST_SKIP() << "this MLX was built without the ring back end";
  const std::vector<int> ends = run(role, count);
  if (ends.empty()) GTEST_SKIP() << "127.0.0.1 cannot be used here";
  EXPECT_EQ(ends, std::vector<int>(static_cast<std::size_t>(count), EXIT_SUCCESS))
      << "1: a check failed, see above; 75: no connection; 142: took too long";
}

inline int run_tests_or_rank(int argc, char** argv, const roles& all) {
  testing::InitGoogleTest(&argc, argv);
  program = argv[0];
  if (argc == 5 && std::string_view(argv[1]) == "rank") {
    const int status = run_rank(all.at(argv[2]), argv[3], argv[4]);
    std::fflush(nullptr);
    std::_Exit(status);  // not exit(): whether the ring's threads end well is not what is tested
  }
  unsetenv("MLX_HOSTFILE");  // this process is a group of one
  return RUN_ALL_TESTS();
}

// A place in a group that is not there: for what needs no communication, or only the graph of it.
inline mlx::core::distributed::Group pretended(int rank, int size) {
  using array = mlx::core::array;
  using stream = mlx::core::Stream;
  struct pretender : mlx::core::distributed::detail::GroupImpl {
    int rank_;
    int size_;
    pretender(int r, int s) : rank_(r), size_(s) {}
    [[noreturn]] static void refuse() { throw std::logic_error("nobody is there"); }
    stream communication_stream(mlx::core::StreamOrDevice s) override { return mlx::core::to_stream(s); }
    int rank() override { return rank_; }
    int size() override { return size_; }
    std::shared_ptr<GroupImpl> split(int, int) override { refuse(); }
    void all_sum(const array&, array&, stream) override { refuse(); }
    void all_gather(const array&, array&, stream) override { refuse(); }
    void send(const array&, int, stream) override { refuse(); }
    void recv(array&, int, stream) override { refuse(); }
    void all_max(const array&, array&, stream) override { refuse(); }
    void all_min(const array&, array&, stream) override { refuse(); }
    void sum_scatter(const array&, array&, stream) override { refuse(); }
  };
  return mlx::core::distributed::Group(std::make_shared<pretender>(rank, size));
}

}  // namespace ranks
