// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "api/guard.hpp"
#include "api/next_call.hpp"
#include "checkpoint/checkpoint.hpp"

using namespace tide;

namespace {

Item read_item(const MPIX_Tide_item& in, int i) {
  if (!in.kind) throw Error(Kind::arg, "item {}: kind is NULL; pass \"\" for parameters", i);
  Item item{in.kind, groups().find(in.group), in.dtype, in.shards};
  if (!item.group)
    throw Error(Kind::arg, "item {} (kind \"{}\"): group is not a live group (null, or freed)", i,
                in.kind);
  if (in.dtype < 0 || in.dtype > MPIX_TIDE_UINT8)
    throw Error(Kind::arg,
                "item {} (kind \"{}\"): dtype {} is not 0 or one of MPIX_TIDE_BF16, FP16, FP32, "
                "FP64, UINT8; pass the element type of the shards",
                i, in.kind, in.dtype);
  return item;
}

// What is wrong here is for all ranks to hear.
CheckpointArguments read(bool load, const char* path, int nitems, const MPIX_Tide_item items[],
                         const char* metadata, MPI_Info info) {
  CheckpointArguments a;
  a.load = load;
  a.info = info;
  try {
    if (const auto wrong = take_wrong()) throw *wrong;
    if (!path || !*path) throw Error(Kind::arg, "path is NULL or empty; pass the file's path");
    if (nitems < 0) throw Error(Kind::count, "nitems is {}; pass at least 0", nitems);
    if (nitems && !items)
      throw Error(Kind::arg, "items is NULL although nitems is {}; pass an array", nitems);
    a.path = path;
    if (metadata) a.metadata = metadata;
    for (int i = 0; i < nitems; i++) a.items.push_back(read_item(items[i], i));
  } catch (const Error& e) {
    a.wrong = e;
  }
  return a;
}

}  // namespace

extern "C" {

int PMPIX_Tide_save(MPI_Comm comm, const char* path, int nitems, const MPIX_Tide_item items[],
                    const char* metadata, MPI_Info info) {
  return guard(comm,
               [&] { save_checkpoint(comm, read(false, path, nitems, items, metadata, info)); });
}

int PMPIX_Tide_load(MPI_Comm comm, const char* path, int nitems, const MPIX_Tide_item items[],
                    char* metadata, size_t size, size_t* needed, MPI_Info info) {
  return guard(comm, [&] {
    const std::string text = load_checkpoint(comm, read(true, path, nitems, items, nullptr, info));
    if (metadata || needed) give_text(text, metadata, size, needed);
  });
}
}

TIDE_ALIAS(save)
TIDE_ALIAS(load)
