"""Published data, from the folder of the fixture `real_data`."""

import gzip
import lzma
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_svmlight_file


def read_svmlight(path: Path, **options: Any) -> Any:
    with (lzma if path.suffix == ".xz" else gzip).open(path) as file:
        return load_svmlight_file(file, **options)


def read_mnist(folder: Path, name: str = "train") -> Any:
    """The pixels of each image, and the digits."""
    packed = [folder / "mnist" / f"{name}-{kind}-ubyte.gz" for kind in ("images-idx3", "labels-idx1")]
    images, labels = (np.frombuffer(gzip.decompress(path.read_bytes()), np.uint8) for path in packed)
    return images[16:].reshape(-1, 784), labels[8:]
