# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
"""ReFrame's settings for one machine without a batch system: a starting point for a site's own.

A site lists its partitions (scheduler, launcher, access) here or uses the file that it has.
"""

import os

site_configuration = {
    "systems": [
        {
            "name": "here",
            "hostnames": [".*"],
            "partitions": [
                {
                    "name": "local",
                    "scheduler": "local",
                    "launcher": "mpirun",
                    "environs": ["installed"],
                    # Of Open MPI: more ranks than cores, and a container's root.
                    "env_vars": [
                        ["OMPI_MCA_rmaps_base_oversubscribe", "1"],
                        ["OMPI_MCA_mpi_yield_when_idle", "1"],
                        ["OMPI_ALLOW_RUN_AS_ROOT", "1"],
                        ["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"],
                    ],
                }
            ],
        }
    ],
    # `modules` would load tide/<version>; without modules the tools are taken from TIDE_HOME.
    "environments": [{"name": "installed", "modules": os.environ.get("TIDE_MODULES", "").split()}],
    "logging": [
        {
            "handlers": [{"type": "stream", "name": "stdout", "level": "info", "format": "%(message)s"}],
            "handlers_perflog": [
                {
                    "type": "filelog",
                    "prefix": "%(check_system)s/%(check_partition)s",
                    "level": "info",
                    "format": "%(check_result)s|%(check_job_completion_time)s|tide %(check_display_name)s|%(check_perfvalues)s",
                    "format_perfvars": "%(check_perf_value)s|%(check_perf_ref)s|%(check_perf_lower_thres)s|%(check_perf_upper_thres)s|%(check_perf_unit)s|",
                    "append": True,
                }
            ],
        }
    ],
}
