"""Types a page word for word: its ``sh`` blocks in a shell, one after another in one folder, its Python in doctest."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
import warnings
from pathlib import Path


def main(page: str) -> int:
    text = Path(page).read_text(encoding="utf-8")
    for block in re.findall(r"(?ms)^```sh\n(.*?)^```$", text):
        if block.startswith("pip install"):  # done already, from the wheel
            block = "".join(block.splitlines(keepends=True)[1:])
        for line in block.splitlines():
            print(f"$ {line}")
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", block], check=False, stdout=subprocess.PIPE)
        if done.returncode != 0:
            print(f"exit code {done.returncode}")
            return 1
    warnings.simplefilter("error")
    failed, tried = doctest.testfile(page, module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    print(f"{tried} lines of Python, {failed} with another answer")
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
