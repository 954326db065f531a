// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Does not compile: a column of a LayoutRight view has a stride.
#include <tide/kokkos.hpp>

tide::Inputs column(const Kokkos::View<float**, Kokkos::LayoutRight, Kokkos::HostSpace>& w) {
  return tide::inputs(Kokkos::subview(w, Kokkos::ALL, 1));
}
