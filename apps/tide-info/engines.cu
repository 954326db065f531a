// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Which engine copies?  Thread blocks that spin for a limited time fill every multiprocessor, in
// threads and in shared memory; a copy that ends beside them was a copy engine's, one that waits
// for them runs on multiprocessors, whatever the call is named.  A kernel is the control: it must
// wait.  Before that another process issues each form once while CUPTI records (which this one must
// not know: a probe that is recorded would be another one): what the record calls the channel
// stands beside what was seen, and where the two differ, what was seen holds.
#include <cuda.h>
#include <cuda_runtime.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "cupti.hpp"
#include "engines.hpp"

namespace {

constexpr size_t bytes = size_t{4} << 20, rows = 64;
constexpr double spin_s = 0.060, patience_s = 0.030;

void check(cudaError_t code, const char* what) {
  if (code == cudaSuccess) return;
  std::fprintf(stderr, "tide-info: %s: %s\n", what, cudaGetErrorString(code));
  std::exit(1);
}
#define TRY(call) check(call, #call)

__global__ void spin(long long ns, volatile int* started) {
  extern __shared__ char room[];
  if (threadIdx.x == 0) atomicAdd(const_cast<int*>(started), 1);
  room[threadIdx.x] = 0;
  unsigned long long begin, now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
  do asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  while (now - begin < static_cast<unsigned long long>(ns));
}
__global__ void touch(int* word) { *word = 1; }

double now_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class Probe {
 public:
  explicit Probe(int device) {
    TRY(cudaSetDevice(device));
    int threads = 0;
    TRY(cudaDeviceGetAttribute(&sms_, cudaDevAttrMultiProcessorCount, device));
    TRY(cudaDeviceGetAttribute(&threads, cudaDevAttrMaxThreadsPerMultiProcessor, device));
    TRY(cudaDeviceGetAttribute(&shared_, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device));
    blocks_ = sms_ * (threads / 1024);
    shared_ = shared_ / (threads / 1024) - 2048;
    TRY(cudaFuncSetAttribute(spin, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_));
    TRY(cudaStreamCreateWithFlags(&full_, cudaStreamNonBlocking));
    TRY(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    TRY(cudaEventCreateWithFlags(&done_, cudaEventDisableTiming));
    TRY(cudaMalloc(&started_, sizeof(int)));
    TRY(cudaHostAlloc(&seen_, sizeof(int), 0));
  }
  cudaStream_t stream() const { return stream_; }
  int sms() const { return sms_; }
  // True: it ended while all multiprocessors were taken.
  bool beside(const std::function<void()>& issue) {
    issue();  // once before: what is made at first use is made here
    TRY(cudaDeviceSynchronize());
    TRY(cudaMemset(started_, 0, sizeof(int)));
    TRY(cudaDeviceSynchronize());
    spin<<<blocks_, 1024, shared_, full_>>>(static_cast<long long>(spin_s * 1e9), started_);
    TRY(cudaGetLastError());
    const double begun = now_s();
    while (now_s() - begun < 0.005) {  // all blocks have started
    }
    issue();
    TRY(cudaEventRecord(done_, stream_));
    const double issued = now_s();
    bool ended = false;
    while (!ended && now_s() - issued < patience_s) ended = cudaEventQuery(done_) == cudaSuccess;
    const bool spinning = cudaStreamQuery(full_) == cudaErrorNotReady;
    TRY(cudaDeviceSynchronize());
    return ended && spinning;
  }

 private:
  int sms_ = 0, blocks_ = 0, shared_ = 0;
  int *started_ = nullptr, *seen_ = nullptr;
  cudaStream_t full_{}, stream_{};
  cudaEvent_t done_{};
};

// Memory of another process, by a descriptor.  The child is made before this one uses CUDA.
class Neighbour {
 public:
  Neighbour() {
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) return;
    child_ = fork();
    if (child_ == 0) {
      close(pair[0]);
      serve(pair[1]);
      _exit(0);
    }
    close(pair[1]);
    socket_ = pair[0];
  }
  ~Neighbour() {
    if (socket_ >= 0) close(socket_);  // the child then ends
    if (child_ > 0) waitpid(child_, nullptr, 0);
  }
  // Mapped for `device`; null where the child has none.
  void* map(int device) {
    char byte = static_cast<char>(device), control[CMSG_SPACE(sizeof(int))];
    if (write(socket_, &byte, 1) != 1) return nullptr;
    iovec body{&byte, 1};
    msghdr message{nullptr, 0, &body, 1, control, sizeof control, 0};
    if (recvmsg(socket_, &message, 0) != 1 || !CMSG_FIRSTHDR(&message)) return nullptr;
    int fd = -1;
    std::memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
    CUmemGenericAllocationHandle handle;
    CUdeviceptr at = 0;
    CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, device},
                           CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    if (entry<decltype(&cuMemImportFromShareableHandle)>("cuMemImportFromShareableHandle")(
            &handle, reinterpret_cast<void*>(static_cast<intptr_t>(fd)),
            CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) != CUDA_SUCCESS ||
        entry<decltype(&cuMemAddressReserve)>("cuMemAddressReserve")(&at, bytes, 0, 0, 0) !=
            CUDA_SUCCESS ||
        entry<decltype(&cuMemMap)>("cuMemMap")(at, bytes, 0, handle, 0) != CUDA_SUCCESS ||
        entry<decltype(&cuMemSetAccess)>("cuMemSetAccess")(at, bytes, &access, 1) != CUDA_SUCCESS)
      return nullptr;
    close(fd);
    return reinterpret_cast<void*>(at);
  }

 private:
  template <class Function>
  static Function entry(const char* name) {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result;
    TRY(cudaGetDriverEntryPointByVersion(name, &found, 10020, cudaEnableDefault, &result));
    return reinterpret_cast<Function>(found);
  }
  static void serve(int socket) {
    char device = 0;
    if (read(socket, &device, 1) != 1) return;
    TRY(cudaSetDevice(device));
    TRY(cudaFree(nullptr));
    CUmemAllocationProp properties{};
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, device};
    CUmemGenericAllocationHandle handle;
    int fd = -1;
    if (entry<decltype(&cuMemCreate)>("cuMemCreate")(&handle, bytes, &properties, 0) !=
            CUDA_SUCCESS ||
        entry<decltype(&cuMemExportToShareableHandle)>("cuMemExportToShareableHandle")(
            &fd, handle, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0) != CUDA_SUCCESS)
      return;
    char control[CMSG_SPACE(sizeof fd)] = {};
    iovec body{&device, 1};
    msghdr message{nullptr, 0, &body, 1, control, sizeof control, 0};
    cmsghdr* part = CMSG_FIRSTHDR(&message);
    *part = {CMSG_LEN(sizeof fd), SOL_SOCKET, SCM_RIGHTS};
    std::memcpy(CMSG_DATA(part), &fd, sizeof fd);
    sendmsg(socket, &message, 0);
    while (read(socket, &device, 1) > 0) {  // until the other side closes
    }
  }
  pid_t child_ = -1;
  int socket_ = -1;
};

struct Form {
  const char* name;
  std::function<void()> issue;
};

// All forms of copies that `device`, which is in use, can be asked for; on `stream`.
std::vector<Form> forms_of(int device, int devices, Neighbour& neighbour, cudaStream_t stream) {
  char *a, *b, *host;
  int* word;
  TRY(cudaMalloc(&a, bytes));
  TRY(cudaMalloc(&b, 2 * bytes));
  TRY(cudaMalloc(&word, sizeof(int)));
  TRY(cudaHostAlloc(&host, bytes, 0));
  const auto copy = [stream](void* to, const void* from, cudaMemcpyKind kind) {
    return [=] { TRY(cudaMemcpyAsync(to, from, bytes, kind, stream)); };
  };
  const auto strided = [stream](void* to, const void* from, cudaMemcpyKind kind) {
    return [=] {
      TRY(cudaMemcpy2DAsync(to, 2 * bytes / rows, from, bytes / rows, bytes / rows, rows, kind,
                            stream));
    };
  };
  std::vector<Form> forms{
      {"kernel (control: must wait)", [=] { touch<<<1, 1, 0, stream>>>(word); }},
      {"host to device", copy(a, host, cudaMemcpyHostToDevice)},
      {"host to device, strided", strided(b, host, cudaMemcpyHostToDevice)},
      {"device to host", copy(host, a, cudaMemcpyDeviceToHost)},
      {"same device", copy(b, a, cudaMemcpyDeviceToDevice)},
      {"same device, strided", strided(b, a, cudaMemcpyDeviceToDevice)}};
  if (void* theirs = neighbour.map(device))
    forms.push_back({"to another process, same device", copy(theirs, a, cudaMemcpyDeviceToDevice)});
  forms.push_back({"memset", [=] { TRY(cudaMemsetAsync(a, 0, bytes, stream)); }});
  cudaGraph_t graph;
  cudaGraphExec_t launch;
  TRY(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  TRY(cudaMemcpyAsync(a, host, bytes, cudaMemcpyHostToDevice, stream));
  TRY(cudaStreamEndCapture(stream, &graph));
  TRY(cudaGraphInstantiate(&launch, graph, 0));
  forms.push_back({"host to device, in a graph", [=] { TRY(cudaGraphLaunch(launch, stream)); }});
  for (int other = 0; other < devices; other++) {
    int reaches = 0;
    if (other == device || cudaDeviceCanAccessPeer(&reaches, device, other) != cudaSuccess ||
        !reaches)
      continue;
    char* far = nullptr;
    TRY(cudaSetDevice(other));
    TRY(cudaMalloc(&far, 2 * bytes));
    TRY(cudaSetDevice(device));
    const cudaError_t enabled = cudaDeviceEnablePeerAccess(other, 0);
    if (enabled == cudaErrorPeerAccessAlreadyEnabled) cudaGetLastError();
    forms.push_back({"to another device", copy(far, a, cudaMemcpyDeviceToDevice)});
    forms.push_back({"to another device, strided", strided(far, a, cudaMemcpyDeviceToDevice)});
    forms.push_back({"from another device", copy(a, far, cudaMemcpyDeviceToDevice)});
    break;
  }
  return forms;
}

std::string words_of(const tools::Activity& a) {
  const char* const engine = a.copy_engine ? "copy engine" : "multiprocessors";
  if (a.kind == tools::Activity::kernel) return "kernel";
  return std::string(a.kind == tools::Activity::set ? "memset, " : "memcpy, ") + engine;
}

// What CUPTI says, by form; and its version, or why it says nothing.  "form\twords\n", the version
// without a form, is what the process that records writes.
struct Recorded {
  std::map<std::string, std::string> words;
  std::string version = "CUPTI left out: the process that loads it ended";
};

std::string record(int device, int devices, Neighbour& neighbour) {
  const char* const library = std::getenv("TIDE_CUPTI_LIBRARY");
  std::string text;
  try {
    tools::Cupti cupti(library == nullptr ? "" : library);  // before the context
    cudaStream_t stream;
    TRY(cudaSetDevice(device));
    TRY(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    for (const Form& form : forms_of(device, devices, neighbour, stream)) {
      form.issue();  // once before, as the probe does
      TRY(cudaDeviceSynchronize());
      cupti.discard();
      form.issue();
      TRY(cudaDeviceSynchronize());
      std::set<std::string> all;
      for (const tools::Activity& a : cupti.take()) all.insert(words_of(a));
      std::string words;
      for (const std::string& one : all) words += (words.empty() ? "" : " and ") + one;
      text += std::string(form.name) + '\t' + (words.empty() ? "no record" : words) + '\n';
    }
    return text + "\tCUPTI " + cupti.version() + "\n";
  } catch (const std::runtime_error& e) {
    return text + "\t" + e.what() + "\n";
  }
}

// By a process of its own, which has ended when this returns.
Recorded record_apart() {
  Recorded recorded;
  int ends[2];
  if (pipe(ends) != 0) return recorded;
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);  // whatever it waits for
    close(ends[0]);
    Neighbour neighbour;
    int devices = 0, device = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || cudaGetDevice(&device) != cudaSuccess)
      _exit(0);  // the other process says so
    const std::string text = record(device, devices, neighbour);
    for (size_t done = 0; done < text.size();) {
      const ssize_t written = write(ends[1], text.data() + done, text.size() - done);
      if (written <= 0) _exit(1);
      done += static_cast<size_t>(written);
    }
    _exit(0);
  }
  close(ends[1]);
  std::string text;
  char part[4096];
  for (ssize_t got; (got = read(ends[0], part, sizeof part)) > 0;)
    text.append(part, static_cast<size_t>(got));
  close(ends[0]);
  if (child > 0) waitpid(child, nullptr, 0);
  for (size_t at = 0, tab, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
    if ((tab = text.find('\t', at)) > end) continue;
    const std::string words = text.substr(tab + 1, end - tab - 1);
    (tab == at ? recorded.version : recorded.words[text.substr(at, tab - at)]) = words;
  }
  return recorded;
}

}  // namespace

EngineTable probe_engines() {
  EngineTable table;
  Recorded recorded = record_apart();
  table.cupti = recorded.version;
  Neighbour neighbour;
  int count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  if (code != cudaSuccess || count == 0) {
    table.why_not = code == cudaSuccess ? "CUDA shows no device" : cudaGetErrorString(code);
    return table;
  }
  int device = 0, engines = 0;
  TRY(cudaGetDevice(&device));
  cudaDeviceProp properties;
  TRY(cudaGetDeviceProperties(&properties, device));
  TRY(cudaDeviceGetAttribute(&engines, cudaDevAttrAsyncEngineCount, device));
  Probe probe(device);
  table.device = std::string(properties.name) + ", " + std::to_string(probe.sms()) +
                 " multiprocessors, " + std::to_string(engines) + " copy engines";
  for (const Form& form : forms_of(device, count, neighbour, probe.stream()))
    table.rows.push_back({form.name, probe.beside(form.issue), recorded.words[form.name]});
  return table;
}
