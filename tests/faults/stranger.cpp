// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Another user of the machine, with everything at hand that the machine tells anybody: process
// numbers, names of sockets, and even the numbers of descriptors and mappings.  Started as root
// (only so can it learn that its paths are right), it becomes user 65534 and attacks a running job
// for some seconds.  Exit status 0: it got nothing.
//   stranger SECONDS PID...
#include <fcntl.h>
#include <grp.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "core/memory_letter.hpp"

namespace {

constexpr uid_t nobody = 65534;
int got = 0;

void expect_refused(bool succeeded, const std::string& what) {
  if (!succeeded) return;
  std::fprintf(stderr, "the stranger got %s\n", what.c_str());
  ++got;
}

struct Target {
  pid_t pid;
  std::vector<std::string> paths;  // that lead to memory of Tide's
  uint64_t mapped_at = 0;
  std::set<std::string> sockets;  // inodes, so that no other job on this machine is attacked
};

// As root.
Target look_at(pid_t pid) {
  Target target{pid, {}, 0, {}};
  const std::string proc = "/proc/" + std::to_string(pid);
  for (const auto& entry : std::filesystem::directory_iterator(proc + "/fd")) {
    std::error_code gone;
    const std::string to = std::filesystem::read_symlink(entry.path(), gone).string();
    if (to.find("memfd:tide") != std::string::npos) target.paths.push_back(entry.path());
    if (to.rfind("socket:[", 0) == 0) target.sockets.insert(to.substr(8, to.size() - 9));
  }
  std::ifstream maps(proc + "/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find("memfd:tide") == std::string::npos) continue;
    unsigned long from = 0, to = 0;
    std::sscanf(line.c_str(), "%lx-%lx", &from, &to);
    target.mapped_at = from;
    char name[64];
    std::snprintf(name, sizeof name, "/map_files/%lx-%lx", from, to);
    target.paths.push_back(proc + name);
  }
  return target;
}

std::vector<tide::MailAddress> mailboxes(const std::vector<Target>& targets) {  // as anybody
  std::vector<tide::MailAddress> result;
  std::ifstream table("/proc/net/unix");
  for (std::string line; std::getline(table, line);) {
    const size_t at = line.find("@tide.");
    std::istringstream words(line);
    std::string inode;
    for (int i = 0; i < 7; ++i) words >> inode;
    const bool aimed_at = std::any_of(targets.begin(), targets.end(),
                                      [&](const Target& t) { return t.sockets.count(inode) != 0; });
    if (at == std::string::npos || !aimed_at) continue;
    tide::MailAddress address{};
    line.copy(address.name + 1, sizeof address.name - 1, at + 1);
    result.push_back(address);
  }
  return result;
}

void become_nobody() {
  if (setgroups(0, nullptr) != 0 || setresgid(nobody, nobody, nobody) != 0 ||
      setresuid(nobody, nobody, nobody) != 0)
    std::exit(3);
}

void try_memory(const Target& target) {
  for (const std::string& path : target.paths) {
    for (const int how : {O_RDONLY, O_RDWR}) {
      const int fd = open(path.c_str(), how);
      expect_refused(fd >= 0, path);
      if (fd >= 0) close(fd);
    }
  }
  std::error_code refused;
  std::filesystem::directory_iterator list("/proc/" + std::to_string(target.pid) + "/fd", refused);
  expect_refused(!refused, "the list of descriptors");
  uint64_t word = 0;
  const iovec here{&word, sizeof word},
      there{reinterpret_cast<void*>(target.mapped_at), sizeof word};
  expect_refused(process_vm_readv(target.pid, &here, 1, &there, 1, 0) >= 0, "a read of memory");
  expect_refused(process_vm_writev(target.pid, &here, 1, &there, 1, 0) >= 0, "a write to memory");
  expect_refused(ptrace(PTRACE_SEIZE, target.pid, nullptr, nullptr) == 0, "to trace the process");
#if defined(SYS_pidfd_open) && defined(SYS_pidfd_getfd)
  const int process = static_cast<int>(syscall(SYS_pidfd_open, target.pid, 0));
  for (int fd = 0; fd < 64 && process >= 0; ++fd)
    expect_refused(syscall(SYS_pidfd_getfd, process, fd, 0) >= 0, "a copy of a descriptor");
  if (process >= 0) close(process);
#endif
}

// Letters of all kinds, with memory of the stranger's own, as fast as they go.
long flood(const std::vector<tide::MailAddress>& boxes, double seconds) {
  tide::MailAddress own;
  const int socket = tide::open_mail_socket(own);
  const int memory = memfd_create("tide", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (ftruncate(memory, 8192) != 0) return 0;
  long sent = 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  for (uint64_t i = 0; std::chrono::steady_clock::now() < end; ++i) {
    for (const auto& box : boxes) {
      tide::LetterHead head{tide::LetterHead::kVersion, static_cast<uint32_t>(i % 3), i, 1 + i, 1};
      sent += tide::send_letter(socket, box, head, memory) == 0;
    }
    if (i % 64 == 0) usleep(100);  // two cores: let the job have one
  }
  return sent;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3 || geteuid() != 0) return 2;
  alarm(60);
  std::vector<Target> targets;
  for (int i = 2; i < argc; ++i) targets.push_back(look_at(std::atoi(argv[i])));
  for (const Target& target : targets) {
    int right = 0;
    for (const std::string& path : target.paths) {
      const int fd = open(path.c_str(), O_RDWR);
      right += fd >= 0;
      if (fd >= 0) close(fd);
    }
    if (right == 0 || target.mapped_at == 0) {
      std::fprintf(stderr, "nothing of Tide's in process %d: this shows nothing\n", target.pid);
      return 4;
    }
  }
  become_nobody();
  const auto boxes = mailboxes(targets);
  for (const Target& target : targets) try_memory(target);
  const long sent = flood(boxes, std::atof(argv[1]));
  std::fprintf(stderr, "stranger: %zu mailboxes, %ld letters, got %d\n", boxes.size(), sent, got);
  if (boxes.size() != targets.size() || sent == 0) return 5;
  return got ? 1 : 0;
}
