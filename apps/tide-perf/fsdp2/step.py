#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
"""A training step of transformer blocks: PyTorch's FSDP2 beside Tide's pipeline, one process a GPU.

    mpiexec -n 2 --bind-to none python3 apps/tide-perf/fsdp2/step.py --libtide build/src/libtide.so --tokens 4096

Blocks have the shapes of Llama-3.1-70B.  Both sides keep fp32 master shards, gather bf16 before a block's forward
and again before its backward, and reduce bf16 gradients to fp32 shards.  `local` is the same computation with whole
bf16 weights and no communication, once through PyTorch's autograd (as FSDP2 has it) and once through the linear layer
that writes a weight's gradient where Tide wants it.  Printed: medians, and what each step takes over its own `local`.
Gradients of both sides are compared.  Needs PyTorch >= 2.6 with NCCL, and Tide built with CUDA and with the same MPI
(Open MPI) that starts this; ranks need more than one core, as threads drive both sides.  NCCL_NVLS_ENABLE is 0 unless it is set.
"""
import argparse
import ctypes
import os
import statistics
import sys
import time

BF16, FP32, AVG, SHARD = 1, 3, 2, 2  # as in mpix_tide.h
SHAPES = [(8192, 8192), (1024, 8192), (1024, 8192), (8192, 8192), (28672, 8192), (28672, 8192), (8192, 28672), (8192,), (8192,)]


class Param(ctypes.Structure):
    _fields_ = [("rows", ctypes.c_longlong), ("row_elems", ctypes.c_longlong), ("block_rows", ctypes.c_longlong),
                ("dtype", ctypes.c_int), ("types", ctypes.c_int)]


class Schedule(ctypes.Structure):
    _fields_ = [("nlayers", ctypes.c_int), ("groups", ctypes.c_void_p), ("layer_flags", ctypes.c_void_p),
                ("nforward", ctypes.c_int), ("forward", ctypes.c_void_p), ("nbackward", ctypes.c_int),
                ("backward", ctypes.c_void_p), ("mode", ctypes.c_int), ("prefetch", ctypes.c_int),
                ("reshard", ctypes.c_int), ("reserved", ctypes.c_longlong * 8)]


parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
parser.add_argument("--libtide", required=True, help="path of libtide.so")
parser.add_argument("--layers", type=int, default=3)
parser.add_argument("--tokens", type=int, default=4096, help="of one sequence on each rank")
parser.add_argument("--reps", type=int, default=9)
parser.add_argument("--prefetch", type=int, default=1, help="visits that Tide gathers ahead")
parser.add_argument("--mode", choices=["in-place", "slot-reuse"], default="in-place")
parser.add_argument("--trace", metavar="PREFIX", help="write PREFIX-tide.json and PREFIX-fsdp2.json, a step of rank 0 each, for chrome://tracing")
options = parser.parse_args()

os.environ.setdefault("NCCL_NVLS_ENABLE", "0")
mpi = ctypes.CDLL("libmpi.so.40", mode=ctypes.RTLD_GLOBAL)
tide = ctypes.CDLL(options.libtide)  # before PyTorch starts CUDA: it asks for eager loading of kernels
try:
    WORLD = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(mpi, "ompi_mpi_comm_world")))
    NO_INFO = ctypes.c_void_p(ctypes.addressof(ctypes.c_char.in_dll(mpi, "ompi_mpi_info_null")))
except ValueError:
    sys.exit("step.py: libmpi.so.40 is not Open MPI's")
mpi.MPI_Init(None, None)
rank, size = ctypes.c_int(), ctypes.c_int()
mpi.MPI_Comm_rank(WORLD, ctypes.byref(rank))
mpi.MPI_Comm_size(WORLD, ctypes.byref(size))
rank, size = rank.value, size.value
if any(s[0] % size for s in SHAPES):
    sys.exit(f"step.py: {size} ranks do not divide the rows; start a power of 2")
os.environ.update(RANK=str(rank), WORLD_SIZE=str(size), MASTER_ADDR="127.0.0.1")
os.environ.setdefault("MASTER_PORT", "29511")

import torch  # noqa: E402
import torch.distributed as dist  # noqa: E402
import torch.nn.functional as F  # noqa: E402
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard  # noqa: E402

local = int(os.environ.get("OMPI_COMM_WORLD_LOCAL_RANK", rank))
if local >= torch.cuda.device_count():
    sys.exit(f"step.py: rank {rank}: {torch.cuda.device_count()} GPUs are here; start one rank for each, on one host")
torch.cuda.set_device(local)
dist.init_process_group("nccl", device_id=torch.device("cuda", local))


def call(function, *arguments):
    if getattr(tide, function)(*arguments):
        tide.MPIX_Tide_error_message.restype = ctypes.c_char_p
        sys.exit(f"{function}: {tide.MPIX_Tide_error_message().decode()}")


class At:  # memory of somebody's, as CuPy and Numba name it to each other
    def __init__(self, pointer, shape, code):
        self.__cuda_array_interface__ = {"shape": shape, "typestr": code, "data": (pointer, False), "version": 3}


def tensor_at(pointer, shape, dtype):
    if dtype == torch.float32:
        return torch.as_tensor(At(pointer, shape, "<f4"), device="cuda")
    return torch.as_tensor(At(pointer, shape, "<i2"), device="cuda").view(torch.bfloat16)


def rms(x, weight):
    return F.rms_norm(x, (x.shape[-1],), weight, 1e-5)


def block(x, linear, scale):
    """linear(i, x): x times the transpose of weight i; scale(i, x): its norm, times weight i."""
    t = x.shape[0]
    h = scale(7, x)
    q = linear(0, h).view(1, t, 64, 128).transpose(1, 2)
    k = linear(1, h).view(1, t, 8, 128).transpose(1, 2)
    v = linear(2, h).view(1, t, 8, 128).transpose(1, 2)
    a = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    x = x + linear(3, a.transpose(1, 2).reshape(t, 8192))
    h = scale(8, x)
    return x + linear(6, F.silu(linear(4, h)) * linear(5, h))


def weight(layer, index):  # the same on all ranks and sides
    made = torch.empty(SHAPES[index], device="cuda")
    generator = torch.Generator("cuda").manual_seed(1000 * layer + index)
    return made.normal_(0, 0.02, generator=generator) if made.dim() == 2 else made.fill_(1)


class Block(torch.nn.Module):
    def __init__(self, layer, dtype):
        super().__init__()
        self.w = torch.nn.ParameterList([torch.nn.Parameter(weight(layer, i).to(dtype)) for i in range(len(SHAPES))])

    def forward(self, x):
        return block(x, lambda i, h: F.linear(h, self.w[i]), lambda i, h: rms(h, self.w[i]))


class Linear(torch.autograd.Function):
    """The gradient of the weight goes to its own place; weights are looked up when they are needed."""
    @staticmethod
    def forward(ctx, x, layer, i):
        ctx.layer, ctx.i = layer, i
        ctx.save_for_backward(x)
        return x @ layer.params[i].t()

    @staticmethod
    def backward(ctx, dy):
        (x,) = ctx.saved_tensors
        torch.mm(dy.t(), x, out=ctx.layer.grads[ctx.i])
        return dy @ ctx.layer.params[ctx.i], None, None


class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, layer, i):
        ctx.layer, ctx.i = layer, i
        ctx.save_for_backward(x)
        return rms(x, layer.params[i])

    @staticmethod
    def backward(ctx, dy):
        (x,) = ctx.saved_tensors
        with torch.enable_grad():
            x = x.detach().requires_grad_()
            w = ctx.layer.params[ctx.i].detach().requires_grad_()
            dx, dw = torch.autograd.grad(rms(x, w), (x, w), dy)
        ctx.layer.grads[ctx.i].copy_(dw)
        return dx, None, None


class Edge(torch.autograd.Function):  # of a block; does something when the backward passes
    @staticmethod
    def forward(ctx, x, act):
        ctx.act = act
        return x.view_as(x)

    @staticmethod
    def backward(ctx, dy):
        ctx.act()
        return dy, None


class Layer:
    def forward(self, x):
        self.before_forward()
        x = Edge.apply(x, self.after_backward)
        x = block(x, lambda i, h: Linear.apply(h, self, i), lambda i, h: Scale.apply(h, self, i))
        self.after_forward()
        return Edge.apply(x, self.before_backward)


class WholeLayer(Layer):
    def __init__(self, layer):
        self.params = [weight(layer, i).bfloat16() for i in range(len(SHAPES))]
        self.grads = [torch.empty_like(p) for p in self.params]
        self.before_forward = self.after_forward = self.before_backward = self.after_backward = lambda: None


class TideLayer(Layer):
    def __init__(self, number, stream):
        self.number, self.stream = number, ctypes.c_void_p(stream)
        n = len(SHAPES)
        params = (Param * n)(*[Param(s[0], s[1] if len(s) > 1 else 1, 0, BF16, FP32 | BF16 << 8) for s in SHAPES])
        self.group = ctypes.c_void_p()
        call("MPIX_Tide_group_create", WORLD, n, params, NO_INFO, ctypes.byref(self.group))
        info = ctypes.c_void_p()
        mpi.MPI_Info_create(ctypes.byref(info))
        mpi.MPI_Info_set(info, b"mpi_memory_alloc_kinds", b"cuda:device")
        self.info = info
        self.lists = [(ctypes.c_void_p * n)() for _ in range(4)]
        shards, sums = self.lists[0], self.lists[1]
        for pointers in (shards, sums):
            call("MPIX_Tide_group_alloc", self.group, SHARD, 0, info, pointers, ctypes.byref(ctypes.c_void_p()))
        mine = [(s[0] // size, *s[1:]) for s in SHAPES]
        self.shards = [tensor_at(p, s, torch.float32) for p, s in zip(shards, mine)]
        self.sums = [tensor_at(p, s, torch.float32) for p, s in zip(sums, mine)]
        for i, shard in enumerate(self.shards):
            shard.copy_(weight(number, i)[rank * shard.shape[0]:(rank + 1) * shard.shape[0]])
        self.known = {}

    def tensors(self, pointers):
        key = pointers[0]
        if key not in self.known:
            self.known[key] = [tensor_at(p, s, torch.bfloat16) for p, s in zip(pointers, SHAPES)]
        return self.known[key]

    def bind(self, pipeline):
        self.pipeline = pipeline
        call("MPIX_Tide_pipeline_bind", pipeline, self.number, self.lists[0], self.lists[1])

    def before_forward(self):
        call("MPIX_Tide_pipeline_gather", self.pipeline, self.number, self.lists[2], self.stream)
        self.params = self.tensors(self.lists[2])

    def after_forward(self):
        call("MPIX_Tide_pipeline_release", self.pipeline, self.number, self.stream)

    def before_backward(self):
        self.before_forward()
        call("MPIX_Tide_pipeline_grads", self.pipeline, self.number, self.lists[3], self.stream)
        self.grads = self.tensors(self.lists[3])

    def after_backward(self):
        call("MPIX_Tide_pipeline_reduce", self.pipeline, self.number, 0, AVG, ctypes.c_double(1), self.stream)
        call("MPIX_Tide_pipeline_release", self.pipeline, self.number, self.stream)


def say(*words):
    if rank == 0:
        print(*words, flush=True)


stream = torch.cuda.Stream()
torch.cuda.set_stream(stream)
handle = stream.cuda_stream
layers = [TideLayer(k, handle) for k in range(options.layers)]
groups = (ctypes.c_void_p * options.layers)(*[layer.group.value for layer in layers])
schedule = Schedule(nlayers=options.layers, groups=ctypes.cast(groups, ctypes.c_void_p),
                    mode=1 if options.mode == "in-place" else 2, prefetch=options.prefetch, reshard=1)
pipeline = ctypes.c_void_p()
call("MPIX_Tide_pipeline_create", ctypes.byref(schedule), layers[0].info, ctypes.byref(pipeline))
for layer in layers:
    layer.bind(pipeline)
whole = [WholeLayer(k) for k in range(options.layers)]
plain = torch.nn.Sequential(*[Block(k, torch.bfloat16) for k in range(options.layers)])
sharded = torch.nn.Sequential(*[Block(k, torch.float32) for k in range(options.layers)])
policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
for b in sharded:
    fully_shard(b, mp_policy=policy)
fully_shard(sharded, mp_policy=policy)

torch.manual_seed(rank)
x = torch.randn(options.tokens, 8192, device="cuda", dtype=torch.bfloat16).requires_grad_()
dy = torch.randn(options.tokens, 8192, device="cuda", dtype=torch.bfloat16)


def module_step(module):
    module.zero_grad(set_to_none=True)
    module(x).backward(dy)


def layer_step(stack):
    y = x
    for layer in stack:
        y = layer.forward(y)
    y.backward(dy)


def tide_step():
    call("MPIX_Tide_pipeline_begin", pipeline, 0, ctypes.c_void_p(handle))
    layer_step(layers)
    call("MPIX_Tide_pipeline_finish", pipeline, ctypes.c_void_p(handle))


steps = {"local, autograd": lambda: module_step(plain), "fsdp2": lambda: module_step(sharded),
         "local, linear layer": lambda: layer_step(whole), "tide": tide_step}
took = {name: [] for name in steps}
for rep in range(-3, options.reps):
    for name, step in steps.items():
        torch.cuda.synchronize()
        dist.barrier()
        torch.cuda.synchronize()
        begun = time.perf_counter()
        step()
        torch.cuda.synchronize()
        slowest = torch.tensor(time.perf_counter() - begun, device="cuda")
        dist.all_reduce(slowest, op=dist.ReduceOp.MAX)
        if rep >= 0:
            took[name].append(slowest.item() * 1e3)
    if rep == -3:
        say("first step of each is done")

for name in ("tide", "fsdp2") if options.trace else ():  # all ranks, as a profiler slows its own down
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        steps[name]()
        torch.cuda.synchronize()
    if rank == 0:
        profile.export_chrome_trace(f"{options.trace}-{name}.json")

worst = 0.0
for layer, b in zip(layers, sharded):
    for mine, theirs in zip(layer.sums, b.w):
        theirs = theirs.grad.to_local()
        worst = max(worst, ((mine - theirs).norm() / theirs.norm()).item())
code = ctypes.c_int()
for layer in layers:
    call("MPIX_Tide_group_async_error", layer.group, ctypes.byref(code))
    if code.value:
        sys.exit("an operation on the stream failed")
median = {name: statistics.median(times) for name, times in took.items()}
say(f"{options.layers} blocks of Llama-3.1-70B, {options.tokens} tokens a rank, {size} GPUs, {options.mode}, prefetch "
    f"{options.prefetch}, torch {torch.__version__}, NCCL {'.'.join(map(str, torch.cuda.nccl.version()))}")
for name, times in took.items():
    base = median["local, autograd" if name == "fsdp2" else "local, linear layer" if name == "tide" else name]
    over = f"   over local: {median[name] - base:7.2f} ms, {100 * (median[name] / base - 1):5.1f} %" if name in ("fsdp2", "tide") else ""
    say(f"  {name:20s} {median[name]:9.2f} ms  (min {min(times):.2f}, max {max(times):.2f}){over}")
say(f"  fsdp2 takes {median['fsdp2'] / median['tide']:.2f} of tide's time; gradients differ by at most {worst:.1e} (norm of the difference, relative)")
call("MPIX_Tide_pipeline_free", ctypes.byref(pipeline))
dist.destroy_process_group()
mpi.MPI_Finalize()
sys.exit(0 if worst < 0.02 else "gradients differ")
