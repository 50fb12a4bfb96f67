"""What a bug report needs: versions, the engine, the machine; nothing that names a user or a file."""

from __future__ import annotations

# What rosenblatt uses if it is there.
PACKAGES = ("numpy", "scipy", "scikit-learn", "pyarrow", "safetensors", "rich")
EXTRAS = ("pandas", "polars", "matplotlib", "onnx", "python-flint", "fsspec", "distributed", "river")


def render_versions() -> str:
    """One line for each part that may matter."""
    import os
    import platform
    import sys

    from rosenblatt import __version__, engine

    lines = [
        ("rosenblatt", __version__),
        ("engine", f"{engine.ISA}, {os.cpu_count()} CPUs, {platform.machine()}, {sys.byteorder}-endian"),
        ("python", f"{platform.python_implementation()} {platform.python_version()}"),
        ("system", f"{platform.system()} {platform.release()}, {' '.join(platform.libc_ver()) or 'no glibc'}"),
        *((name, _version(name) or "missing") for name in PACKAGES),
        *((name, found) for name in EXTRAS if (found := _version(name))),
    ]
    return "\n".join(f"{name:13} {said}" for name, said in lines)


def _version(package: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return None
