// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
// An object of NVLink multicast is made by the node's first rank.  All ranks add their device
// before any binds memory, all bind before any maps it, and after each step all ranks of the
// communicator know whether one of them failed: then nobody has it.
#include "core/multicast.hpp"

#include <algorithm>

#include "core/context.hpp"
#include "core/error.hpp"
#include "core/settings.hpp"

namespace tide {

std::string why_no_multicast(Context& context, const Settings& settings) {
#if TIDE_HAVE_MULTICAST
  if (settings.text("TIDE_ALLOW_MULTICAST") != "1")
    return "TIDE_ALLOW_MULTICAST is not 1; set it in the environment of all ranks";
  std::string why;
  if (gpu::devices(&why) == 0)
    return fmt::format("there is no device ({}), and host memory has no multicast address", why);
  const int device = context.likely_device();  // memory that comes may be another's
  if (!gpu::multicast_supported(device))
    return fmt::format("device {} ({}) has no multicast: its attribute is 0", device,
                       gpu::name(device));
  return "";
#else
  static_cast<void>(context), static_cast<void>(settings);
  return "this Tide was built without it; configure it with -DTIDE_WITH_MULTICAST=ON";
#endif
}

MulticastMode agree_on_multicast(Context& context, const Settings& settings, std::string& why_not) {
  const std::string& asked = settings.text("tide_multicast");
  if (asked == "off") return MulticastMode::off;
  if (asked == "emulate") {
    context.want_multicast(MulticastMode::emulated);
    return MulticastMode::emulated;
  }
  std::string mine;
  context.together([&] {
    context.want_device(settings.text("tide_device"));  // before one is chosen
    mine = why_no_multicast(context, settings);
    if (!mine.empty() && asked == "on")
      throw Error(Kind::unsupported, "tide_multicast = on: {}; or use auto, off or emulate", mine);
  });
  why_not = context.first_reason(mine);
  if (!why_not.empty()) {
    why_not = "multicast: " + why_not;
    return MulticastMode::off;
  }
  context.want_multicast(MulticastMode::nvlink);
  return MulticastMode::nvlink;
}

namespace {

std::vector<char*> bases(const std::vector<std::shared_ptr<Segment>>& parts) {
  std::vector<char*> at;
  for (const auto& part : parts) at.push_back(static_cast<char*>(part->base()));
  return at;
}

std::vector<uint64_t> ids(const std::vector<std::shared_ptr<Segment>>& parts) {
  std::vector<uint64_t> all;
  for (const auto& part : parts) all.push_back(part->id());
  return all;
}

size_t smallest(const std::vector<std::shared_ptr<Segment>>& parts) {
  size_t bytes = SIZE_MAX;
  for (const auto& part : parts) bytes = std::min(bytes, part->bytes());
  return bytes;
}

#if TIDE_HAVE_MULTICAST
std::shared_ptr<const Multicast> make_nvlink(Context& context, bool wanted,
                                             const std::vector<std::shared_ptr<Segment>>& parts,
                                             std::string& why_not) {
  const Topology& t = context.topology();
  const auto me = static_cast<size_t>(t.local(context.rank()));
  std::shared_ptr<Segment> object;
  const auto step = [&](bool mine, const std::function<void()>& act) {
    std::string why;
    try {
      if (mine) act();
    } catch (const std::exception& e) {
      why = e.what();
    }
    why_not = context.first_reason(why);
    return why_not.empty();
  };
  size_t bytes = 0;
  const bool made =
      step(wanted && me == 0,
           [&] {
             bytes = gpu::multicast_bytes(context.device(), smallest(parts), parts.size());
             object = Segment::create_multicast(context.device(), bytes, parts.size());
           }) &&
      step(true,  // tickets stay equal on all ranks
           [&] {
             std::vector<bool> has(static_cast<size_t>(t.size(context.node())), false);
             has[0] = wanted;
             const auto all = context.share(object, has, context.device());
             if (wanted) object = all[0], bytes = object->bytes();
           }) &&
      step(wanted, [&] { object->multicast().add_device(context.device()); }) &&
      step(wanted, [&] { object->multicast().bind(parts[me]->device_memory(), bytes); }) &&
      step(wanted, [&] { object->multicast().map(bases(parts)); });
  if (!made || !wanted) return nullptr;
  auto multicast = std::make_shared<Multicast>();
  multicast->address = static_cast<char*>(object->multicast().address());
  multicast->bytes = std::min(bytes, smallest(parts));
  multicast->segment = ids(parts);
  multicast->member = bases(parts);
  multicast->made = object;
  return multicast;
}
#endif

}  // namespace

std::shared_ptr<const Multicast> make_multicast(Context& context, MulticastMode mode, bool wanted,
                                                const std::vector<std::shared_ptr<Segment>>& parts,
                                                std::string& why_not) {
  if (parts.size() < 2) wanted = false;
#if TIDE_HAVE_MULTICAST
  if (mode == MulticastMode::nvlink) return make_nvlink(context, wanted, parts, why_not);
#endif
  std::shared_ptr<const Multicast> made;
  std::string why;
  try {
    if (wanted && mode == MulticastMode::emulated)
      made = emulated_multicast(bases(parts), ids(parts), smallest(parts));
  } catch (const Error& e) {
    why = e.what();
  }
  why_not = context.first_reason(why);
  return why_not.empty() ? made : nullptr;
}

}  // namespace tide
