"""Attacks by files: caches, labels, JSON, CSV and models that once did harm."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from corpus import DIALECTS
from running import Counts, Running, new_counts, run


def one_cache_for_two_runs(folder: Path) -> Counts:
    """80 runs, two at a time, on two files with one folder for their caches."""
    counts, paths = new_counts(), []
    for k in range(2):
        path = folder / f"x{k}.svm"
        path.write_text(
            "".join(f"{(i // (k + 3)) % 2} {1 + i % 5}:{(i * 7 + k) % 11} 9:{i % 10}\n" for i in range(4000))
        )
        paths.append(path)
    words = ["--learner", "averaged", "--max-iter", "3", "--quiet", "--block", "512"]
    expected = []
    for path in paths:
        assert run("train", path, *words, "-o", folder / "expected").how == "fine"
        expected.append((folder / "expected").read_bytes())
    for turn in range(40):
        cache = folder / f"cache{turn // 2}"  # new in every other turn
        both = [
            Running("train", path, *words, "-o", folder / f"m{k}", "--cache", cache) for k, path in enumerate(paths)
        ]
        for k, process in enumerate(both):
            counts["tried"] += 1
            counts["crashed"] += process.end().how != "fine"  # both are sound: neither may be refused
            counts["wrong"] += (folder / f"m{k}").read_bytes() != expected[k]
    return counts


def changed_bits_of_a_cache(folder: Path) -> Counts:
    """Every so many bytes of a cache one bit, in one process: the model is the expected one, or it is refused."""
    from rosenblatt.errors import RosenblattError
    from rosenblatt.io import open_dataset
    from rosenblatt.models.file import save
    from rosenblatt.params import make_params
    from rosenblatt.training.run import TrainingRun

    (folder / "x").write_text("".join(f"{i % 2} {1 + i % 5}:{i * 7 % 11} 9:{i % 10}\n" for i in range(300)))

    def train() -> bytes:
        one = TrainingRun.begin(
            open_dataset(folder / "x", format="svmlight"), make_params("averaged", max_iter=2), block=64
        )
        one.run(cache=str(folder / "cache"))
        save(one.model(), folder / "m")
        return (folder / "m").read_bytes()

    expected, counts = train(), new_counts()
    (blocks,) = (folder / "cache").iterdir()
    whole = blocks.read_bytes()
    for at in range(0, len(whole), max(1, len(whole) // 700)):
        changed = bytearray(whole)
        changed[at] ^= 1 << (at % 8)
        blocks.write_bytes(changed)
        counts["tried"] += 1
        try:
            counts["wrong"] += train() != expected
        except RosenblattError:
            counts["refused"] += 1
    return counts


def labels_in_c(folder: Path) -> Counts:
    """Odd labels through every dialect of the compiler: it takes them, and they come back as they were."""
    import numpy as np

    from rosenblatt.models.export import to_c
    from rosenblatt.models.model import Model
    from rosenblatt.models.predictors import Linear

    odd = ["??/", "*/", "??/*/", "/*", "//", "\\", '"', "%s", "\n", "\r\n", "é", "\u2028", "\t", "??>", "<%", "#", "0x"]
    odd += ["*/ int x; /*", '"; int y; "', '??/"', "\\x41", "\\101", "??=define", "a" * 5000, "\x7f", "??'", "$(id)"]
    labels = sorted(odd)
    weights = Linear(np.ones((len(labels), 2)), np.zeros(len(labels)))
    header = to_c(Model("Perceptron", {}, np.array(labels), (weights,), 2, None))
    body = "".join(f"fputs(model_classes[{k}], stdout); putchar(1); " for k in range(len(labels)))
    counts, source, program = new_counts(), folder / "x.c", folder / "x"
    source.write_text(f"#include <stdio.h>\n{header}\nint main(void) {{ {body} return 0; }}\n")
    more = [["-x", "c", "-std=gnu17", "-trigraphs"], ["-x", "c++", "-std=c++20"]]
    for flags in [*DIALECTS, *more]:
        counts["tried"] += len(labels)
        words = ["cc", *flags, "-Wall", "-Werror", "-Wno-unused-function", "-Wno-overlength-strings", str(source)]
        built = subprocess.run([*words, "-o", str(program), "-lm"], capture_output=True)
        if built.returncode:
            counts["wrong"] += len(labels)
            continue
        said = subprocess.run([str(program)], capture_output=True).stdout.decode().split("\x01")[:-1]
        counts["wrong"] += sum(a != b for a, b in zip(said, labels, strict=False)) + abs(len(said) - len(labels))
    return counts


def nested_json(folder: Path) -> Counts:
    """Lines nested 65 to a million deep, in all that reads JSON, to learn from and to predict."""
    counts, good = new_counts(), "".join(json.dumps({"a": i, "y": "pq"[i % 2]}) + "\n" for i in range(40))
    (folder / "good.jsonl").write_text(good)
    assert run("train", folder / "good.jsonl", "-o", folder / "m", "--learner", "pa1", "--quiet").how == "fine"
    for depth in (65, 1_000, 20_000, 50_000, 1_000_000):
        for mark, end in (("[", "]"), ('{"a":', "}")):
            for whole in (True, False):
                text = '{"a": ' + mark * depth + "1" + (end * depth if whole else "") + ', "y": "p"}\n'
                (folder / "x.jsonl").write_text(good + text)
                for words in (
                    ["train", folder / "x.jsonl", "-o", folder / "n", "--learner", "pa1", "--quiet"],
                    ["predict", folder / "m", folder / "x.jsonl"],
                ):
                    counts["tried"] += 1
                    outcome = run(*words, seconds=10).how
                    counts["wrong" if outcome == "fine" else outcome] += 1
    return counts


def stray_quotes(folder: Path) -> Counts:
    """Quotes that are never closed and ragged lines: as quick as sound text of the same size, within 5 seconds."""
    counts, line = new_counts(), "1,2,3,p\n2,1,3,q\n"
    texts = {
        "one quote": "a,b,c,y\n" + line * 5 + '1,"2,3,p\n' + line * 15_000,
        "many quotes": "a,b,c,y\n" + '1,"2,3,p\n' * 25_000,
        "odd quotes": "a,b,c,y\n" + '1,"2"x",3,p\n' * 20_000,
        "ragged": "a,b,c,y\n" + ("1,2,3,p\n" + "1,2\n" + "1,2,3,4,5,6,q\n") * 8_000,
        "ragged quotes": "a,b,c,y\n" + ('1,2,3,p\n1,"2\n' + '"1,2,3,4,5,6,q\n') * 8_000,
    }
    for text in texts.values():
        (folder / "x.csv").write_text(text)
        for more in ([], ["--skip-bad"]):
            counts["tried"] += 1
            words = ["train", folder / "x.csv", "-o", folder / "m", "--learner", "pa1", "--quiet", *more]
            outcome = run(*words, seconds=8).how
            if outcome in counts:
                counts[outcome] += 1
    return counts


def models_cut_while_they_are_read(folder: Path) -> Counts:
    """A model that another process truncates while it is read, again and again."""
    counts = new_counts()
    (folder / "x.svm").write_text("".join(f"{i % 2} {i % 900 + 1}:1 {900 + i}:2\n" for i in range(4000)))
    assert run("train", folder / "x.svm", "-o", folder / "m", "--learner", "voted", "--quiet").how == "fine"
    whole = (folder / "m").read_bytes()
    code = (
        "import sys, rosenblatt\nfrom rosenblatt.errors import ModelError\nprint('now', flush=True)\n"
        "for _ in range(200):\n"
        "    try: rosenblatt.load(sys.argv[1])\n"
        "    except ModelError: pass\n"
    )
    for _ in range(25):
        (folder / "m").write_bytes(whole)
        process = subprocess.Popen([sys.executable, "-c", code, str(folder / "m")], stdout=subprocess.PIPE)
        assert process.stdout is not None
        process.stdout.readline()
        while process.poll() is None:
            os.truncate(folder / "m", 10)
            time.sleep(0.001)
            with open(folder / "m", "r+b") as file:
                file.write(whole)
            time.sleep(0.001)
        process.stdout.close()
        counts["tried"] += 1
        counts["crashed"] += process.returncode != 0
    return counts


def models_made_by_hand(folder: Path) -> Counts:
    """Right checksums over what no learner writes: no rows, no classes, wide features, deep or broken texts."""
    import numpy as np

    from rosenblatt.models.container import VERSION, _checksum, read_container, write_container

    counts = new_counts()
    (folder / "x.csv").write_text("a,b,y\n" + "1,2,p\n2,1,q\n3,5,r\n" * 10)
    assert run("train", folder / "x.csv", "-o", folder / "m", "--learner", "averaged", "--quiet").how == "fine"
    header, tensors = read_container(folder / "m", "model")
    part = header["parts"][0]
    empty = {f"1.{name[2:]}": array[:0] for name, array in tensors.items() if name.startswith("0.")}
    bare = {name: array[:0] if name.startswith("0.") else array for name, array in tensors.items()}
    made = [
        (header | {"parts": [part, part]}, tensors | empty),  # another part, with no rows
        (header | {"parts": [part, part]}, tensors | empty | {"1.intercept": np.zeros(0)}),
        (header | {"parts": []}, tensors),
        (header | {"classes": {"kind": "U", "values": []}}, tensors),
        (header | {"classes": {"kind": "U", "values": ["p"]}}, bare),
        (header, bare),
        *((header | {"features": size}, tensors) for size in (0, -1, 1, 2**31, 2**63, 10**30)),
        *((header | {"encoder": change}, tensors) for change in (None, {}, [], {"kind": "lines"}, {"kind": "x"})),
        *((header | {key: None}, tensors) for key in header),
    ]
    for changed, arrays in made:
        write_container(folder / "n", "model", changed, arrays)
        _use(folder, counts)
    from safetensors.numpy import save

    deep = '{"a":' * 100_000 + "1" + "}" * 100_000
    for text in (deep, '{"learner": "\\ud800"}', '"\\udfff"', "[" * 100_000, "{}", "null", "1e999", ""):
        envelope = {"kind": "model", "version": VERSION, "sha256": _checksum("model", text, tensors), "header": text}
        for metadata in (json.dumps(envelope), text):
            (folder / "n").write_bytes(save(tensors, {"rosenblatt": metadata}))
            _use(folder, counts)
    return counts


def _use(folder: Path, counts: Counts) -> None:
    """Look at a model and let it predict."""
    for words in (["inspect", folder / "n"], ["predict", folder / "n", folder / "x.csv"]):
        counts["tried"] += 1
        ended = run(*words, seconds=10)
        if ended.how in counts:
            counts[ended.how] += 1
