// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// A build without CUDA: there is no device, and so nobody comes to the rest.
#include "backend/cuda/gpu.hpp"
#include "core/error.hpp"

namespace tide::gpu {

static const char* const why_not = "this Tide was built without CUDA (TIDE_WITH_CUDA=OFF)";
[[noreturn]] static void refuse() { throw Error(Kind::unsupported, "{}", why_not); }

const char* built() { return "none"; }
int devices(std::string* why) {
  if (why) *why = why_not;
  return 0;
}
bool in_use() { return false; }
bool loads_lazily() { return false; }
int current() { refuse(); }
std::string name(int) { refuse(); }
Uuid uuid(int) { refuse(); }
int device_of(const void*) { return -1; }
Use::Use(int) : before_(0) {}
Use::~Use() = default;
std::unique_ptr<Memory> Memory::create(int, size_t) { refuse(); }
std::unique_ptr<Memory> Memory::attach(int, size_t, int) { refuse(); }
Memory::~Memory() = default;
void Memory::close_descriptor() {}
std::shared_ptr<const void> pin(void*, size_t) { refuse(); }
struct Stream::State {};
class Program {};
Stream::Stream(int) { refuse(); }
Stream::~Stream() = default;
std::shared_ptr<Program> Stream::copies(const std::vector<CopyCall>&) { refuse(); }
std::shared_ptr<Program> Stream::landing(const std::vector<Landing>&) { refuse(); }
std::shared_ptr<Program> Stream::summing(const std::vector<Summing>&, const std::vector<int>&) {
  refuse();
}
std::shared_ptr<Program> Stream::ring_summing(const std::vector<Summing>&) { refuse(); }
bool Stream::has_rings() const { return false; }
void Stream::run(const Program&, const Arithmetic&, int) {}
uint64_t Stream::mark() { return 0; }
void Stream::follow(Stream&) {}
bool Stream::reached(uint64_t) { return true; }
void Stream::drain() {}
void* Stream::native() const { return nullptr; }
void put_off_graphs() {}
void make_up() {}
void write_after(UserStream, uint32_t*, uint32_t) { refuse(); }
void hold_until(UserStream, const uint32_t*, uint32_t) { refuse(); }
uint64_t capturing(UserStream) { return 0; }
void keep_with_graph(UserStream, std::shared_ptr<void>) { refuse(); }
DuringCapture::DuringCapture() = default;
DuringCapture::~DuringCapture() = default;
void zero(UserStream, void*, size_t) { refuse(); }

}  // namespace tide::gpu
