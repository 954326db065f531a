// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// A library with CUPTI's names that records what the test says, where no GPU is.  Environment:
//   FAKE_CUPTI_SUBSCRIBED=1  another profiler is there      FAKE_CUPTI_DROPPED=n  records are lost
//   FAKE_CUPTI_UNTIMED=1     the kernel's record has no times
#include <cupti.h>

#include <cstdlib>
#include <cstring>
#include <vector>

static CUpti_BuffersCallbackRequestFunc request;
static CUpti_BuffersCallbackCompleteFunc complete;
static std::vector<CUpti_ActivityKind> enabled;

static bool has(const char* name) { return std::getenv(name) != nullptr; }
static bool records(CUpti_ActivityKind kind) {
  for (const CUpti_ActivityKind k : enabled)
    if (k == kind) return true;
  return false;
}

// CUPTI's own layouts, as the header of this build has them.
#if CUPTI_API_VERSION >= 130000
using Kernel = CUpti_ActivityKernel10;
using Copy = CUpti_ActivityMemcpy6;
#else
using Kernel = CUpti_ActivityKernel9;
using Copy = CUpti_ActivityMemcpy5;
#endif

template <class Record>
static Record transfer(CUpti_ActivityKind kind, CUpti_ChannelType channel, uint64_t bytes) {
  Record r{};
  r.kind = kind;
  r.channelType = channel;
  r.bytes = bytes;
  r.start = 10;
  r.end = 20;
  r.deviceId = 3;
  return r;
}

static size_t size_of(CUpti_ActivityKind kind) {
  switch (kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return sizeof(Kernel);
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return sizeof(Copy);
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return sizeof(CUpti_ActivityMemcpyPtoP4);
    default:
      return sizeof(CUpti_ActivityMemset4);
  }
}

extern "C" {
CUptiResult cuptiGetVersion(uint32_t* version) {
  *version = CUPTI_API_VERSION;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetResultString(CUptiResult, const char** words) {
  *words = "words of the fake";
  return CUPTI_SUCCESS;
}
CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc, void*) {
  *subscriber = reinterpret_cast<CUpti_SubscriberHandle>(&enabled);
  return has("FAKE_CUPTI_SUBSCRIBED") ? CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED
                                      : CUPTI_SUCCESS;
}
CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle) { return CUPTI_SUCCESS; }
CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc r,
                                           CUpti_BuffersCallbackCompleteFunc c) {
  request = r;
  complete = c;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  enabled.push_back(kind);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityDisable(CUpti_ActivityKind) {
  enabled.clear();
  return CUPTI_SUCCESS;
}
// Each pair of flushes: one kernel, a copy and a copy between devices, a memset.
CUptiResult cuptiActivityFlushAll(uint32_t forced) {
  if (forced) return CUPTI_SUCCESS;
  uint8_t* buffer = nullptr;
  size_t room = 0, most = 0, used = 0;
  request(&buffer, &room, &most);
  const auto put = [&](const auto& record) {
    if (!records(record.kind) || room - used < sizeof record) return;
    std::memcpy(buffer + used, &record, sizeof record);
    used += sizeof record;
  };
  Kernel kernel{};
  kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  kernel.start = has("FAKE_CUPTI_UNTIMED") ? 0 : 30;
  kernel.end = has("FAKE_CUPTI_UNTIMED") ? 0 : 50;
  kernel.deviceId = 3;
  kernel.gridX = 4;
  kernel.gridY = 5;
  kernel.gridZ = 6;
  kernel.name = "a_kernel";
  put(kernel);
  put(transfer<Copy>(CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_CHANNEL_TYPE_COMPUTE, 100));
  put(transfer<CUpti_ActivityMemcpyPtoP4>(CUPTI_ACTIVITY_KIND_MEMCPY2,
                                          CUPTI_CHANNEL_TYPE_ASYNC_MEMCPY, 200));
  put(transfer<CUpti_ActivityMemset4>(CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_CHANNEL_TYPE_INVALID, 300));
  complete(nullptr, 0, buffer, room, used);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid, CUpti_Activity** record) {
  auto* next = reinterpret_cast<uint8_t*>(*record);
  next = next == nullptr ? buffer : next + size_of((*record)->kind);
  if (next >= buffer + valid) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *record = reinterpret_cast<CUpti_Activity*>(next);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t* dropped) {
  *dropped = has("FAKE_CUPTI_DROPPED") ? 7 : 0;
  return CUPTI_SUCCESS;
}
}
