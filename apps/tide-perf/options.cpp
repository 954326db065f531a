// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

#include <fmt/format.h>
#include <mpix_tide.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <regex>

#include "gpu/device.hpp"
#include "param_list.hpp"

namespace perf {
namespace {

constexpr int most_in_process = 64;  // rows that the resident kernel takes

const char* const description =
    "tide-perf: all-gather and reduce-scatter of real parameter lists, the library against\n"
    "what programs do today, interleaved in one run.  Every result is verified bit by bit\n"
    "before anything is timed.";

const char* const footer =
    "Lists: llama70b (one layer of Llama-3.1-70B), qwen30b (one layer of Qwen3-30B-A3B, all\n"
    "experts), wan14b (one block of a 3-D diffusion transformer of Wan2.2's size), small\n"
    "(32 parameters of 2 KiB).\n"
    "Baselines: stock (FSDP2's own path), flat (the collective on a flat buffer, no layout),\n"
    "per-param (one MPI collective per parameter), a2a (reduce-scatter: bf16 all-to-all and a\n"
    "local fp32 sum), limit (the memory's bound: not a collective at all); with --overlap: mpi\n"
    "(MPI_Iallgather, MPI_Ireduce_scatter_block on flat buffers, with and without MPI_Test).\n"
    "With --memory cuda: stock (copy-in, ncclAllGather, split copy; chunk_cat to fp32,\n"
    "ncclReduceScatter), copy-out (the all-gather's without its copy-in), nccl (bare, on flat\n"
    "buffers), stock-ce and nccl-ce (the all-gathers by NCCL's copy engines, from 2.28), plain\n"
    "(cudaMemcpyAsync of the same bytes into the peers' memory: a bound); with --in-process:\n"
    "plain, resident (packed fp32 added by 16 thread blocks a rank that stay for the whole\n"
    "reduce-scatter, as many as NCCL has), stock-resident (chunk_cat to fp32, then that).\n"
    "NCCL is loaded from TIDE_NCCL_LIBRARY, else libnccl.so.2, cuBLAS (--beside) from "
    "TIDE_CUBLAS_LIBRARY,\n"
    "else libcublas.so, CUPTI (--trace) from TIDE_CUPTI_LIBRARY, else libcupti.so;\n"
    "NCCL_NVLS_ENABLE is 0 unless set.\n"
    "A time is the slowest rank's, between a barrier and its return; 'vs tide' is a row's median\n"
    "over tide's.  algbw is the whole list's bytes over the median, busbw (N-1)/N of that.\n"
    "List file, one parameter a line, '#' comments:  name rows row_elems [block_rows] [dtype]\n"
    "\n"
    "Examples:\n"
    "  mpirun -n 4 tide-perf\n"
    "  mpirun -n 4 tide-perf --model all --mib 64 --fake-nodes 2x2 --json perf.json\n"
    "  mpirun -n 2 tide-perf -c allgather --share node --baselines stock,limit\n"
    "  mpirun -n 4 tide-perf --overlap --workspace 1M,auto --fake-nodes 2x2\n"
    "  mpirun -n 4 tide-perf --skew 20 -b stock\n"
    "  mpirun -n 2 tide-perf --memory cuda --mib 256 --json cuda.json\n"
    "  mpirun -n 2 tide-perf --memory cuda --mib 256 --beside gemm --reps 7\n"
    "  mpirun -n 2 tide-perf --memory cuda --mib 256 --beside gemm --rate 25,50,100\n"
    "  mpirun -n 2 tide-perf --memory cuda --mib 256 --trace --reps 5\n"
    "  mpirun -n 2 tide-perf --memory cuda --mib 256 --displaced --reps 5\n"
    "  mpirun -n 1 tide-perf --memory cuda --in-process 8 --mib 256 --trace --reps 5\n"
    "  mpirun -n 8 tide-perf --small --first-calls --reps 200\n"
    "  mpirun -n 3 tide-perf --list my_model.txt --dtype fp32";

std::vector<std::string> with_all(std::vector<std::string> names,
                                  std::initializer_list<const char*> more) {
  names.insert(names.end(), more.begin(), more.end());
  return names;
}

void add_what(CLI::App& app, Options& o) {
  app.add_option("-c,--collective", o.collectives, "allgather, reduce-scatter or both")
      ->delimiter(',')
      ->check(CLI::IsMember({"allgather", "reduce-scatter"}));
  auto* model = app.add_option("-m,--model", o.models, "built-in lists (comma list), or all")
                    ->delimiter(',')
                    ->check(CLI::IsMember(with_all(model_names(), {"all"})))
                    ->capture_default_str();
  auto* list = app.add_option("-l,--list", o.list_file, "read the parameter list from this file")
                   ->type_name("FILE")
                   ->excludes(model);
  auto* small = app.add_flag_callback(
      "--small", [&o] { o.models = {"small"}; }, "the same as --model small");
  small->excludes(model)->excludes(list);
  auto* mib = app.add_option("--mib", o.mib,
                             "scale a built-in list to about this many MiB of bf16 (default 64)")
                  ->type_name("X")
                  ->check(tools::positive_number)
                  ->excludes(list);
  app.add_option("--scale", o.scale,
                 "multiply every hidden size with this, rounded to multiples of 8; the number of\n"
                 "parameters, their names and the ratios of their shapes stay (1: the real layer)")
      ->type_name("F")
      ->check(CLI::Range(1e-6, 1.0))
      ->excludes(list)
      ->excludes(mib);
  app.add_option("--dtype", o.dtype, "element type of parameters and gradients")
      ->check(CLI::IsMember({"bf16", "fp16", "fp32", "fp64", "uint8"}))
      ->capture_default_str();
  app.add_option("--out-dtype", o.out_dtype,
                 "type of the reduced shards; own: the gradient's; auto: fp32, own for fp64 lists")
      ->check(CLI::IsMember({"auto", "own", "fp32", "fp64"}))
      ->capture_default_str();
}

CLI::Validator memory_word() {
  const auto check = [](std::string& word) -> std::string {
    if (std::regex_match(word, std::regex("tide|malloc|cuda(:(device|[0-9]{1,4}))?"))) return "";
    return fmt::format("{} is neither tide, malloc, cuda nor cuda:K", word);
  };
  return {check, "{tide,malloc,cuda}"};
}

void add_how(CLI::App& app, Options& o) {
  app.add_option("-b,--baselines", o.baselines, "a comma list, all or none")
      ->delimiter(',')
      ->check(CLI::IsMember({"all", "none", "stock", "flat", "per-param", "a2a", "limit", "mpi",
                             "copy-out", "nccl", "stock-ce", "nccl-ce", "plain", "resident",
                             "stock-resident"}))
      ->capture_default_str();
  app.add_option("-n,--reps", o.reps, "timed repetitions of each")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("-w,--warmup", o.warmup, "repetitions before those")
      ->check(CLI::Range(0, 1000000))
      ->capture_default_str();
  app.add_option("--seed", o.seed, "of the random order in every repetition")
      ->capture_default_str();
  app.add_option(
         "--memory", o.memory,
         "where parameters and gradients live: tide (MPIX_Tide_group_alloc), malloc, or\n"
         "cuda (a GPU's, by MPIX_Tide_group_alloc; device: TIDE_DEVICE, else the rank on its\n"
         "host modulo their count; cuda:K: device K for all)")
      ->check(memory_word())
      ->capture_default_str();
  app.add_option("--share", o.share,
                 "node: the gathered parameters exist once per node (not with --memory malloc)")
      ->check(CLI::IsMember({"none", "node"}))
      ->capture_default_str();
  app.add_option("--fake-nodes", o.fake_nodes,
                 "rehearse several nodes on one: NODESxRANKS (2x2) or each rank's node (0,0,1,1)")
      ->type_name("SPEC");
  app.add_option("--json", o.json_file, "write all samples, the command line and the configuration")
      ->type_name("FILE");
}

CLI::Validator beside_word() {
  const auto check = [](std::string& word) -> std::string {
    if (std::regex_match(word, std::regex("gemm(:[1-9][0-9]{0,5}(x[1-9][0-9]{0,5}){2})?")))
      return "";
    return fmt::format("{} is neither gemm nor gemm:MxNxK", word);
  };
  return {check, ""};
}

void add_in_process(CLI::App& app, Options& o) {
  app.add_option(
         "--in-process", o.in_process,
         "one process carries out the plans of L ranks (2 to 64) of one node, in one context\n"
         "of one GPU, where ranks in processes of their own would take it in turns; with the\n"
         "modes below, too (needs --memory cuda)")
      ->type_name("L")
      ->check(CLI::Range(2, most_in_process).description(""))
      ->excludes("--fake-nodes");
}

// On a GPU alone.
void add_device_modes(CLI::App& app, Options& o) {
  auto* trace = app.add_flag(
      "--trace", o.trace,
      "what each call makes the GPU do, by CUPTI: kernels, copies by copy engines and by\n"
      "multiprocessors, multiprocessor-milliseconds (needs --memory cuda)");
  auto* displaced = app.add_flag(
      "--displaced", o.displaced,
      "how many blocks of a kernel that fills the GPU once start late because the calls,\n"
      "repeated all the time, hold a multiprocessor, and how late (needs --memory cuda)");
  for (auto* mode : {trace, displaced})
    mode->excludes("--overlap")
        ->excludes("--first-calls")
        ->excludes("--skew")
        ->excludes("--beside");
  trace->excludes(displaced);
}

// What is measured instead of calls of their own.
void add_modes(CLI::App& app, Options& o) {
  auto* first = app.add_flag("--first-calls", o.first_calls,
                             "show the time of the first and of the hundredth call (unchanged\n"
                             "pointers)");
  auto* overlap = app.add_flag("--overlap", o.overlap,
                               "how much of a nonblocking operation hides behind a computation of\n"
                               "the same length, and MPI's own nonblocking collective beside it");
  app.add_option("--test-every", o.test_every_us,
                 "with --overlap: microseconds of computation between two calls of test")
      ->type_name("US")
      ->check(CLI::Range(1.0, 1e6))
      ->capture_default_str()
      ->needs(overlap);
  app.add_option("--workspace", o.workspaces,
                 "with --overlap: values of tide_workspace_bytes (64K, 16M, min, auto; a comma\n"
                 "list) for which the reduce-scatter's early release of inputs is shown")
      ->type_name("B")
      ->delimiter(',')
      ->needs(overlap);
  app.add_option(
         "--skew", o.skew_ms,
         "every rank arrives at a random time from 0 to MS ms in each call; 0: none is late")
      ->type_name("MS")
      ->check(tools::non_negative_number)
      ->check(CLI::Range(0.0, 60000.0))
      ->excludes(overlap)
      ->excludes(first);
  overlap->excludes(first);
  app.add_option("--beside", o.beside,
                 "gemm (or gemm:MxNxK): what the calls, repeated all the time, cost bf16 GEMMs of\n"
                 "cuBLAS on the same GPU, 200 in a graph: one wave of thread blocks each, and\n"
                 "8192x8192x8192 (needs --memory cuda)")
      ->type_name("WHAT")
      ->check(beside_word())
      ->excludes(overlap)
      ->excludes(first)
      ->excludes("--skew");
  app.add_option("--rate", o.rates,
                 "with --beside: calls start so that a rank receives GBPS GB/s of the others'\n"
                 "inputs ((N-1)/N of the list a call), in turn at each of a comma list")
      ->type_name("GBPS")
      ->delimiter(',')
      ->check(tools::positive_number)
      ->needs("--beside");
  add_device_modes(app, o);
  app.add_flag("--step-memory", o.step_memory,
               "no run: the memory that a training step of the lists is planned to take on 8, 16\n"
               "and 64 ranks, In-Place and Slot-Reuse, and by FSDP2's rule")
      ->excludes(first)
      ->excludes(overlap);
}

// --in-process, and what belongs to it or does not.
std::string in_process_problem(const Options& o) {
  if (o.in_process > 0 && !o.on_device()) return "--in-process needs --memory cuda";
  if (o.in_process > 0 && o.share == "node")
    return "--in-process has private parameters; use --share none";
  if (o.in_process > 0 && o.skewed())
    return "--skew is for ranks that are processes; leave out --skew or --in-process";
  for (const std::string& name : o.baselines) {
    const bool with = name == "resident" || name == "stock-resident";
    const bool without = name == "stock" || name == "copy-out" || name == "nccl" ||
                         name == "stock-ce" || name == "nccl-ce";
    if (o.in_process > 0 && without)
      return fmt::format("--baselines {} does not go with --in-process; use {}", name,
                         "plain, resident or stock-resident");
    if (o.in_process == 0 && with) return fmt::format("--baselines {} needs --in-process", name);
  }
  return "";
}

// Parts memory's word from the device in it, and says what does not go with which memory.
std::string device_problem(Options& o) {
  if (o.memory.rfind("cuda:", 0) == 0) {
    if (o.memory != "cuda:device") o.device = o.memory.substr(5);
    o.memory = "cuda";
  }
  for (const std::string& name : o.baselines) {
    if (name == "all" || name == "none" || name == "stock") continue;
    if (name == "resident" || name == "stock-resident") continue;  // of in_process_problem
    const bool of_device = name == "copy-out" || name == "nccl" || name == "stock-ce" ||
                           name == "nccl-ce" || name == "plain";
    if (of_device != o.on_device())
      return fmt::format("--baselines {} does not go with --memory {}; see --help", name, o.memory);
  }
  const char* const mode = o.kernels_for();
  if (!o.on_device() && mode != nullptr) return fmt::format("{} needs --memory cuda", mode);
  if (!o.on_device()) return "";
  if (o.overlap) return "--overlap computes on the host; use --memory tide, or --beside gemm";
  const std::string missing = gpu::not_built();
  if (!missing.empty()) return "--memory cuda: " + missing;
  const std::string none = gpu::not_built_for_kernels();
  return mode == nullptr || none.empty() ? "" : fmt::format("{}: {}", mode, none);
}

// What CLI11 cannot see: combinations, and values with a grammar of their own.
std::string problem_of(Options& o) {
  if (o.share == "node" && o.memory == "malloc")
    return "--share node needs --memory tide or cuda: only Tide's memory can be shared";
  if (const std::string problem = device_problem(o); !problem.empty()) return problem;
  if (const std::string problem = in_process_problem(o); !problem.empty()) return problem;
  if (std::find(o.models.begin(), o.models.end(), "all") != o.models.end())
    o.models = {"llama70b", "qwen30b", "wan14b"};
  try {
    if (!o.fake_nodes.empty()) o.fake_nodes = fake_nodes_list(o.fake_nodes);
    for (std::string& bytes : o.workspaces) bytes = workspace_bytes(bytes);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "";
}

}  // namespace

bool Options::has_baseline(const std::string& name) const {
  const auto names = [&](const char* n) {
    return std::find(baselines.begin(), baselines.end(), n) != baselines.end();
  };
  return !names("none") && (names("all") || names(name.c_str()));
}

const char* Options::kernels_for() const {
  return !beside.empty() ? "--beside" : trace ? "--trace" : displaced ? "--displaced" : nullptr;
}

bool Options::has_collective(const std::string& name) const {
  return std::find(collectives.begin(), collectives.end(), name) != collectives.end();
}

std::string workspace_bytes(const std::string& spec) {
  std::smatch match;
  if (spec == "min" || spec == "auto") return spec;
  if (!std::regex_match(spec, match, std::regex("([0-9]{1,12})([KMG]?)")))
    throw std::invalid_argument(fmt::format(
        "--workspace '{}' is neither bytes (65536, 64K, 16M, 1G) nor min or auto", spec));
  const std::string unit = match[2];
  const int shift = unit == "K" ? 10 : unit == "M" ? 20 : unit == "G" ? 30 : 0;
  return fmt::format("{}", std::stoull(match[1]) << shift);
}

std::string fake_nodes_list(const std::string& spec) {
  std::smatch match;
  if (std::regex_match(spec, match, std::regex("([1-9][0-9]{0,3})x([1-9][0-9]{0,3})"))) {
    std::string list;
    for (int node = 0; node < std::stoi(match[1]); ++node)
      for (int rank = 0; rank < std::stoi(match[2]); ++rank)
        list += fmt::format("{}{}", list.empty() ? "" : ",", node);
    return list;
  }
  if (std::regex_match(spec, std::regex("[0-9]{1,6}(,[0-9]{1,6})*"))) return spec;
  throw std::invalid_argument(fmt::format(
      "--fake-nodes '{}' is neither NODESxRANKS (2x2) nor one node number per rank (0,0,1,1)",
      spec));
}

tools::Parsed parse_options(int argc, char** argv, Options& options) {
  CLI::App app{description, "tide-perf"};
  app.footer(footer);
  app.set_version_flag("--version", "tide-perf " MPIX_TIDE_VERSION);
  app.get_formatter()->column_width(34);
  add_what(app, options);
  add_how(app, options);
  add_in_process(app, options);
  add_modes(app, options);
  return tools::parse(app, argc, argv, [&options] { return problem_of(options); });
}

}  // namespace perf
