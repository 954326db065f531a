#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
"""Makes a NCCL library small enough to carry to a machine without a network.

A wheel's libnccl.so.2 has device code for a dozen architectures.  Kept are the entries of one (its
code runs on GPUs of that architecture alone); the payloads of all others are zeroed in place, which
moves nothing, and zeros compress to nothing.

  python3 -m pip download --no-deps nvidia-nccl-cu13==2.32.3   (with --platform where pip must be told)
  share/ci/nccl_for_device.py nvidia_nccl_cu13-*.whl libnccl.so.2.xz [--arch 90]

There: xz -dk libnccl.so.2.xz, and TIDE_NCCL_LIBRARY=$PWD/libnccl.so.2."""
import argparse
import lzma
import struct
import zipfile

FATBIN, ENTRY = 0xBA55ED50, struct.Struct("<HHIQIIHHI")  # kind, version, header, payload, ..., arch


def keep(image, arch):
    """Zeroes the entries of other architectures; (bytes kept, bytes zeroed) of each architecture."""
    kept, zeroed, at = {}, {}, 0
    magic = struct.pack("<IH", FATBIN, 1)
    while (at := image.find(magic, at)) >= 0:
        header, size = struct.unpack_from("<HQ", image, at + 6)
        end = at + header + size
        if header != 16 or end > len(image):
            at += 4
            continue
        entry = at + header
        while entry + ENTRY.size <= end:
            fields = ENTRY.unpack_from(image, entry)
            start, payload, of = entry + fields[2], fields[3], fields[8]
            if fields[0] not in (1, 2) or start + payload > end:
                break
            binary = fields[0] == 2
            if not (binary and of == arch):
                image[start : start + payload] = bytes(payload)
            count = kept if binary and of == arch else zeroed
            name = ("sm_" if binary else "compute_") + str(of)
            count[name] = count.get(name, 0) + payload
            entry = start + payload
        at = end
    return kept, zeroed


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("source", help="the wheel, or libnccl.so.2 itself")
    parser.add_argument("target", help="file to write; .xz compresses")
    parser.add_argument("--arch", type=int, default=90, help="90 for Hopper")
    given = parser.parse_args()
    if zipfile.is_zipfile(given.source):
        with zipfile.ZipFile(given.source) as wheel:
            name = next(n for n in wheel.namelist() if n.endswith("/libnccl.so.2"))
            image = bytearray(wheel.read(name))
    else:
        with open(given.source, "rb") as library:
            image = bytearray(library.read())
    kept, zeroed = keep(image, given.arch)
    if not kept:
        parser.error(f"no code for sm_{given.arch} in {given.source}; it has {sorted(zeroed)}")
    data = bytes(image)
    if given.target.endswith(".xz"):
        data = lzma.compress(data, preset=4)
    with open(given.target, "wb") as target:
        target.write(data)
    print(f"kept {kept}, zeroed {zeroed}: {len(image)} bytes, {len(data)} in {given.target}")


if __name__ == "__main__":
    main()
