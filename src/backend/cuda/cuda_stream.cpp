// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "backend/cuda/cuda_stream.hpp"

#include <algorithm>
#include <mutex>

namespace tide::gpu {

// What a thread has put off.
struct Later {
  std::atomic<bool> any = false;
  std::mutex mutex;
  std::vector<std::weak_ptr<Program>> graphs;
  std::vector<cudaGraphExec_t> dead;
};
static Later& later() {
  static Later* const kept = new Later;
  return *kept;
}
static thread_local bool puts_off = false;

Stream::Stream(int device) : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.device = device;
  const Use use(device);
  // The highest priority: the driver then keeps it apart from streams of the user that wait.
  int least = 0, greatest = 0;
  check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "cudaDeviceGetStreamPriorityRange");
  check(cudaStreamCreateWithPriority(&s.stream, cudaStreamNonBlocking, greatest),
        "cudaStreamCreateWithPriority");
  for (auto& event : s.events)
    check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreate");
  check(cudaEventCreateWithFlags(&s.passed, cudaEventDisableTiming), "cudaEventCreate");
  load_landing_kernel();
  load_sum_kernels();
  s.rings = load_ring_kernels();
#if TIDE_HAVE_MULTICAST
  load_switch_kernels();
#endif
}

Stream::~Stream() {
  for (auto& event : state_->events)
    if (event) cudaEventDestroy(event);
  if (state_->passed) cudaEventDestroy(state_->passed);
  if (state_->stream) cudaStreamDestroy(state_->stream);
}

Program::~Program() {
  if (at_) cudaFreeAsync(at_, stream_);
  if (launch && !puts_off) cudaGraphExecDestroy(launch);  // after what runs just now
  if (!launch || !puts_off) return;
  const std::lock_guard lock(later().mutex);
  later().dead.push_back(launch);
  later().any = true;
}

// A copy that is issued by itself costs the host some microseconds.
void Program::make_graph() {
  const Use use(device_);
  cudaGraph_t graph = nullptr;
  check(cudaGraphCreate(&graph, 0), "cudaGraphCreate");
  const std::unique_ptr<CUgraph_st, void (*)(cudaGraph_t)> kept(
      graph, [](cudaGraph_t g) { cudaGraphDestroy(g); });
  cudaGraphNode_t last = nullptr;
  for (const CopyCall& c : copies) {
    cudaGraphNode_t node = nullptr;
    check(cudaGraphAddMemcpyNode1D(&node, graph, last ? &last : nullptr, last ? 1 : 0, c.dst, c.src,
                                   c.bytes, cudaMemcpyDefault),
          "cudaGraphAddMemcpyNode1D");
    last = node;
  }
  cudaGraphExec_t made = nullptr;
  check(cudaGraphInstantiate(&made, graph, 0), "cudaGraphInstantiate");
  const cudaError_t uploaded = cudaGraphUpload(made, stream_);
  launch = made;  // now: a graph is one thread's at a time
  check(uploaded, "cudaGraphUpload");
}

std::shared_ptr<Program> Stream::copies(const std::vector<CopyCall>& calls) {
  const DuringCapture during;
  auto program = std::make_shared<Program>(state_->device, state_->stream);
  program->copies = calls;
  if (!puts_off) {
    program->make_graph();
    return program;
  }
  const std::lock_guard lock(later().mutex);
  later().graphs.push_back(program);
  later().any = true;
  return program;
}

void put_off_graphs() { puts_off = true; }

void make_up() {
  if (!later().any.exchange(false)) return;
  std::vector<std::weak_ptr<Program>> graphs;
  std::vector<cudaGraphExec_t> dead;
  {
    const std::lock_guard lock(later().mutex);
    graphs.swap(later().graphs);
    dead.swap(later().dead);
  }
  for (cudaGraphExec_t graph : dead) cudaGraphExecDestroy(graph);
  for (const auto& weak : graphs) {
    const auto program = weak.lock();
    if (!program) continue;
    try {
      program->make_graph();
    } catch (const Error&) {  // its copies go on one by one, and say what is wrong
    }
  }
}

void Stream::run(const Program& program, const Arithmetic& arithmetic, int ctas) {
  const DuringCapture during;
  if (const cudaGraphExec_t graph = program.launch)
    check(cudaGraphLaunch(graph, state_->stream), "cudaGraphLaunch");
  else
    for (const CopyCall& c : program.copies)
      check(cudaMemcpyAsync(c.dst, c.src, c.bytes, cudaMemcpyDefault, state_->stream),
            "cudaMemcpyAsync");
  const size_t wave = static_cast<size_t>(ctas);
  for (size_t first = 0; first < program.tiles; first += wave) {
    const int count = static_cast<int>(std::min(wave, program.tiles - first));
    switch (program.kernel) {
      case Program::Kernel::landing:
        launch(state_->stream, program.landing, first, count);
        break;
      case Program::Kernel::sum:
        launch(state_->stream, program.sum, arithmetic, first, count);
        break;
      case Program::Kernel::ring:
        launch(state_->stream, program.ring, arithmetic, first, count);
        break;
      case Program::Kernel::switched:
#if TIDE_HAVE_MULTICAST
        launch_switched(state_->stream, program.sum, arithmetic, first, count);
#endif
        break;
    }
  }
  check(cudaGetLastError(), "kernel launch");
}

uint64_t Stream::mark() {
  const uint64_t mark = ++state_->marks;
  check(cudaEventRecord(state_->events[mark % state_->events.size()], state_->stream),
        "cudaEventRecord");
  return mark;
}

void Stream::follow(Stream& other) {
  const cudaEvent_t passed = other.state_->passed;
  check(cudaEventRecord(passed, other.state_->stream), "cudaEventRecord");
  check(cudaStreamWaitEvent(state_->stream, passed, 0), "cudaStreamWaitEvent");
}

// An event that stands for a later mark is behind this one.
bool Stream::reached(uint64_t mark) {
  const DuringCapture during;
  const cudaError_t code = cudaEventQuery(state_->events[mark % state_->events.size()]);
  if (code == cudaErrorNotReady) return false;
  check(code, "work on the device");
  return true;
}

void Stream::drain() {
  const DuringCapture during;
  check(cudaStreamSynchronize(state_->stream), "work on the device");
}

void* Stream::native() const { return state_->stream; }

void write_after(UserStream stream, uint32_t* word, uint32_t value) {
  check(driver().stream_write_value(static_cast<CUstream>(stream),
                                    reinterpret_cast<CUdeviceptr>(word), value, 0),
        "cuStreamWriteValue32");
}

void hold_until(UserStream stream, const uint32_t* word, uint32_t value) {
  check(
      driver().stream_wait_value(static_cast<CUstream>(stream), reinterpret_cast<CUdeviceptr>(word),
                                 value, CU_STREAM_WAIT_VALUE_GEQ),
      "cuStreamWaitValue32");
}

struct Capture {
  unsigned long long number = 0;  // 0: none
  cudaGraph_t graph = nullptr;
};
static Capture capture_of(UserStream stream) {
  Capture c;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  const auto asked = static_cast<cudaStream_t>(stream);
#if CUDART_VERSION >= 13000
  check(cudaStreamGetCaptureInfo(asked, &status, &c.number, &c.graph, nullptr, nullptr, nullptr),
        "cudaStreamGetCaptureInfo");
#else
  check(cudaStreamGetCaptureInfo_v2(asked, &status, &c.number, &c.graph, nullptr, nullptr),
        "cudaStreamGetCaptureInfo");
#endif
  return status == cudaStreamCaptureStatusNone ? Capture() : c;
}

// The legacy default stream cannot be captured, and may not be asked during a capture.
uint64_t capturing(UserStream stream) {
  if (!stream) return 0;
  return capture_of(stream).number;
}

void keep_with_graph(UserStream stream, std::shared_ptr<void> kept) {
  auto keeper = std::make_unique<std::shared_ptr<void>>(std::move(kept));
  cudaUserObject_t object = nullptr;
  check(cudaUserObjectCreate(
            &object, keeper.get(), [](void* at) { delete static_cast<std::shared_ptr<void>*>(at); },
            1, cudaUserObjectNoDestructorSync),
        "cudaUserObjectCreate");
  static_cast<void>(keeper.release());
  check(cudaGraphRetainUserObject(capture_of(stream).graph, object, 1, cudaGraphUserObjectMove),
        "cudaGraphRetainUserObject");
}

DuringCapture::DuringCapture() {
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  cudaThreadExchangeStreamCaptureMode(&mode);
  before_ = mode;
}
DuringCapture::~DuringCapture() {
  auto mode = static_cast<cudaStreamCaptureMode>(before_);
  cudaThreadExchangeStreamCaptureMode(&mode);
}

void zero(UserStream stream, void* at, size_t bytes) {
  check(cudaMemsetAsync(at, 0, bytes, static_cast<cudaStream_t>(stream)), "cudaMemsetAsync");
  if (!stream) check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
}

}  // namespace tide::gpu
