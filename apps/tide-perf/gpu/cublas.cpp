// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "gpu/cublas.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <library_types.h>

#include <stdexcept>
#include <type_traits>

#include "gpu/device.hpp"

namespace perf::gpu {
namespace {

// cuBLAS's numbers (cublas_api.h).
constexpr int no_transpose = 0, compute_in_fp32 = 68, default_algorithm = -1;
constexpr std::size_t workspace_bytes = std::size_t{64} << 20;

void expect(int status, const char* call) {
  if (status != 0) throw std::runtime_error(fmt::format("{}: cuBLAS's status {}", call, status));
}

// The wanted file, or what there is without its development files.
void* load(const std::string& library) {
  std::string why;
  for (const std::string& file : {library, library + ".13", library + ".12"}) {
    if (void* loaded = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) return loaded;
    if (why.empty()) why = dlerror();
  }
  throw std::runtime_error(
      fmt::format("--beside needs cuBLAS: {}; set TIDE_CUBLAS_LIBRARY to its path", why));
}

}  // namespace

struct Cublas::Api {
  int (*create)(void**);
  int (*destroy)(void*);
  int (*set_stream)(void*, cudaStream_t);
  int (*set_workspace)(void*, void*, std::size_t);
  int (*gemm)(void*, int, int, int, int, int, const void*, const void*, cudaDataType, int,
              const void*, cudaDataType, int, const void*, void*, cudaDataType, int, int, int);
};

Cublas::Cublas(const std::string& library) {
  void* loaded = load(library);
  Api api{};
  const auto find = [&](const char* name, auto& function) {
    void* at = dlsym(loaded, name);
    if (at == nullptr) throw std::runtime_error(fmt::format("{} has no {}", library, name));
    function = reinterpret_cast<std::decay_t<decltype(function)>>(at);
  };
  find("cublasCreate_v2", api.create);
  find("cublasDestroy_v2", api.destroy);
  find("cublasSetStream_v2", api.set_stream);
  find("cublasSetWorkspace_v2", api.set_workspace);
  find("cublasGemmEx", api.gemm);
  api_ = std::make_unique<const Api>(api);
  expect(api_->create(&handle_), "cublasCreate");
  workspace_ = allocate(workspace_bytes);
}

Cublas::~Cublas() {
  if (handle_ != nullptr) api_->destroy(handle_);
}

void Cublas::issue(const Gemm& g, cudaStream_t stream) const {
  const float one = 1, zero = 0;
  // Its own workspace, so that nothing is allocated while a graph is recorded.
  expect(api_->set_stream(handle_, stream), "cublasSetStream");
  expect(api_->set_workspace(handle_, workspace_.get(), workspace_bytes), "cublasSetWorkspace");
  expect(api_->gemm(handle_, no_transpose, no_transpose, g.m, g.n, g.k, &one, g.a, CUDA_R_16BF, g.m,
                    g.b, CUDA_R_16BF, g.k, &zero, g.c, CUDA_R_16BF, g.m, compute_in_fp32,
                    default_algorithm),
         "cublasGemmEx");
}

}  // namespace perf::gpu
