# SPDX-FileCopyrightText: 2026 the Tide authors
# SPDX-License-Identifier: BSD-3-Clause
"""The page mpix_tide_fortran(3): every procedure of module mpix_tide with its arguments, from the module's own sources."""

import re

import fortran

HANDLES = {"comm", "node", "rail", "shard", "replica", "info", "mpi_req"}
HEAD = """.SH NAME
mpix_tide_fortran \\- the Fortran 2018 module mpix_tide
.SH SYNOPSIS
.nf
.B use mpi_f08
.B use mpix_tide
.PP
.B mpif90 program.f90 $(pkg\\-config \\-\\-cflags \\-\\-libs tide\\-fortran)
.fi
.SH DESCRIPTION
What a call does, its errors and who makes it stand on the page of the C function of the same name.
Parameters count from 1, ranks and rows from 0; of a parameter the last dimension is the sharded one.
Communicators, infos and requests of MPI are those of mpi_f08, shown here, or integers, of the module mpi.
Outputs are written on success only.
Without
.I ierror
MPI's error handler acts; before MPI_Init the program ends with the message.
.PP
Element types: BF16 and FP16 are integer(int16), FP32 real(real32), FP64 real(real64), UINT8 integer(int8).
"""


def roff(text):
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"^([.'])", r"\\&\1", text, flags=re.M)


def forms(name, procedures):
    """One form of a call: with mpi_f08's handles; where only an array's kind differs, all kinds in one."""
    shown = procedures[-1] if procedures[-1].name.endswith("_f08") else procedures[0]
    kinds = {}
    for procedure in procedures:
        for argument in procedure.arguments:
            kind = argument.form.split(",")[0]
            if argument.name not in HANDLES:
                kinds.setdefault(argument.name, [])
                kinds[argument.name] += [kind] if kind not in kinds[argument.name] else []
    line = f"{name}({', '.join(a.name for a in shown.arguments)})"
    verb = "subroutine" if name.endswith("_sink") else "call"  # the sink is the user's
    lines = [f"{shown.result or verb} {line}"]
    for a in shown.arguments:
        first, _, rest = a.form.partition(",")
        several = " or ".join(kinds.get(a.name, [first])) if a.name not in HANDLES else first
        form = f"{several},{rest}" if rest else several
        lines.append(f"    {form} :: {a.name}{a.shape}" + (f"  ! {a.words}" if a.words else ""))
    return lines


def page(folder, version, page_of):
    text = HEAD + ".SH TYPES\n.EX\n" + roff("\n".join(fortran.types_of(folder))) + "\n.EE\n.SH PROCEDURES\n"
    for name, (words, procedures) in fortran.interface_of(folder).items():
        text += f".SS {name}\n.EX\n" + roff("\n".join(forms(name, procedures))) + "\n.EE\n"
        text += ".PP\n" + roff("\n".join(words)) + "\n" if words else ""
    text += ".SH SEE ALSO\n.BR mpix_tide (3),\n.BR mpix_tide_types (3),\n.BR tide_environment (7)\n"
    return page_of("mpix_tide_fortran", 3, version, text)
