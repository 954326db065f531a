// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Checkpoints in safetensors form.
#pragma once
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include <tide/sharding.hpp>

namespace tide {
inline namespace cxx0 {

/// kind "": parameters; else it stands with a dot before their names: "adam.m".  dtype: of all
/// shards; Dtype::own: each parameter's shard type.
struct Item {
  std::string kind;
  const Group& group;
  const Outputs& shards;
  Dtype dtype = Dtype::own;
};

namespace detail {

class Items {  // for the C interface
 public:
  explicit Items(std::span<const Item> items) {
    for (const Item& item : items) {
      const std::string mine =
          wrong_shards(item.group, item.shards.extents(), item.dtype, !item.kind.empty());
      list_.push_back({item.kind.c_str(), item.group.handle(), static_cast<int>(item.dtype),
                       or_null(item.shards.pointers(), mine)});
      if (wrong.empty()) wrong = mine;
    }
  }
  int size() const { return static_cast<int>(list_.size()); }
  const MPIX_Tide_item* data() const { return list_.data(); }
  std::string wrong;

 private:
  std::vector<MPIX_Tide_item> list_;
};

}  // namespace detail

/// Collective over comm.  metadata: a JSON object of strings, or "".
inline void save(MPI_Comm comm, const std::string& path, std::span<const Item> items,
                 const std::string& metadata = {}, MPI_Info info = MPI_INFO_NULL) {
  const detail::Items list(items);
  detail::check(MPIX_Tide_save(comm, path.c_str(), list.size(), list.data(),
                               metadata.empty() ? nullptr : metadata.c_str(), info),
                list.wrong);
}
inline void save(MPI_Comm comm, const std::string& path, std::initializer_list<Item> items,
                 const std::string& metadata = {}, MPI_Info info = MPI_INFO_NULL) {
  save(comm, path, std::span(items.begin(), items.size()), metadata, info);
}

/// Collective over comm; returns the metadata as JSON.
inline std::string load(MPI_Comm comm, const std::string& path, std::span<const Item> items,
                        MPI_Info info = MPI_INFO_NULL) {
  const detail::Items list(items);
  std::string text(std::size_t{1} << 16, '\0');
  std::size_t needed = 0;
  const auto read = [&] {
    detail::check(MPIX_Tide_load(comm, path.c_str(), list.size(), list.data(), text.data(),
                                 text.size(), &needed, info),
                  list.wrong);
  };
  read();
  if (needed > text.size()) {
    text.resize(needed);
    read();
  }
  text.resize(needed - 1);
  return text;
}
inline std::string load(MPI_Comm comm, const std::string& path, std::initializer_list<Item> items,
                        MPI_Info info = MPI_INFO_NULL) {
  return load(comm, path, std::span(items.begin(), items.size()), info);
}

}  // namespace cxx0
}  // namespace tide
