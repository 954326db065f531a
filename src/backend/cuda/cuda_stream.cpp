// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Streams, and programs of pieces for the kernels.  Programs live in memory of the stream's own
// order (cudaMallocAsync): nothing here waits for work of others that a wait may hold up.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>

#include "backend/cuda/cuda_driver.hpp"
#include "backend/cuda/gpu.hpp"
#include "backend/cuda/kernels.hpp"

namespace tide::gpu {

struct Stream::State {
  int device = 0;
  cudaStream_t stream = nullptr;
  std::array<cudaEvent_t, 16> events{};  // of the last marks
  cudaEvent_t passed = nullptr;          // for those that follow: a mark would push others out
  uint64_t marks = 0;
  bool bulk_loads = false;
};

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

class Program {
 public:
  Program(int device, cudaStream_t stream) : device_(device), stream_(stream) {}
  ~Program() {
    if (at_) cudaFreeAsync(at_, stream_);
    if (launch && !puts_off) cudaGraphExecDestroy(launch);  // after what runs just now
    if (!launch || !puts_off) return;
    const std::lock_guard lock(later().mutex);
    later().dead.push_back(launch);
    later().any = true;
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  void upload(const std::vector<char>& image) {
    check(cudaMallocAsync(&at_, image.size(), stream_), "cudaMallocAsync");
    check(cudaMemcpyAsync(at_, image.data(), image.size(), cudaMemcpyHostToDevice, stream_),
          "cudaMemcpyAsync");
  }
  template <class T>
  const T* at(size_t offset) const {
    return reinterpret_cast<const T*>(static_cast<const char*>(at_) + offset);
  }
  bool sums = false, switched = false;
  size_t tiles = 0;
  LandingProgram landing{};
  SumProgram sum{};
  std::vector<CopyCall> copies;
  std::atomic<cudaGraphExec_t> launch = nullptr;  // of the copies; null: put off
  void make_graph();

 private:
  int device_;
  cudaStream_t stream_;
  void* at_ = nullptr;
};

namespace {

// Arrays one after another, each from a multiple of 16 on.
class Image {
 public:
  template <class T>
  size_t add(const std::vector<T>& values) {
    const size_t offset = (bytes_.size() + 15) / 16 * 16;
    bytes_.resize(offset + std::max<size_t>(1, values.size()) * sizeof(T));
    if (!values.empty())
      std::memcpy(bytes_.data() + offset, values.data(), values.size() * sizeof(T));
    return offset;
  }
  const std::vector<char>& bytes() const { return bytes_; }

 private:
  std::vector<char> bytes_;
};

void add_tiles(std::vector<Tile>& tiles, size_t piece, size_t elems, size_t step) {
  for (size_t k = 0; k * step < elems; k++)
    tiles.push_back({static_cast<uint32_t>(piece), static_cast<uint32_t>(k)});
}

// The widest access, in bytes, at which all addresses are misaligned alike.
uint8_t common_width(const void* a, const std::vector<void*>& others) {
  uintptr_t differ = 0;
  for (const void* b : others)
    differ |= reinterpret_cast<uintptr_t>(a) ^ reinterpret_cast<uintptr_t>(b);
  for (uint8_t width = 16; width > 1; width /= 2)
    if (differ % width == 0) return width;
  return 1;
}

uint8_t width_of(const Landing& l) {
  if (l.from == l.to) return common_width(l.src, l.dst);
  const uintptr_t at = reinterpret_cast<uintptr_t>(l.src);
  const size_t from = bytes_of(l.from), to = bytes_of(l.to);
  const size_t head = (16 - at % 16) % 16 / from, vector = 16 / from * to;
  bool together = at % from == 0;
  for (const void* d : l.dst)
    together &= (reinterpret_cast<uintptr_t>(d) + head * to) % vector == 0;
  return together ? 16 : 1;
}

// Shorter rows come as fast by loads, and rows of the host have not been tried.
constexpr size_t least_bulk = size_t{16} << 10;

SumPiece sum_piece(const Summing& s, const std::vector<int>& groups, size_t first_row,
                   bool bulk_loads) {
  SumPiece piece{first_row, s.base, s.dst, s.elems, 0, true, true, false, false, s.final};
  uintptr_t at = 0;
  bool any = false;
  for (const void* row : s.rows) {
    if (!row) continue;
    const uintptr_t here = reinterpret_cast<uintptr_t>(row) % 16;
    piece.vectors &= (!any || here == at) && here % bytes_of(s.in) == 0;
    at = here;
    any = true;
  }
  piece.head = static_cast<uint32_t>((16 - at) % 16 / bytes_of(s.in));
  const size_t out = bytes_of(s.final ? s.out : s.acc);
  const size_t step = std::min<size_t>(16, static_cast<size_t>(vector_elems(s.in)) * out);
  piece.wide = (reinterpret_cast<uintptr_t>(s.dst) + piece.head * out) % step == 0;
  piece.plain = groups.size() == 1 && !s.base &&
                std::find(s.rows.begin(), s.rows.end(), nullptr) == s.rows.end();
  piece.bulk = bulk_loads && piece.vectors && s.elems * bytes_of(s.in) >= least_bulk &&
               std::all_of(s.rows.begin(), s.rows.end(),
                           [](const void* row) { return !row || device_of(row) >= 0; });
  return piece;
}

}  // namespace

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
  s.bulk_loads = load_kernels();
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

std::shared_ptr<Program> Stream::landing(const std::vector<Landing>& pieces) {
  const DuringCapture during;
  std::vector<LandingPiece> all;
  std::vector<void*> dst;
  std::vector<Tile> tiles;
  for (const Landing& l : pieces) {
    const bool same = l.from == l.to;
    const size_t size = bytes_of(l.to), elems = same ? l.elems * size : l.elems;
    add_tiles(tiles, all.size(), elems, same ? landing_tile_bytes : landing_tile_bytes / size);
    all.push_back({l.src, elems, dst.size(), l.dst.size(), l.from, l.to, width_of(l)});
    dst.insert(dst.end(), l.dst.begin(), l.dst.end());
  }
  Image image;
  const size_t tiles_at = image.add(tiles), pieces_at = image.add(all), dst_at = image.add(dst);
  auto program = std::make_shared<Program>(state_->device, state_->stream);
  program->upload(image.bytes());
  program->tiles = tiles.size();
  program->landing = {program->at<Tile>(tiles_at), program->at<LandingPiece>(pieces_at),
                      program->at<void*>(dst_at)};
  return program;
}

std::shared_ptr<Program> Stream::summing(const std::vector<Summing>& pieces,
                                         const std::vector<int>& groups) {
  const DuringCapture during;
  std::vector<SumPiece> all;
  std::vector<const void*> rows;
  std::vector<Tile> tiles;
  for (const Summing& s : pieces) {
    add_tiles(tiles, all.size(), s.elems, sum_tile_elems);
    all.push_back(sum_piece(s, groups, rows.size(), state_->bulk_loads));
    rows.insert(rows.end(), s.rows.begin(), s.rows.end());
  }
  Image image;
  const size_t tiles_at = image.add(tiles), pieces_at = image.add(all), rows_at = image.add(rows),
               groups_at = image.add(groups);
  auto program = std::make_shared<Program>(state_->device, state_->stream);
  program->upload(image.bytes());
  program->sums = true;
  program->tiles = tiles.size();
  const Summing& s = pieces.front();
  program->sum = {program->at<Tile>(tiles_at),
                  program->at<SumPiece>(pieces_at),
                  program->at<const void*>(rows_at),
                  program->at<int>(groups_at),
                  static_cast<int>(groups.size()),
                  static_cast<int>(s.rows.size()),
                  s.in,
                  s.acc,
                  s.out,
                  std::any_of(all.begin(), all.end(), [](const SumPiece& p) { return p.bulk; })};
  return program;
}

#if TIDE_HAVE_MULTICAST
std::shared_ptr<Program> Stream::switch_summing(const std::vector<Summing>& pieces) {
  auto program = summing(pieces, {1});
  program->switched = true;
  return program;
}
#endif

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
#if TIDE_HAVE_MULTICAST
    if (program.switched) {
      launch_switched(state_->stream, program.sum, arithmetic, first, count);
      continue;
    }
#endif
    if (program.sums)
      launch(state_->stream, program.sum, arithmetic, first, count);
    else
      launch(state_->stream, program.landing, first, count);
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
