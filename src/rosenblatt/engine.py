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
    from rosenblatt._engine_baseline import *  # noqa: F403 - every engine has the same names


def _choose_isa() -> str:
    asked = os.environ.get("ROSENBLATT_ISA", "")
    if asked not in ("", "baseline", "avx2"):
        raise ParameterError(f"ROSENBLATT_ISA={asked!r}: must be baseline or avx2")
    is_native = find_spec("rosenblatt._engine_baseline") is None  # built with ROSENBLATT_NATIVE
    if asked == "baseline" and is_native:
        raise ParameterError("ROSENBLATT_ISA=baseline: the engine was built for one CPU alone, by ROSENBLATT_NATIVE")
    if asked == "baseline" or is_native:
        return asked or "avx2"
    has_avx2: bool = import_module("rosenblatt._engine_baseline").cpu_has_avx2()
    if asked == "avx2" and not has_avx2:
        raise ParameterError("ROSENBLATT_ISA=avx2: this CPU does not have AVX2")
    return "avx2" if has_avx2 else "baseline"


ISA = _choose_isa()
_module = import_module(f"rosenblatt._engine_{ISA}")
globals().update({name: value for name, value in vars(_module).items() if not name.startswith("_")})
