// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The host backend: operations carried out by the calling thread on memory that the node's ranks
// share.  The reference for every other backend.
#pragma once
#include <vector>

#include "backend/backend.hpp"
#include "backend/host/node.hpp"
#include "backend/rail.hpp"

namespace tide {

class HostBackend : public Backend {  // the steps of a plan; how bytes move may be another's
 public:
  explicit HostBackend(const Node& node) : node_(node) {}
  const char* name() const override { return "host"; }
  Limits limits() const override { return {}; }
  void before_entry(Work& work) override;
  bool advance(Work& work, Lane lane) override;
  bool settled(Work&, Lane) override { return true; }
  bool inputs_read(Work& work) override;

 protected:
  // A Copy or a Sum, or a slice of it, of which it takes the bytes from the budget.  False: not
  // now.
  virtual bool carry_out(Work& work, Lane lane, const Op& op, Cursor& cursor, size_t& budget);
  const Node& node() const { return node_; }

 private:
  bool step(Work& work, Lane lane, const Op& op, Cursor& cursor, size_t& budget);
  void flush_signals(Work& work);
  void deliver(Work& work, const Signal& signal);
  bool holds(Work& work, const Wait& wait);
  bool put(Work& work, const Put& put);
  void copy(const Work& work, const Copy& op, Interval part);
  void sum(const Work& work, const Sum& op, Interval part);
  void fan_out(const Work& work, const MulticastPlace& place, size_t offset, const void* src,
               size_t bytes, bool stream);

  const Node& node_;
  std::vector<char> scratch_;  // rows of foreign memory, one block each
};

// Start of a buffer in a rank's workspace, and the size of the whole.
size_t region_start(const Workspace& workspace, Buffer buffer);
size_t workspace_bytes(const Workspace& workspace);
// As a Sum of rows of the local ranks' memory.
Sum as_sum(const SwitchSum& op);
// Where row h of a Sum over every_local stands, if that is mapped.
char* local_row(const Work& work, const Sum& op, const Piece& piece, size_t elem_bytes, int h);
// The multicast address of all these rows, where a switch may add them; null: it may not.
struct SwitchRows {
  const Multicast* of = nullptr;
  char* at = nullptr;
};
SwitchRows switch_rows(const Work& work, const Sum& op, const Piece& piece);
// Address of a piece of an operation's interval `whole` in the workspace.
char* workspace_at(const Work& work, const Region& region, Interval whole, const Piece& piece,
                   size_t elem_bytes);

}  // namespace tide
