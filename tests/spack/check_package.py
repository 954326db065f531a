# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
"""A test: the Spack package, read without Spack.

check_package.py SOURCE     imports package.py on top of the few names of Spack that it uses, and holds it against
CMakeLists.txt: every option that it sets exists, every option of Tide can be set, a variant reaches its option.
"""

import contextlib
import re
import sys
import types
from pathlib import Path

OPTIONS_WITHOUT_A_VARIANT = {
    "TIDE_TEST_MPI_ONLY", "TIDE_WARNINGS_AS_ERRORS", "TIDE_BUILD_FUZZERS", "TIDE_SANITIZE", "TIDE_WITH_MULTICAST",
}
directives, conditions = [], []


def directive(name):
    def record(*arguments, when=None, **named):
        directives.append((name, arguments, " ".join([*conditions, when or ""]).strip(), named))

    return record


@contextlib.contextmanager
def when(condition):
    conditions.append(condition)
    yield
    conditions.pop()


class Spec:
    mpicc, mpicxx, mpifc = "/mpi/bin/mpicc", "/mpi/bin/mpicxx", "/mpi/bin/mpifort"

    def __init__(self, variants):
        self.variants = {**variants, "cuda_arch": types.SimpleNamespace(value=("80", "90"))}

    def __getitem__(self, name):
        return self

    def satisfies(self, condition):
        return all(self.variants.get(v, False) == (sign == "+") for sign, v in re.findall(r"([+~])(\w+)", condition))


class CMakePackage:
    run_tests = False

    @staticmethod
    def define(name, value):
        value = ";".join(value) if isinstance(value, tuple) else value
        return f"-D{name}={('OFF', 'ON')[value] if isinstance(value, bool) else value}"

    def define_from_variant(self, name, variant):
        assert variant in self.spec.variants, f"{name}: there is no variant {variant}"
        return self.define(name, self.spec.variants[variant])


class CudaPackage:
    cuda_arch_values = ("80", "90", "100")


def install_stubs():
    def module(name, **names):
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__dict__.update(names)

    for name in ("spack", "spack_repo", "spack_repo.builtin", "spack_repo.builtin.build_systems"):
        module(name)
    module("spack_repo.builtin.build_systems.cmake", CMakePackage=CMakePackage)
    module("spack_repo.builtin.build_systems.cuda", CudaPackage=CudaPackage)
    names = ("license", "version", "variant", "depends_on", "conflicts")
    module("spack.package", **{n: directive(n) for n in names}, when=when, join_path=lambda *p: "/".join(p),
           run_after=lambda phase: lambda f: f, Executable=None, SkipTest=Exception,
           find_libraries=None, cache_extra_test_sources=None)


def arguments(tide, **variants):
    package = tide()
    package.spec = Spec(variants)
    return dict(a.removeprefix("-D").split("=", 1) for a in package.cmake_args())


def main():
    source = Path(sys.argv[1])
    install_stubs()
    file = source / "spack/spack_repo/tide/packages/tide/package.py"
    scope = {"__file__": str(file)}
    exec(compile(file.read_text(), str(file), "exec"), scope)
    tide = scope["Tide"]
    assert tide.git == f"file://{source.resolve()}", tide.git

    cmake = (source / "CMakeLists.txt").read_text()
    options = set(re.findall(r"^(?:option|set)\((TIDE_\w+|BUILD_SHARED_LIBS)\b", cmake, re.M))
    variants = {a[0]: named.get("default") for n, a, _, named in directives if n == "variant"}
    variants["cuda"] = False  # of CudaPackage
    assert {"cuda", "nccl", "ucx", "kokkos", "fortran", "shared", "tools"} <= set(variants), variants
    plain = arguments(tide, **variants)
    own = {name for name in plain if not name.startswith("MPI_")}
    assert own <= options, f"package.py sets what CMakeLists.txt has not: {own - options}"
    lacking = options - own - OPTIONS_WITHOUT_A_VARIANT
    assert not lacking, f"no variant of package.py sets {lacking}"
    for name in variants:
        turned = arguments(tide, **{**variants, name: not variants[name]})
        changed = {k for k in own if plain[k] != turned[k]}
        assert len(changed) == 1, f"variant {name} changes {changed or 'no option'}"

    cuda = arguments(tide, **{**variants, "cuda": True})
    assert cuda["CMAKE_CUDA_ARCHITECTURES"] == "80;90", "cuda_arch does not reach CMake"

    needed = re.search(r"cmake_minimum_required\(VERSION ([\d.]+)\)", cmake).group(1)
    specs = {a[0]: (condition, named) for n, a, condition, named in directives if n == "depends_on"}
    assert f"cmake@{needed}:" in specs, f"package.py asks for another CMake than {needed}"
    python = re.search(r"find_package\(Python3 ([\d.]+)", (source / "share/man/CMakeLists.txt").read_text()).group(1)
    assert specs[f"python@{python}:"][1]["type"] == "build", "Python makes man pages and completion"
    wanted = {"hwloc@2.5:2": "+hwloc", "mpi@3.1:": "", "nccl@2.31.2:": "+cuda +nccl"}
    for spec, condition in wanted.items():
        assert specs[spec][0] == condition, f"{spec}: {specs.get(spec)}"
    print(f"{len(directives)} directives, {len(own)} options")


main()
