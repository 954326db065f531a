// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "cupti.hpp"

#include <cupti.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace tools {
namespace {

// Layouts of this toolkit's header.  Releases append fields and rename the structure; what is read
// below stands at the same place in all of CUDA 12 and 13.
#if CUPTI_API_VERSION >= 130000
using KernelRecord = CUpti_ActivityKernel10;
using CopyRecord = CUpti_ActivityMemcpy6;
#else
using KernelRecord = CUpti_ActivityKernel9;
using CopyRecord = CUpti_ActivityMemcpy5;
#endif
using PeerCopyRecord = CUpti_ActivityMemcpyPtoP4;
using SetRecord = CUpti_ActivityMemset4;

constexpr CUpti_ActivityKind kinds[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                        CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2,
                                        CUPTI_ACTIVITY_KIND_MEMSET};

// CUPTI's callbacks take no argument of ours, and its own thread may call them until the process
// ends: what they fill is never destroyed.
struct Collector {
  std::mutex mutex;
  std::vector<Activity> taken;
  decltype(&cuptiActivityGetNextRecord) next = nullptr;
};
Collector& collector() {
  static auto* const one = new Collector;
  return *one;
}

// Of a copy or memset.
template <class Record>
Activity transfer(const CUpti_Activity* any, Activity::Kind kind) {
  const auto* record = reinterpret_cast<const Record*>(any);
  Activity a;
  a.kind = kind;
  a.copy_engine = record->channelType == CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY;
  a.device = record->deviceId;
  a.begin_ns = record->start;
  a.end_ns = record->end;
  a.bytes = record->bytes;
  return a;
}

Activity kernel(const CUpti_Activity* any) {
  const auto* record = reinterpret_cast<const KernelRecord*>(any);
  Activity a;
  a.kind = Activity::kernel;
  a.device = record->deviceId;
  a.begin_ns = record->start;
  a.end_ns = record->end;
  a.blocks = static_cast<std::uint64_t>(record->gridX) * static_cast<std::uint64_t>(record->gridY) *
             static_cast<std::uint64_t>(record->gridZ);
  if (record->name != nullptr) a.name = record->name;
  return a;
}

void add(std::vector<Activity>& all, const CUpti_Activity* record) {
  switch (record->kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
    case CUPTI_ACTIVITY_KIND_KERNEL:
      return all.push_back(kernel(record));
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return all.push_back(transfer<CopyRecord>(record, Activity::copy));
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return all.push_back(transfer<PeerCopyRecord>(record, Activity::copy));
    case CUPTI_ACTIVITY_KIND_MEMSET:
      return all.push_back(transfer<SetRecord>(record, Activity::set));
    default:
      return;
  }
}

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* bytes, std::size_t* most_records) {
  constexpr std::size_t buffer_bytes = std::size_t{4} << 20;
  *buffer = static_cast<std::uint8_t*>(std::malloc(buffer_bytes));
  *bytes = *buffer == nullptr ? 0 : buffer_bytes;
  *most_records = 0;  // as many as there is room for
}

void CUPTIAPI take_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t,
                          std::size_t valid_bytes) {
  {
    Collector& c = collector();
    const std::lock_guard<std::mutex> lock(c.mutex);
    CUpti_Activity* record = nullptr;
    while (valid_bytes > 0 && c.next(buffer, valid_bytes, &record) == CUPTI_SUCCESS)
      add(c.taken, record);
  }
  std::free(buffer);
}

void no_callback(void*, CUpti_CallbackDomain, CUpti_CallbackId, const void*) {}

std::string remedy_of(CUptiResult code) {
  switch (code) {
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
      return "another profiler or debugger is attached to this process; run without it";
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
      return "this machine lets only administrators profile; run as one, or load the driver's "
             "module with NVreg_RestrictProfilingToAdminUsers=0";
    default:
      return "set TIDE_CUPTI_LIBRARY to the libcupti.so of the driver's CUDA version";
  }
}

// The wanted file, or what there is.
void* load(const std::string& library, std::string& file) {
  std::string why;
  const std::vector<std::string> files =
      library.empty() ? std::vector<std::string>{"libcupti.so.13", "libcupti.so.12", "libcupti.so"}
                      : std::vector<std::string>{library};
  for (const std::string& name : files) {
    file = name;
    if (void* loaded = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return loaded;
    if (why.empty()) why = dlerror();
  }
  throw std::runtime_error(
      fmt::format("CUPTI not found: {}; set TIDE_CUPTI_LIBRARY to the path of libcupti.so", why));
}

}  // namespace

struct Cupti::Api {
  decltype(&cuptiGetVersion) get_version;
  decltype(&cuptiGetResultString) get_result_string;
  decltype(&cuptiSubscribe) subscribe;
  decltype(&cuptiUnsubscribe) unsubscribe;
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks;
  decltype(&cuptiActivityEnable) enable;
  decltype(&cuptiActivityDisable) disable;
  decltype(&cuptiActivityFlushAll) flush_all;
  decltype(&cuptiActivityGetNumDroppedRecords) dropped_records;

  void check(CUptiResult code, const char* call) const {
    if (code == CUPTI_SUCCESS) return;
    const char* words = nullptr;
    if (get_result_string(code, &words) != CUPTI_SUCCESS || words == nullptr) words = "failed";
    throw std::runtime_error(fmt::format("{}: {}; {}", call, words, remedy_of(code)));
  }
  // Ends what a constructor that throws, or the destructor, leaves.
  void end(void* subscriber) const {
    for (const CUpti_ActivityKind kind : kinds) disable(kind);
    unsubscribe(static_cast<CUpti_SubscriberHandle>(subscriber));
  }
};

Cupti::Cupti(const std::string& library) {
  void* loaded = load(library, file_);
  Api api{};
  const auto find = [&](const char* name, auto& function) {
    void* at = dlsym(loaded, name);
    if (at == nullptr)
      throw std::runtime_error(
          fmt::format("CUPTI not found: {} has no {}; set TIDE_CUPTI_LIBRARY to the "
                      "path of libcupti.so",
                      file_, name));
    function = reinterpret_cast<std::decay_t<decltype(function)>>(at);
  };
  find("cuptiGetVersion", api.get_version);
  find("cuptiGetResultString", api.get_result_string);
  find("cuptiSubscribe", api.subscribe);
  find("cuptiUnsubscribe", api.unsubscribe);
  find("cuptiActivityRegisterCallbacks", api.register_callbacks);
  find("cuptiActivityEnable", api.enable);
  find("cuptiActivityDisable", api.disable);
  find("cuptiActivityFlushAll", api.flush_all);
  find("cuptiActivityGetNumDroppedRecords", api.dropped_records);
  find("cuptiActivityGetNextRecord", collector().next);
  api_ = std::make_unique<const Api>(api);
  // No callback is wanted; but this is where CUPTI says that another profiler is there.
  CUpti_SubscriberHandle subscriber = nullptr;
  api.check(api.subscribe(&subscriber, no_callback, nullptr), "cuptiSubscribe");
  try {
    api.check(api.register_callbacks(give_buffer, take_buffer), "cuptiActivityRegisterCallbacks");
    for (const CUpti_ActivityKind kind : kinds) api.check(api.enable(kind), "cuptiActivityEnable");
  } catch (...) {
    api.end(subscriber);
    throw;
  }
  subscriber_ = subscriber;
}

Cupti::~Cupti() { api_->end(subscriber_); }

std::string Cupti::version() const {
  std::uint32_t version = 0;
  api_->check(api_->get_version(&version), "cuptiGetVersion");
  return fmt::format("{} of {}", version, file_);
}

std::vector<Activity> Cupti::flush() {
  // First what is complete, so that the forced flush finds nothing that is not.
  api_->check(api_->flush_all(0), "cuptiActivityFlushAll");
  api_->check(api_->flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "cuptiActivityFlushAll");
  Collector& c = collector();
  const std::lock_guard<std::mutex> lock(c.mutex);
  return std::exchange(c.taken, {});
}

std::vector<Activity> Cupti::take() {
  const std::vector<Activity> taken = flush();
  std::size_t dropped = 0, untimed = 0;
  api_->check(api_->dropped_records(nullptr, 0, &dropped), "cuptiActivityGetNumDroppedRecords");
  for (const Activity& a : taken) untimed += a.end_ns == 0 ? 1 : 0;
  if (dropped + untimed > 0)
    throw std::runtime_error(
        fmt::format("CUPTI lost {} records and the times of {}; use a smaller list, or leave the "
                    "device more memory",
                    dropped, untimed));
  return taken;
}

void Cupti::discard() {
  std::size_t dropped = 0;
  flush();
  api_->dropped_records(nullptr, 0, &dropped);  // counts from here on
}

}  // namespace tools
