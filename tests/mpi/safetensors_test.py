# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
"""What MPIX_Tide_save writes, the safetensors package reads, and the other way round.

safetensors_test.py MPIEXEC FLAG PROGRAM
"""

import json
import math
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

from safetensors import SafetensorError, deserialize, serialize

mpiexec, flag, program = sys.argv[1:]
SHAPES = {
    "model.bf16": ("bfloat16", "BF16", [7, 3], 2),
    "model.fp16": ("float16", "F16", [5], 2),
    "model.fp32": ("float32", "F32", [9, 4], 4),
    "model.fp64": ("float64", "F64", [2, 3], 8),
    "model.bytes": ("uint8", "U8", [11, 5], 1),
    'model.empty "ü"': ("float32", "F32", [0, 4], 4),
}


def wanted(p, shape, elem_bytes):
    count = elem_bytes
    for n in shape:
        count *= n
    return bytes((i * 40503 + p * 13 + 1) % 256 for i in range(count))


def run(ranks, what, path):
    subprocess.run([mpiexec, flag, str(ranks), program, what, str(path)], check=True, timeout=50)


# What safetensors.torch knows of the format's types, with the bytes of an element.
TORCH = {"F64": 8, "I64": 8, "F32": 4, "I32": 4, "F16": 2, "BF16": 2, "I16": 2, "I8": 1, "U8": 1, "BOOL": 1}


def check_rules(data):
    """The rules of the format, which readers other than the package rely on.  safetensors.torch maps the file and takes each
    tensor as a slice of it that is viewed as the type, so that places must be multiples of the element."""

    def once(pairs):
        assert len(dict(pairs)) == len(pairs), "a key stands twice"
        return dict(pairs)

    start = 8 + int.from_bytes(data[:8], "little")
    assert start <= 100_000_000 and data[8:9] == b"{" and start % 8 == 0, start
    header = json.loads(data[8:start].decode("utf-8"), object_pairs_hook=once)
    assert all(isinstance(v, str) for v in header.pop("__metadata__").values())
    end = 0
    for name, tensor in sorted(header.items(), key=lambda item: item[1]["data_offsets"]):
        assert set(tensor) == {"dtype", "shape", "data_offsets"}, (name, tensor)
        begin, after = tensor["data_offsets"]
        assert begin == end and after - begin == TORCH[tensor["dtype"]] * math.prod(tensor["shape"]), (name, tensor)
        assert (start + begin) % TORCH[tensor["dtype"]] == 0, (name, tensor)
        end = after
    assert start + end == len(data), "there is more behind the last tensor"


def check(path):
    data = path.read_bytes()
    check_rules(data)
    tensors = dict(deserialize(data))
    assert set(tensors) == set(SHAPES), tensors.keys()
    metadata = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])["__metadata__"]
    assert metadata["by"] == "tide", metadata
    for p, (name, (_, spelled, shape, elem_bytes)) in enumerate(SHAPES.items()):
        tensor = tensors[name]
        assert (tensor["dtype"], tensor["shape"]) == (spelled, shape), (name, tensor)
        assert bytes(tensor["data"]) == wanted(p, shape, elem_bytes), name
        assert metadata["tide.crc32:" + name] == f"{zlib.crc32(tensor['data']):08x}", name


def write(path, metadata):
    tensors = {
        name: {"dtype": dtype, "shape": shape, "data": wanted(p, shape, elem_bytes)}
        for p, (name, (dtype, _, shape, elem_bytes)) in enumerate(SHAPES.items())
    }
    path.write_bytes(serialize(tensors, metadata))


with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "model.safetensors")
    for ranks in (1, 2):
        run(ranks, "save", path)
        check(path)
    data = path.read_bytes()
    try:
        deserialize(data[:-1])  # the package refuses what we refuse
        sys.exit("a file that was cut is taken for whole")
    except SafetensorError:
        pass
    write(path, {"by": "safetensors"})
    for ranks in (1, 2):
        run(ranks, "load", path)
print("the safetensors package and MPIX_Tide_save, MPIX_Tide_load agree")
