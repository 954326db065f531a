// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// The text of TIDE_RAIL_DEVICES and info tide_rail_devices: the devices of local ranks 0, 1, ...,
// and again from the first; , or ; between ranks, + between several devices of one rank.
#pragma once
#include <string>
#include <vector>

namespace tide {

constexpr size_t most_rail_devices = 4;  // of one rank

// By local rank; empty for an empty text.  Error{arg} names the first item that is wrong.
std::vector<std::vector<std::string>> parse_rail_devices(const std::string& text);

}  // namespace tide
