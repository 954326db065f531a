// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The file behind a segment: nameless, owner-only, its pages reserved before anybody maps it.
#pragma once
#include <cstddef>

namespace tide {

size_t page_bytes();
// A header page and the user's bytes, rounded up to pages.  Error{no_mem} where that overflows.
size_t segment_file_bytes(size_t user_bytes);

bool memfd_absent();  // the kernel has no memfd_create: descriptors carry no seals then
// Empty file with no name, mode 0600.  without_memfd: an unlinked file in /dev/shm.
int open_nameless(bool without_memfd = memfd_absent());
// Before any page is taken: is there so much?  Else Error{no_mem} that says what is short.
void check_room(size_t bytes);
// Size, then every page present.  A signal does not begin it anew: pieces of 64 MiB.
void allocate_file(int fd, size_t bytes);
void seal_file(int fd);  // its size can never change again; nothing where memfd is absent

// What a peer sent, before use: a regular file of this user with no name, of exactly that size,
// sealed against growing and shrinking.  Else Error{peer}.
void check_file(int fd, size_t bytes, bool sealed = !memfd_absent());

}  // namespace tide
