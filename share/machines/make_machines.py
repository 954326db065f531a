#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the machines of this directory as hwloc's XML (version 2): make_machines.py [DIRECTORY]"""
import os
import sys

GEN5 = 63.015385  # GB/s of a PCI link of 16 lanes


class Writer:
    """One line an object; every object gets a number of its own, as hwloc wants."""

    def __init__(self):
        self.lines, self.level, self.objects = [], 0, 0

    def line(self, text):
        self.lines.append("  " * self.level + text)

    def open(self, kind, /, **attributes):
        self.objects += 1
        attributes["gp_index"] = self.objects
        self.line(f'<object type="{kind}" ' + " ".join(f'{k}="{v}"' for k, v in attributes.items()) + ">")
        self.level += 1

    def close(self, times=1):
        for _ in range(times):
            self.level -= 1
            self.line("</object>")

    def info(self, name, value):
        self.line(f'<info name="{name}" value="{value}"/>')


def sets(cpus, nodes):
    mask = lambda numbers: f"0x{sum(1 << n for n in numbers):08x}"
    return {"cpuset": mask(cpus), "complete_cpuset": mask(cpus), "nodeset": mask(nodes), "complete_nodeset": mask(nodes)}


def bridge(w, domain, first, last, at=None):
    """Of a host where it has no bus id itself."""
    more = {} if at is None else {"pci_busid": at, "pci_type": "0604 [1000:c030] [1000:100b] b0", "pci_link_speed": GEN5}
    w.open("Bridge", bridge_type="0-1" if at is None else "1-1", depth=0,
           bridge_pci=f"{domain:04x}:[{first:02x}-{last:02x}]", **more)


def device(w, bus_id, pci_type, speed, names):
    """names: (name, type of the OS device, infos); 0 block, 1 GPU, 2 network, 3 OpenFabrics, 5 co-processor."""
    w.open("PCIDev", pci_busid=bus_id, pci_type=pci_type, pci_link_speed=f"{speed:.6f}")
    for name, kind, infos in names:
        w.open("OSDev", name=name, osdev_type=kind)
        for info in infos:
            w.info(*info)
        w.close()
    w.close()


def nvidia(w, bus_id):
    device(w, bus_id, "0302 [10de:2330] [10de:16c1] a1", GEN5, [])


def mellanox(w, bus_id, number, interface, speed=GEN5, state=4):
    device(w, bus_id, "0207 [15b3:1021] [15b3:0041] 00", speed,
           [(interface, 2, []), (f"mlx5_{number}", 3, [("Port1State", state)])])


def cassini(w, bus_id, number):
    cxi = [(f"cxi{number}", 3, [])] * (number % 2)  # newer versions of hwloc list it, too
    device(w, bus_id, "0200 [17db:0501] [17db:0501] 01", GEN5 / 2, [(f"hsn{number}", 2, [])] + cxi)


def ethernet(w, bus_id, name, speed):
    device(w, bus_id, "0200 [8086:1521] [8086:0001] 01", speed, [(name, 2, [])])


def cores(w, cpus, node):
    for cpu in cpus:
        w.open("Core", os_index=cpu, **sets([cpu], [node]))
        w.open("PU", os_index=cpu, **sets([cpu], [node]))
        w.close(2)


def memory(w, node, cpus):
    w.open("NUMANode", os_index=node, **sets(cpus, [node]), local_memory=68719476736)
    w.close()


def packages(w, count, each):
    """One NUMA node and two cores in each; each(number) adds its devices."""
    for p in range(count):
        cpus = [2 * p, 2 * p + 1]
        w.open("Package", os_index=p, **sets(cpus, [p]))
        memory(w, p, cpus)
        cores(w, cpus, p)
        each(p)
        w.close()


def dgx_h100(w):
    compute = [0, 3, 4, 5, 6, 9, 10, 11]  # 1 and 7 are for storage, as on the real one: numbers do not tell

    def switch(gpu):
        b = 0x10 + 0x10 * gpu  # root port, switch, and a port of the switch for each of GPU and NIC
        bridge(w, 0, b, b + 4)
        bridge(w, 0, b + 1, b + 4, f"0000:{b:02x}:01.0")
        bridge(w, 0, b + 2, b + 4, f"0000:{b + 1:02x}:00.0")
        bridge(w, 0, b + 3, b + 3, f"0000:{b + 2:02x}:00.0")
        nvidia(w, f"0000:{b + 3:02x}:00.0")
        w.close()
        bridge(w, 0, b + 4, b + 4, f"0000:{b + 2:02x}:01.0")
        mellanox(w, f"0000:{b + 4:02x}:00.0", compute[gpu], f"ib{gpu}")
        w.close(4)

    def devices(p):
        for gpu in range(4 * p, 4 * p + 4):
            switch(gpu)
        b = 0x08 if p == 0 else 0xa0
        bridge(w, 0, b, b + 1)
        mellanox(w, f"0000:{b:02x}:00.0", 1 if p == 0 else 7, f"storage{p}", GEN5 / 2)
        w.close()
        if p == 0:
            bridge(w, 0, 0, 1)
            ethernet(w, "0000:01:00.0", "eno1", 2)
            device(w, "0000:01:00.1", "0300 [1a03:2000] [1a03:2000] 41", 0, [])  # a display, no GPU
            w.close()

    packages(w, 2, devices)


def slingshot4(w):
    """GPU g and hsn<g> are at NUMA node 3 - g, on host bridges of their own."""
    w.open("Package", os_index=0, **sets(range(8), range(4)))
    for node in range(4):
        cpus, number = [2 * node, 2 * node + 1], 3 - node
        w.open("Group", **sets(cpus, [node]), kind=0, subkind=0)
        memory(w, node, cpus)
        cores(w, cpus, node)
        b = [0x03, 0x41, 0x82, 0xc1][number]
        bridge(w, 0, b - 1, b)
        nvidia(w, f"0000:{b:02x}:00.0")
        w.close()
        bridge(w, 0, b + 0x20, b + 0x21)
        cassini(w, f"0000:{b + 0x20:02x}:00.0", number)
        w.close(2)
    w.close()


def cpu2(w):
    def devices(p):
        b = 0x20 + 0x80 * p
        bridge(w, 0, b, b + 1)
        mellanox(w, f"0000:{b + 1:02x}:00.0", p, f"ib{p}")
        if p == 0:
            ethernet(w, f"0000:{b + 1:02x}:00.1", "eno1", 2)
        w.close()

    packages(w, 2, devices)


def uma2(w):
    """Two packages share one NUMA node, and two NICs on one root."""
    memory(w, 0, range(4))
    for p in range(2):
        w.open("Package", os_index=p, **sets([2 * p, 2 * p + 1], [0]))
        cores(w, [2 * p, 2 * p + 1], 0)
        w.close()
    bridge(w, 0, 0, 1)
    mellanox(w, "0000:01:00.0", 0, "ib0")
    mellanox(w, "0000:01:00.1", 1, "ib1")
    w.close()


def permuted4(w):
    """The NIC beside GPU 0, 1, 2, 3 is number 2, 0, 3, 1, by name and by bus id; GPU memory is a NUMA node, too."""
    def devices(p):
        nic = [2, 0, 3, 1][p]
        memory(w, 4 + p, [])
        bridge(w, 0x10 * p + 9, 0, 1)
        nvidia(w, f"{0x10 * p + 9:04x}:01:00.0")
        w.close()
        bridge(w, 0x10 * nic, 0, 1)
        mellanox(w, f"{0x10 * nic:04x}:01:00.0", nic, f"ib{nic}")
        w.close()

    packages(w, 4, devices)
    memory(w, 8, range(8))  # far from all


def cloud1(w):
    """One Ethernet NIC, an InfiniBand port that is down, and interfaces without a wire."""
    def devices(_):
        bridge(w, 0, 0, 1)
        device(w, "0000:00:03.0", "0200 [1af4:1041] [1af4:1041] 01", 0, [("eth0", 2, [])])
        mellanox(w, "0000:00:04.0", 0, "ib0", state=1)
        w.close()

    packages(w, 1, devices)
    for name in ("docker0", "lo", "veth1a2b3c"):
        w.open("OSDev", name=name, osdev_type=2)
        w.close()


MACHINES = {"dgx_h100": (dgx_h100, range(4), range(2)), "slingshot4": (slingshot4, range(8), range(4)),
            "cpu2": (cpu2, range(4), range(2)), "permuted4": (permuted4, range(8), range(9)),
            "uma2": (uma2, range(4), range(1)),
            "cloud1": (cloud1, range(2), range(1))}

for name, (fill, cpus, nodes) in MACHINES.items():
    w = Writer()
    whole = sets(cpus, nodes)
    w.open("Machine", os_index=0, allowed_cpuset=whole["cpuset"], allowed_nodeset=whole["nodeset"], **whole)
    w.info("SPDX-FileCopyrightText", "2026 the Tide authors")  # hwloc's own parser knows no comments
    w.info("SPDX-License-Identifier", "BSD-3-Clause")
    fill(w)
    w.close()
    text = "\n".join(['<?xml version="1.0" encoding="UTF-8"?>',
                      '<!DOCTYPE topology SYSTEM "hwloc2.dtd">', '<topology version="2.0">'] + w.lines + ["</topology>", ""])
    directory = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(directory, name + ".xml"), "w") as file:
        file.write(text)
