// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Folders, files, and lists of shards with known bytes, for the tests of checkpoints.
#pragma once
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "list.hpp"

namespace tide_test {

namespace fs = std::filesystem;
inline const Failure io{0, MPI_ERR_IO};

// A folder of this test, on all ranks the same.
class Folder {
 public:
  Folder() {
    char name[] = "/tmp/tide-checkpoint-XXXXXX";
    if (world().rank == 0 && !mkdtemp(name)) ADD_FAILURE() << name;
    MPI_Bcast(name, sizeof name, MPI_CHAR, 0, MPI_COMM_WORLD);
    at_ = name;
  }
  ~Folder() {
    sync(world());
    if (world().rank == 0) fs::remove_all(at_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string operator/(const std::string& name) const { return at_ + "/" + name; }
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(at_)) names.push_back(entry.path().filename());
    return names;
  }

 private:
  std::string at_;
};

inline std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// By rank 0; the others wait.
inline void write_file(const std::string& path, const std::string& bytes) {
  if (world().rank == 0) std::ofstream(path, std::ios::binary) << bytes;
  sync(world());
}

// A list with its shards: byte i of a parameter depends on its place in the whole parameter only.
class Model {
 public:
  Model(const Team& team, std::vector<MPIX_Tide_param> params, int dtype = 0,
        std::vector<MPI_Count> first = {})
      : list(team, std::move(params), MPI_INFO_NULL, std::move(first)),
        dtype_(dtype),
        shards(world(), Memory::foreign, bytes()) {
    for (size_t p = 0; p < list.count(); p++) names_.push_back("layer." + std::to_string(p) + "/w");
    std::vector<const char*> names;
    for (const auto& name : names_) names.push_back(name.c_str());
    TIDE_OK(MPIX_Tide_group_set_names(list.group(), "net.", names.data()));
  }
  MPIX_Tide_item item(const char* kind) const {
    return {kind, list.group(), dtype_, shards.list()};
  }
  void write(uint64_t salt) {
    each([&](size_t p, size_t i, unsigned char& byte) { byte = want(p, i, salt); });
  }
  void expect(uint64_t salt, const char* what, size_t but = SIZE_MAX) const {
    shards.expect_margins(what);
    size_t wrong = 0;
    each([&](size_t p, size_t i, unsigned char& byte) {
      wrong += p != but && byte != want(p, i, salt);
    });
    EXPECT_EQ(0u, wrong) << what << ": bytes that differ";
  }
  int type(size_t p) const { return dtype_ ? dtype_ : shard_dtype(list.params()[p]); }

 private:
  static unsigned char want(size_t p, size_t i, uint64_t salt) {
    return static_cast<unsigned char>(mix(p, i, salt));
  }
  template <class F>
  void each(F f) const {
    for (size_t p = 0; p < list.count(); p++) {
      const size_t before = list.first_elem(p, list.team().rank) * size_of(type(p));
      for (size_t i = 0; i < shards.bytes(p); i++)
        f(p, before + i, static_cast<unsigned char*>(shards[p])[i]);
    }
  }
  std::vector<size_t> bytes() const {
    std::vector<size_t> b;
    for (size_t p = 0; p < list.count(); p++) b.push_back(list.shard_elems(p) * size_of(type(p)));
    return b;
  }
  std::vector<std::string> names_;

 public:
  List list;

 private:
  int dtype_;

 public:
  Pieces shards;
};

inline const int frozen = types_of(MPIX_TIDE_FP32, MPIX_TIDE_NOGRAD);
inline std::vector<MPIX_Tide_param> usual() {
  return {param(7, 3, MPIX_TIDE_BF16),   param(0, 4, MPIX_TIDE_FP16),
          param(13, 5, MPIX_TIDE_UINT8), param(3, 2, MPIX_TIDE_FP32, frozen),
          param(40, 1, MPIX_TIDE_FP64),  param(1, 1, MPIX_TIDE_BF16)};
}

inline int save(const std::string& path, std::vector<MPIX_Tide_item> items,
                const char* metadata = nullptr, MPI_Comm comm = MPI_COMM_WORLD) {
  return MPIX_Tide_save(comm, path.c_str(), static_cast<int>(items.size()), items.data(), metadata,
                        MPI_INFO_NULL);
}
inline int load(const std::string& path, std::vector<MPIX_Tide_item> items,
                MPI_Comm comm = MPI_COMM_WORLD) {
  return MPIX_Tide_load(comm, path.c_str(), static_cast<int>(items.size()), items.data(), nullptr,
                        0, nullptr, MPI_INFO_NULL);
}

}  // namespace tide_test
