// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "options.hpp"

#include <mpix_tide.h>

#include <CLI/CLI.hpp>
#include <map>

namespace train {
namespace {

const char* const footer =
    "Exit code: 0, 1 where the models differ by more than --tolerance, 2 for an error.\n"
    "\n"
    "Examples:\n"
    "  mpirun -n 4 tide-train --epochs 5\n"
    "  mpirun -n 8 tide-train --sharded --checkpoint ocean.safetensors --out ocean\n"
    "  mpirun -n 4 tide-train --sharded --mode slot-reuse --prefetch 2 --replicas 2 --clip 1\n"
    "  mpirun -n 4 tide-train --model transformer --text /usr/share/common-licenses/GPL-3\n"
    "  mpirun -n 4 tide-train --data my.nc --vars T,S --width 512 --tolerance 2";

void declare_data(CLI::App& app, Options& o) {
  app.add_option("--data", o.data, "Gridded NetCDF file")
      ->type_name("FILE")
      ->capture_default_str()
      ->group("Data");
  app.add_option("--vars", o.vars, "Fields to learn, separated by commas")
      ->delimiter(',')
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->capture_default_str()
      ->group("Data");
  app.add_option("--holdout", o.holdout, "Part of the grid cells kept for validation")
      ->check(CLI::Range(0.01, 0.9))
      ->capture_default_str()
      ->group("Data");
  app.add_option("--harmonics", o.harmonics, "Harmonics of longitude and of latitude")
      ->check(CLI::Range(1, 64))
      ->capture_default_str()
      ->group("Data");
}

void declare_training(CLI::App& app, Options& o) {
  const std::map<std::string, Activation> names = {
      {"silu", Activation::silu}, {"gelu", Activation::gelu}, {"tanh", Activation::tanh}};
  app.add_option("--width", o.width, "Width of the hidden layers; of a transformer (64)")
      ->check(CLI::Range(1, 65536))
      ->capture_default_str();
  app.add_option("--depth", o.depth, "Number of hidden layers; of a transformer's blocks (2)")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  app.add_option("--activation", o.activation, "silu (default), gelu or tanh")
      ->transform(CLI::CheckedTransformer(names, CLI::ignore_case));
  app.add_option("--batch", o.batch, "Samples, or sequences (32), per step, over all ranks")
      ->check(CLI::Range(1, 1 << 24))
      ->capture_default_str();
  auto* epochs = app.add_option("--epochs", o.epochs, "Passes over the training cells");
  epochs->check(CLI::Range(1, 1000000))->capture_default_str();
  app.add_option("--steps", o.steps, "Steps in all, instead of --epochs")
      ->check(CLI::Range(1, 1 << 30))
      ->excludes(epochs);
  app.add_option("--lr", o.lr, "Peak learning rate (warm-up, then cosine to 1 %)")
      ->check(tools::positive_number)
      ->capture_default_str();
  app.add_option("--weight-decay", o.weight_decay, "AdamW's decay, on weights only")
      ->check(tools::non_negative_number)
      ->capture_default_str();
  app.add_option("--clip", o.clip, "Largest norm of the gradient; 0: any")
      ->check(tools::non_negative_number)
      ->capture_default_str();
  app.add_option("--seed", o.seed, "Of the initial weights and of the order of samples")
      ->capture_default_str();
}

void declare_model(CLI::App& app, Options& o) {
  const std::map<std::string, Model> models = {{"perceptron", Model::perceptron},
                                               {"transformer", Model::transformer}};
  app.add_option("--model", o.model,
                 "perceptron (default): fields as functions of place and season; transformer: the "
                 "next byte of --text, or the next value of the first of --vars along latitudes")
      ->transform(CLI::CheckedTransformer(models, CLI::ignore_case))
      ->type_name("NAME")
      ->group("Model");
  app.add_option("--text", o.text, "Any file, for the transformer")
      ->type_name("FILE")
      ->group("Model");
  app.add_option("--context", o.context, "Tokens that the transformer sees")
      ->check(CLI::Range(1, 4096))
      ->capture_default_str()
      ->group("Model");
  app.add_option("--heads", o.heads, "Of the transformer's attention")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str()
      ->group("Model");
}

// A transformer is smaller by default, and its batch counts sequences.
void set_defaults(const CLI::App& app, Options& o) {
  if (o.model != Model::transformer) return;
  if (app.count("--width") == 0) o.width = 64;
  if (app.count("--depth") == 0) o.depth = 2;
  if (app.count("--batch") == 0) o.batch = 32;
}

void declare_sharding(CLI::App& app, Options& o) {
  const std::map<std::string, bool> modes = {{"in-place", false}, {"slot-reuse", true}};
  const std::map<std::string, bool> collectives = {{"tide", false}, {"stock", true}};
  app.add_option("--mode", o.slot_reuse, "Of the pipeline: in-place (default) or slot-reuse")
      ->transform(CLI::CheckedTransformer(modes, CLI::ignore_case))
      ->type_name("MODE")
      ->group("Sharding");
  app.add_option("--prefetch", o.prefetch, "Visits that a layer is gathered ahead")
      ->check(CLI::Range(0, 1000))
      ->capture_default_str()
      ->group("Sharding");
  app.add_option("--replicas", o.replicas,
                 "Copies of the sharded model, on as many parts of the ranks")
      ->check(CLI::Range(1, 1 << 20))
      ->capture_default_str()
      ->group("Sharding");
  app.add_flag("--node-shared", o.node_shared,
               "Keep the gathered layers once per node (tide_share = node; in-place only)")
      ->group("Sharding");
  app.add_option("--collectives", o.stock,
                 "tide (default), or stock: a baseline with MPI_Allgather and MPI_Reduce_scatter")
      ->transform(CLI::CheckedTransformer(collectives, CLI::ignore_case))
      ->type_name("NAME")
      ->group("Sharding");
}

// What one option alone does not show.
std::string contradiction(const Options& o) {
  if (o.node_shared && o.slot_reuse)
    return "--node-shared works with --mode in-place only: leave one of the two out";
  if (o.stock && (o.node_shared || o.slot_reuse || o.replicas > 1))
    return "--collectives stock has no --mode, --replicas or --node-shared: leave them out";
  if (!o.text.empty() && o.model != Model::transformer)
    return "--text is for --model transformer: give both";
  if (o.model == Model::transformer && o.width % o.heads != 0)
    return "--width is no multiple of --heads: change one of the two";
  return "";
}

void declare_output(CLI::App& app, Options& o) {
  app.add_option("--checkpoint", o.checkpoint, "Saved here; continued from here if it exists")
      ->type_name("FILE");
  app.add_option("--checkpoint-every", o.checkpoint_every, "Epochs between checkpoints")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--stop-after", o.stop_after, "Save and stop after this many epochs of this run")
      ->check(CLI::Range(1, 1000000))
      ->needs("--checkpoint");
  app.add_option("--out", o.out, "Prefix of the .csv, .gp and .png files")
      ->type_name("PATH")
      ->capture_default_str();
  app.add_flag("--step-log", o.step_log, "Write the loss of every step to OUT.steps.csv");
  app.add_flag("!--no-plot", o.plot, "Draw nothing");
  app.add_option("--tolerance", o.tolerance_percent,
                 "With both models: exit 1 if the final validation losses differ by more percent")
      ->check(tools::non_negative_number);
}

}  // namespace

tools::Parsed parse_options(int argc, char** argv, Options& o) {
  CLI::App app{
      "tide-train: trains a small network on observations of the ocean, or a transformer on a "
      "text,\n"
      "sharded over the ranks by Tide's pipeline.  Default: the sharded model and an unsharded\n"
      "reference, side by side (--compare).",
      "tide-train"};
  app.footer(footer);
  app.set_version_flag("--version", "tide-train " MPIX_TIDE_VERSION);
  // a later option overrides an earlier one, so that a script can be extended
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  bool compare = false, sharded = false, reference = false;
  auto* both = app.add_flag("--compare", compare, "Train both models, compare them (default)");
  auto* one = app.add_flag("--sharded", sharded, "Train the sharded model only");
  auto* other = app.add_flag("--reference", reference, "Train the unsharded model only");
  both->excludes(one)->excludes(other);
  one->excludes(other);
  app.add_flag("--exact-reference", o.exact_reference,
               "The reference computes with fp32 weights, instead of bf16 as the sharded model");
  declare_data(app, o);
  declare_training(app, o);
  declare_model(app, o);
  declare_sharding(app, o);
  declare_output(app, o);
  const tools::Parsed parsed = tools::parse(app, argc, argv, [&] {
    set_defaults(app, o);
    return contradiction(o);
  });
  o.models = sharded ? Models::sharded : reference ? Models::reference : Models::compare;
  return parsed;
}

}  // namespace train
