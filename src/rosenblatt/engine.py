"""The compiled engine for this CPU.

Invariant: whichever instruction set is loaded, the same calls give the same bits. ``ROSENBLATT_ISA=baseline`` (or
``avx2``) in the environment forces one.
"""

from __future__ import annotations

import os
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from rosenblatt.errors import ParameterError

if TYPE_CHECKING:
    from rosenblatt._engine_baseline import (
        COUNTERS,
        WINDOW,
        Contest,
        DualRun,
        KernelSource,
        Pass,
        Rows,
        Rule,
        State,
        Stream,
        Tally,
        Targets,
        column_source,
        count_mistakes,
        dense_rows,
        describe_columns,
        draw_order,
        draw_strips,
        draw_windows,
        find_names,
        find_text_names,
        find_unusable,
        hash_strings,
        hash_texts,
        kernel_matrix,
        kernel_scores,
        kernel_walk,
        largest_sizes,
        learn_on_budget,
        make_buffer,
        matrix_source,
        multiply_columns,
        parse,
        row_source,
        run_passes,
        scan_labels,
        scores,
        seed_generator,
        separate,
        settle,
        shuffle,
        sorted_columns,
        sparse_rows,
        split_records,
        squared_norms,
        stored_rows,
        strips_of,
        structure,
        symmetric_uniform,
        votes,
        with_squared_norms,
    )

__all__ = [
    "COUNTERS",
    "ISA",
    "WINDOW",
    "Contest",
    "DualRun",
    "KernelSource",
    "Pass",
    "Rows",
    "Rule",
    "State",
    "Stream",
    "Tally",
    "Targets",
    "column_source",
    "count_mistakes",
    "dense_rows",
    "describe_columns",
    "draw_order",
    "draw_strips",
    "draw_windows",
    "find_names",
    "find_text_names",
    "find_unusable",
    "hash_strings",
    "hash_texts",
    "kernel_matrix",
    "kernel_scores",
    "kernel_walk",
    "largest_sizes",
    "learn_on_budget",
    "make_buffer",
    "matrix_source",
    "multiply_columns",
    "parse",
    "row_source",
    "run_passes",
    "scan_labels",
    "scores",
    "seed_generator",
    "separate",
    "settle",
    "shuffle",
    "sorted_columns",
    "sparse_rows",
    "split_records",
    "squared_norms",
    "stored_rows",
    "strips_of",
    "structure",
    "symmetric_uniform",
    "votes",
    "with_squared_norms",
]


def _choose_isa() -> str:
    asked = os.environ.get("ROSENBLATT_ISA", "")
    if asked not in ("", "baseline", "avx2", "plain"):
        raise ParameterError(f"ROSENBLATT_ISA={asked!r}: must be baseline or avx2")
    if asked == "plain" and find_spec("rosenblatt._engine_plain") is None:
        raise ParameterError("ROSENBLATT_ISA=plain: the engine must be built with -DROSENBLATT_PLAIN=ON")
    if asked in ("baseline", "plain"):
        return asked
    has_avx2: bool = import_module("rosenblatt._engine_baseline").cpu_has_avx2()
    if asked == "avx2" and not has_avx2:
        raise ParameterError("ROSENBLATT_ISA=avx2: this CPU does not have AVX2")
    return "avx2" if has_avx2 else "baseline"


ISA = _choose_isa()
_module = import_module(f"rosenblatt._engine_{ISA}")
globals().update({name: getattr(_module, name) for name in __all__ if name != "ISA"})
