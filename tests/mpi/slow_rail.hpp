// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// MPI_Isend of this program at a set rate: a message of at least `slow_bytes` leaves its rank only
// when the earlier ones have had their time.  What the library puts on a rail is slowed down with
// it, as the program's own MPI_Isend comes before MPI's.  The program must export its symbols.
#pragma once
#include <cstddef>

namespace tide_test {

void slow_rail(double bytes_per_s);  // 0: as fast as MPI is
size_t slow_bytes();                 // shorter messages pass, but never overtake in their channel
// Messages that have not left this rank, and all that were ever held back.
size_t rail_messages_held();
size_t rail_messages_seen();
// Of MPI_Isend and MPI_Iprobe, by other threads than the program's first.
size_t calls_of_other_threads();

}  // namespace tide_test
