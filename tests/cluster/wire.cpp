// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// What a wire carries, without MPI: one TCP stream, one way.
//   wire receive ADDRESS PORT           prints bytes a second (after 0.2 s: limiters have a burst)
//   wire send ADDRESS PORT SECONDS
#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

[[noreturn]] void fail(const char* what, char** argv) {
  std::fprintf(stderr, "wire: %s %s port %s: %s\n", what, argv[2], argv[3], std::strerror(errno));
  std::exit(1);
}

int receive(const sockaddr_in& address, char** argv) {
  const int listener = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
  setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      listen(listener, 1) != 0)
    fail("cannot listen on", argv);
  const int stream = accept(listener, nullptr, nullptr);
  std::vector<char> buffer(1 << 20);
  const double connected_s = now_s();
  double first_s = connected_s, last_s = connected_s, bytes = 0;
  for (ssize_t got; (got = read(stream, buffer.data(), buffer.size())) > 0;) {
    last_s = now_s();
    if (last_s < connected_s + 0.2)
      first_s = last_s;
    else
      bytes += static_cast<double>(got);
  }
  std::printf("%.0f\n", bytes / (last_s - first_s));
  return 0;
}

int send(const sockaddr_in& address, char** argv) {
  const int stream = socket(AF_INET, SOCK_STREAM, 0);
  const double begun_s = now_s(), seconds = std::atof(argv[4]);
  while (connect(stream, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    if (now_s() - begun_s > 5) fail("cannot connect to", argv);
    usleep(50000);  // the receiver may come later
  }
  std::vector<char> buffer(1 << 20);
  for (const double until_s = now_s() + seconds; now_s() < until_s;)
    if (write(stream, buffer.data(), buffer.size()) <= 0) fail("cannot send to", argv);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const bool receives = argc == 4 && std::strcmp(argv[1], "receive") == 0;
  const bool sends = argc == 5 && std::strcmp(argv[1], "send") == 0;
  sockaddr_in address;
  std::memset(&address, 0, sizeof address);
  address.sin_family = AF_INET;
  if ((!receives && !sends) || inet_pton(AF_INET, argv[2], &address.sin_addr) != 1) {
    std::fprintf(stderr, "usage: wire receive ADDRESS PORT | wire send ADDRESS PORT SECONDS\n");
    return 2;
  }
  address.sin_port = htons(static_cast<uint16_t>(std::atoi(argv[3])));
  alarm(60);
  std::signal(SIGPIPE, SIG_IGN);
  return receives ? receive(address, argv) : send(address, argv);
}
