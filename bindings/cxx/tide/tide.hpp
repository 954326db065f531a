// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// Tide for C++20, over the C interface in mpix_tide.h: what a call does and when, its errors, who
// is to call it, stand there.  Nothing but conversions is done in these headers.
//   tide::Group    a parameter list over a communicator, and its collectives
//   tide::Request  an operation in progress, or a persistent one
//   tide::Pipeline  layers of a model: prefetch, reduction, planned memory
//   tide::Memory, tide::GroupMemory  memory that the ranks of a node address directly
//   tide::Inputs, tide::Outputs  one piece per parameter, from spans; lengths, types are checked
//   tide::replica_allreduce, norm2, scatter, gather, save, load  beside a group's own calls
//   tide::Error    thrown where a call fails, once the communicator has MPI_ERRORS_RETURN: MPI's
//                  default handler aborts
// Objects are moved, not copied.  They may outlive MPI_Finalize, which frees what they hold.
#pragma once

#include <tide/checkpoint.hpp>
#include <tide/communicator.hpp>
#include <tide/group.hpp>
#include <tide/pipeline.hpp>
#include <tide/sharding.hpp>
