// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// What a stream of the user's and a call that the host drives tell each other: words in pinned
// memory.  The stream writes that it has come to the call, and waits for the words that say that
// its inputs have been read, and that it is over.  Words only grow, so that they can be used again
// while a stream still waits for an earlier value.
// In a graph they cannot grow: there the stream sets them back once it has seen that the call of
// the graph's last run is over.
#pragma once
#include <cstdint>

#include "backend/cuda/gpu.hpp"

namespace tide {

class Gate {
 public:
  enum class Of { one_call, graph };
  // Throws Error{unsupported} or Error{device} where words cannot be had.
  explicit Gate(Of of = Of::one_call);
  ~Gate();
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  // What follows in the stream waits; Error{device}.
  void open_after(gpu::UserStream stream);  // everything issued so far
  void hold_for_inputs(gpu::UserStream stream);
  void hold(gpu::UserStream stream);

  bool open() const;
  // A run of the graph has come to the call, and is not let in yet.
  bool waits() const;
  void let_in();
  void tell_inputs_over();
  void tell_over();

 private:
  struct Words;
  static Words* take(Of of);
  const Of of_;
  Words* words_;
  uint32_t value_ = 0;
  bool asked_ = false;  // to be opened
};

}  // namespace tide
