# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
"""ReFrame checks of an installed Tide; nothing is built.

Correctness: tide-info describes the job as it was asked for; tide-perf verifies every result bit by bit.
Performance: time of Tide over that of FSDP2's own path ("stock") in the same run: a ratio, which carries over from
machine to machine better than seconds or bytes do.

    reframe -C settings.py -c tide.py -r [-S ranks=64] [-S ranks_per_node=8] [-S mib=512] [-S longest=1.1]
"""

import json
import os

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import parameter, run_before, sanity_function, variable

COLLECTIVES = ("allgather", "reduce-scatter")


def tool(name):
    """As installed under TIDE_HOME, which the modulefile sets; else what the path has."""
    home = os.environ.get("TIDE_HOME")
    return os.path.join(home, "bin", name) if home else name


class TideCheck(rfm.RunOnlyRegressionTest):
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    ranks = variable(int, value=2)
    ranks_per_node = variable(int, value=0)  # 0: the scheduler's choice
    maintainers = ["the Tide authors"]
    tags = {"tide"}

    @run_before("run")
    def place(self):
        self.num_tasks = self.ranks
        if self.ranks_per_node:
            self.num_tasks_per_node = self.ranks_per_node


@rfm.simple_test
class TideInfo(TideCheck):
    """tide-info sees the ranks that were asked for: a launcher of another MPI gives so many jobs of one."""

    executable = tool("tide-info")
    executable_opts = ["--json"]
    tags = {"tide", "correctness"}

    @sanity_function
    def sees_the_job(self):
        return sn.assert_eq(self.said()["topology"]["ranks"], self.ranks)

    @sn.deferrable
    def said(self):
        with open(os.path.join(self.stagedir, str(self.stdout))) as file:
            return json.load(file)


@rfm.simple_test
class TidePerf(TideCheck):
    """tide-perf's lists, verified, and no slower than `longest` times the stock path."""

    model = parameter(["llama70b", "small"])
    mib = variable(float, value=16.0)
    reps = variable(int, value=10)
    longest = variable(float, value=1.25)  # Tide's median time over stock's
    executable = tool("tide-perf")
    tags = {"tide", "correctness", "performance"}

    @run_before("run")
    def arguments(self):
        self.executable_opts = ["--model", self.model, "--mib", str(self.mib), "-n", str(self.reps)]
        self.executable_opts += ["--baselines", "stock", "--json", "perf.json"]
        self.keep_files = ["perf.json"]

    @run_before("performance")
    def references(self):
        reference = (self.longest, None, 0, "stock")  # at most; how much less is no fault
        self.reference = {"*": {f"{c} over stock": reference for c in COLLECTIVES}}
        self.perf_variables = {
            f"{c} over stock": sn.make_performance_function(self.ratio(c), "stock") for c in COLLECTIVES
        }

    @sanity_function
    def verified(self):
        return sn.all(
            [
                sn.assert_eq(self.said()["ranks"], self.ranks),
                sn.assert_eq(sn.count(self.verdicts()), len(COLLECTIVES)),
                sn.assert_true(sn.all(self.verdicts())),
            ]
        )

    @sn.deferrable
    def said(self):
        with open(os.path.join(self.stagedir, "perf.json")) as file:
            return json.load(file)

    @sn.deferrable
    def verdicts(self):
        """One for each collective: whether every way that was measured gave the right bits."""
        return [all(row["verified"] for row in result["rows"]) for result in self.said()["results"]]

    @sn.deferrable
    def ratio(self, collective):
        for result in self.said()["results"]:
            if result["collective"] == collective:
                median = {row["name"]: row["median_s"] for row in result["rows"]}
                return median["tide"] / median["stock"]
        raise KeyError(collective)
