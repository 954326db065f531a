// SPDX-FileCopyrightText: 2026 the Tide authors
// SPDX-License-Identifier: BSD-3-Clause
#include "output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>

#include "failure.hpp"

namespace train {
namespace {

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

void write_text(const std::string& path, const std::string& text) {
  File file(std::fopen(path.c_str(), "w"));
  if (!file || std::fwrite(text.data(), 1, text.size(), file.get()) != text.size() ||
      std::fflush(file.get()) != 0)
    throw std::runtime_error(
        fmt::format("cannot write {}: {} (see --out)", path, std::strerror(errno)));
}

std::string script_head(const std::string& out) {
  return fmt::format(
      "# gnuplot {0}.gp draws {0}.png\n"
      "set terminal pngcairo size 1350,800 font 'sans,10'\nset output '{0}.png'\n"
      "set datafile separator ','\nset datafile missing 'nan'\nset multiplot\n",
      out);
}

// Observed, predicted, and the difference, where the field was observed.
std::string map_part(const std::string& out, const Field& field) {
  const std::string table = out + ".map.csv";
  std::string text = fmt::format(
      "set size ratio -1\nset xtics 60\nset ytics 30\nset tics out nomirror\nunset key\n"
      "stats '{0}' using 1 name 'X' nooutput\nset xrange [X_min:X_max]\n"
      "stats '{0}' using 2 name 'Y' nooutput\nset yrange [Y_min:Y_max]\n"
      "stats '{0}' using 3 name 'V' nooutput\nset cbrange [V_min:V_max]\n"
      "stats '{0}' using ($4-$3) name 'D' nooutput\n"
      "set palette defined (0 '#30123b', 1 '#4686fb', 2 '#1ae4b6', 3 '#a2fc3c', 4 '#faba39', "
      "5 '#e4460a', 6 '#7a0403')\n",
      table);
  const struct {
    const char *title, *column, *extra;
  } maps[] = {{"observed", "3", ""},
              {"network", "4", ""},
              {"network - observed", "($4-$3)",
               "set palette defined (-1 '#2166ac', 0 '#f7f7f7', 1 '#b2182b')\n"
               "set cbrange [-3*D_stddev:3*D_stddev]\n"}};
  double left = 0;
  for (const auto& map : maps) {
    text += fmt::format(
        "{}set origin {:.4f},0.56\nset size 0.3333,0.44\nset title '{} ({}), first time: {}'\n"
        "plot '{}' using ($3==$3?$1:NaN):2:{} every ::1 with points pt 5 ps 0.32 lc palette\n",
        map.extra, left, field.name, field.units, map.title, table, map.column);
    left += 1.0 / 3;
  }
  return text + "set size noratio\nset autoscale x\nset autoscale y\n";
}

std::string curve_part(const std::string& out, double height,
                       const std::vector<Trainer*>& trainers) {
  const char* colours[] = {"#1f6fb4", "#d95f02"};
  const std::vector<Measure>& measures = trainers[0]->task().measures();
  const size_t columns = 2 + measures.size();  // of one model
  std::string loss, other;
  for (size_t m = 0; m < trainers.size(); ++m) {
    const size_t first = 3 + m * columns;
    // The second model is drawn as points, so that equal curves are both seen.
    const std::string style = m == 0 ? "lines lw 2" : "points pt 6 ps 1";
    const std::string& name = trainers[m]->name();
    loss += fmt::format(
        "{}'{}.csv' using 1:{} every ::1 with {} lc '{}' title '{}: validation', ''"
        " using 1:{} every ::1 with lines dt 3 lc '{}' title '{}: training'",
        m ? ", " : "", out, first + 1, style, colours[m], name, first, colours[m], name);
    other += fmt::format("{}'{}.csv' using 1:{} every ::1 with {} lc '{}' title '{}'",
                         m ? ", " : "", out, first + 2, style, colours[m], name);
  }
  return fmt::format(
      "set key top right\nset xlabel 'epoch'\nset grid\nset xtics autofreq\nset ytics autofreq\n"
      "set origin 0,0\nset size 0.5,{0}\nset logscale y\nset title 'loss'\n"
      "set format y '%g'\nplot {1}\nset origin 0.5,0\nset size 0.5,{0}\nunset logscale y\n"
      "set title 'validation: {2} ({3})'\nplot {4}\nunset multiplot\n",
      height, loss, measures[0].name, measures[0].units, other);
}

}  // namespace

void write_csv(const Options& options, const std::vector<Trainer*>& trainers) {
  const std::vector<Measure>& measures = trainers[0]->task().measures();
  std::string text = "epoch,step";
  for (Trainer* t : trainers) {
    text += fmt::format(",{0}_training_loss,{0}_validation_loss", t->name());
    for (const Measure& m : measures)
      text += fmt::format(",{}_{}{}", t->name(), m.deviation > 0 ? "rmse_" : "", m.name);
  }
  size_t epochs = 0;
  for (Trainer* t : trainers) epochs = std::max(epochs, t->state().history.size());
  for (size_t e = 0; e < epochs; ++e) {
    std::string line;
    int64_t step = 0;
    for (Trainer* t : trainers) {
      if (e >= t->state().history.size()) {  // stopped before this model's turn
        for (size_t c = 0; c < 2 + measures.size(); ++c) line += ",nan";
        continue;
      }
      const Score& s = t->state().history[e];
      step = s.step;
      line += fmt::format(",{:.9g},{:.9g}", s.training_loss, s.validation_loss);
      for (double m : s.measures) line += fmt::format(",{:.9g}", m);
    }
    text += fmt::format("\n{},{}{}", e + 1, step, line);
  }
  write_text(options.out + ".csv", text + "\n");
}

void write_steps(MPI_Comm comm, const Options& options, const std::vector<Trainer*>& trainers) {
  if (!options.step_log) return;
  std::string text = "step";
  std::vector<std::vector<double>> losses;
  size_t steps = 0;
  for (Trainer* t : trainers) {
    text += fmt::format(",{}_loss", t->name());
    losses.push_back(t->step_losses());
    steps = std::max(steps, losses.back().size());
  }
  const int64_t first = trainers[0]->state().step - int64_t(losses[0].size());
  for (size_t n = 0; n < steps; ++n) {
    text += fmt::format("\n{}", first + int64_t(n) + 1);
    for (const auto& loss : losses)
      text += n < loss.size() ? fmt::format(",{:.9g}", loss[n]) : ",nan";
  }
  on_first_rank(comm, [&] { write_text(options.out + ".steps.csv", text + "\n"); });
}

void write_map(const Options& options, const Samples& samples, const std::vector<int64_t>& cells,
               const std::vector<float>& predicted) {
  const Grid& grid = samples.grid();
  const int64_t fields = samples.outputs(), lons = int64_t(grid.lon.size());
  const Field& field = grid.fields[0];
  std::string text = fmt::format("lon,lat,observed_{0},predicted_{0}\n", field.name);
  for (size_t n = 0; n < cells.size(); ++n) {
    const double observed = grid.values[cells[n] * fields] * field.deviation + field.mean;
    const double guess = predicted[n * fields] * field.deviation + field.mean;
    text +=
        fmt::format("{:g},{:g},{},{:.5g}\n", grid.lon[cells[n] % lons], grid.lat[cells[n] / lons],
                    std::isnan(observed) ? "nan" : fmt::format("{:.5g}", observed), guess);
  }
  write_text(options.out + ".map.csv", text);
}

void write_script(const Options& options, const Samples* samples,
                  const std::vector<Trainer*>& trainers) {
  std::string text = script_head(options.out);
  if (samples) text += map_part(options.out, samples->fields()[0]);
  write_text(options.out + ".gp", text + curve_part(options.out, samples ? 0.56 : 1, trainers));
}

void write_times(MPI_Comm comm, const Options& options, const std::vector<Trainer*>& trainers,
                 bool plot) {
  std::string text = "model,computation_ms,gathers_ms,reductions_ms,replicas_norms_ms,agreement_ms";
  for (Trainer* t : trainers) {
    const StepParts p = step_parts(comm, t->times());
    text += fmt::format("\n{},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g}", t->name(), 1e3 * p.computation(),
                        1e3 * p.gathers, 1e3 * p.reductions, 1e3 * p.other, 1e3 * p.agreement);
  }
  const std::string name = options.out + ".time";
  on_first_rank(comm, [&] {
    write_text(name + ".csv", text + "\n");
    if (!plot) return;
    write_text(name + ".gp",
               fmt::format("# gnuplot {0}.gp draws {0}.png\n"
                           "set terminal pngcairo size 800,420 font 'sans,10'\n"
                           "set output '{0}.png'\nset datafile separator ','\n"
                           "set title 'Where the time of a training step went (mean over ranks "
                           "and steps)'\n"
                           "set ylabel 'ms'\nset yrange [0:*]\nset grid y\n"
                           "set key outside right invert\n"
                           "set style data histograms\nset style histogram rowstacked\n"
                           "set style fill solid 0.9 border -1\nset boxwidth 0.5\n"
                           "plot '{0}.csv' every ::1 using 2:xtic(1) title 'computation' "
                           "lc '#9ecae1', '' every ::1 using 3 title 'exposed: gathers' "
                           "lc '#d95f02', '' every ::1 using 4 title 'exposed: reductions' "
                           "lc '#fdae6b', '' every ::1 using 5 title 'exposed: replicas, norms' "
                           "lc '#7570b3', '' every ::1 using 6 title 'exposed: agreement' "
                           "lc '#666666'\n",
                           name));
  });
}

bool draw(const Options& options) {
  if (std::system("command -v gnuplot >/dev/null 2>&1") != 0) {
    fmt::print(
        "gnuplot not found: {0}.png and {0}.time.png left out; later: gnuplot {0}.gp {0}.time.gp\n",
        options.out);
    return false;
  }
  for (const std::string& name : {options.out, options.out + ".time"}) {
    if (std::system(fmt::format("gnuplot '{}.gp'", name).c_str()) != 0) {
      fmt::print("gnuplot could not draw {}.gp\n", name);
      return false;
    }
    fmt::print("picture: {}.png\n", name);
  }
  return true;
}

}  // namespace train
