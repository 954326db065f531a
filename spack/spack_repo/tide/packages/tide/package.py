# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
from pathlib import Path

from spack_repo.builtin.build_systems.cmake import CMakePackage
from spack_repo.builtin.build_systems.cuda import CudaPackage

from spack.package import *


class Tide(CMakePackage, CudaPackage):
    """Sharded parameter collectives for MPI programs: an all-gather that lands the rows of all
    ranks in each parameter's own storage, and a reduce-scatter that adds bf16 gradients in fp32,
    in a fixed order."""

    # The clone that this package repository is part of; `git:` in packages.yaml names another.
    git = f"file://{Path(__file__).resolve().parents[5]}"
    homepage = git

    license("BSD-3-Clause")
    test_requires_compiler = True

    version("main", branch="main")

    variant("shared", default=True, description="Build a shared library")
    variant("tools", default=True, description="Build tide-info, tide-perf and tide-train")
    variant("fortran", default=True, description="Build the Fortran module")
    variant("kokkos", default=False, description="Install the lists of Kokkos views")
    variant("ucx", default=True, description="Rails over UCX")
    variant("hwloc", default=True, description="Choose NICs by locality")
    variant("nccl", default=False, description="NCCL for rails of GPU memory", when="+cuda")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.25:", type="build")
    depends_on("fmt@9:", type="build")
    depends_on("nlohmann-json@3.11:", type="build")
    depends_on("python@3.9:", type="build")  # man pages of the functions, completion
    depends_on("googletest@1.12:", type="test")
    depends_on("mpi@3.1:")
    depends_on("hwloc@2.5:2", when="+hwloc")
    depends_on("ucx@1.13: +thread_multiple", when="+ucx")
    depends_on("kokkos@3.4:", when="+kokkos")
    with when("+tools"):
        depends_on("cli11@2.1:", type="build")
        depends_on("pkgconfig", type="build")
        depends_on("netcdf-c")
        depends_on("openblas")
    with when("+cuda"):
        depends_on("cuda@12.4:")
        conflicts("cuda_arch=none", msg="+cuda needs cuda_arch=<compute capability>, e.g. 90")
        for arch in CudaPackage.cuda_arch_values:
            depends_on(f"kokkos +cuda cuda_arch={arch}", when=f"+kokkos cuda_arch={arch}")
        # Looked for when a program runs (libnccl.so.2, or TIDE_NCCL_LIBRARY): nothing is built with it.
        depends_on("nccl@2.31.2:", type="run", when="+nccl")

    conflicts("%gcc@:11", msg="Tide is C++20: gcc 12 or newer")

    sanity_check_is_file = [
        join_path("include", "mpix_tide.h"),
        join_path("include", "tide_version.h"),
    ]

    def cmake_args(self):
        mpi = self.spec["mpi"]
        args = [
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define_from_variant("TIDE_BUILD_APPS", "tools"),
            self.define_from_variant("TIDE_WITH_FORTRAN", "fortran"),
            self.define_from_variant("TIDE_WITH_KOKKOS", "kokkos"),
            self.define_from_variant("TIDE_WITH_UCX", "ucx"),
            self.define_from_variant("TIDE_WITH_HWLOC", "hwloc"),
            self.define_from_variant("TIDE_WITH_CUDA", "cuda"),
            self.define("TIDE_WITH_NCCL", self.spec.satisfies("+nccl")),
            self.define("TIDE_BUILD_TESTING", self.run_tests),
            # Two MPIs may share a prefix: the wrapper in the path is not always the spec's.
            self.define("MPI_C_COMPILER", mpi.mpicc),
            self.define("MPI_CXX_COMPILER", mpi.mpicxx),
        ]
        if self.spec.satisfies("+cuda"):
            archs = self.spec.variants["cuda_arch"].value
            args.append(self.define("CMAKE_CUDA_ARCHITECTURES", archs))
        if self.spec.satisfies("+fortran"):
            args.append(self.define("MPI_Fortran_COMPILER", mpi.mpifc))
        return args

    @property
    def libs(self):
        shared = self.spec.satisfies("+shared")
        return find_libraries("libtide", root=self.prefix, shared=shared, recursive=True)

    @run_after("install")
    def cache_test_sources(self):
        cache_extra_test_sources(self, join_path("share", "doc", "examples"))

    def test_example(self):
        """build an example against the installed package and run it on one rank"""
        source = join_path(self.test_suite.current_test_cache_dir, "share", "doc", "examples")
        mpi = self.spec["mpi"]
        cmake = self.spec["cmake"].command
        cmake(
            "-S",
            source,
            "-B",
            "example",
            f"-DCMAKE_PREFIX_PATH={self.prefix}",
            f"-DMPI_C_COMPILER={mpi.mpicc}",
        )
        cmake("--build", "example", "--target", "example_first")
        out = Executable(join_path("example", "example_first"))(output=str.split, error=str.split)
        assert "row 0 of 4 is 1, its gradient sums to 1" in out

    def test_info(self):
        """tide-info runs and names the MPI that the spec has"""
        if self.spec.satisfies("~tools"):
            raise SkipTest("needs +tools")
        info = Executable(self.prefix.bin.join("tide-info"))
        out = info("--config", output=str.split, error=str.split)
        name = {"openmpi": "Open MPI", "mpich": "MPICH"}.get(self.spec["mpi"].name, "")
        assert name in out, f"built with another MPI than {self.spec['mpi'].name}: {out}"
