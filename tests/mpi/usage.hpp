// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// What this process holds of the machine, to be compared before and after many rounds.
#pragma once
#include <dirent.h>
#include <malloc.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstring>

namespace tide_test {

// Of this process alone: of memory that processes share, MPI touches more and more of a pool that
// does not grow.  Tide's counts, whether touched or not.
inline size_t resident_bytes() {
  long pages = 0, shared = 0;
  if (FILE* file = std::fopen("/proc/self/statm", "r")) {
    if (std::fscanf(file, "%*d %ld %ld", &pages, &shared) != 2) pages = shared;
    std::fclose(file);
  }
  return static_cast<size_t>(pages - shared) * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

inline size_t entries(const char* path, const char* prefix = "") {
  size_t n = 0;
  if (DIR* dir = opendir(path)) {
    while (const dirent* entry = readdir(dir))
      n += std::strncmp(entry->d_name, prefix, std::strlen(prefix)) == 0;
    closedir(dir);
  }
  return n;
}

inline size_t mappings(const char* of = "") {
  size_t n = 0;
  char line[4096];
  if (FILE* file = std::fopen("/proc/self/maps", "r")) {
    while (std::fgets(line, sizeof line, file)) n += std::strstr(line, of) != nullptr;
    std::fclose(file);
  }
  return n;
}

inline size_t mapped_bytes(const char* of) {
  size_t bytes = 0;
  char line[4096];
  if (FILE* file = std::fopen("/proc/self/maps", "r")) {
    while (std::fgets(line, sizeof line, file)) {
      unsigned long begin = 0, end = 0;
      if (std::strstr(line, of) && std::sscanf(line, "%lx-%lx", &begin, &end) == 2)
        bytes += end - begin;
    }
    std::fclose(file);
  }
  return bytes;
}

struct Usage {
  size_t resident = (malloc_trim(0), resident_bytes()) + mapped_bytes("memfd:tide");
  size_t descriptors = entries("/proc/self/fd"), threads = entries("/proc/self/task");
  size_t maps = mappings(), segments = mappings("memfd:tide");
  size_t shm = entries("/dev/shm", "tide.");  // others' jobs come and go
};

}  // namespace tide_test
