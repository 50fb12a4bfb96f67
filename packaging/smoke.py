"""What an installed wheel must be able to do, with nothing else installed: learn, stream, prove, save, load."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import rosenblatt
from rosenblatt import engine, theory

AND, labels = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], ["no", "no", "no", "yes"]
assert not any(name in sys.modules for name in ("pytest", "pandas", "matplotlib"))
for name in rosenblatt.__all__:
    assert getattr(rosenblatt, name) is not None
for kind in (
    rosenblatt.Perceptron,
    rosenblatt.AveragedPerceptron,
    rosenblatt.VotedPerceptron,
    rosenblatt.PocketPerceptron,
):
    assert kind().fit(AND, labels).score(AND, labels) == 1.0, kind
assert rosenblatt.KernelPerceptron(gamma=1.0).fit(AND, ["a", "b", "b", "a"]).converged_
stream = rosenblatt.PassiveAggressive()
for _ in range(3):
    stream.learn_one({"win": 1.0, "gewinn": 2.0}, "spam").learn_one({"lunch": 1.0, "mittag": 1}, "ham")
assert stream.predict_one({"win": 1.0}) == "spam"
assert theory.certify(AND, labels).check(AND, labels)

folder = Path(tempfile.mkdtemp())
(folder / "rows.svm").write_text("".join(f"{i % 2} {1 + i % 2}:1 {3 + i % 7}:0.5\n" for i in range(200)))
command = [sys.executable, "-m", "rosenblatt"]
for words in (
    ["train", "rows.svm", "-o", "rows.model", "--quiet"],
    ["evaluate", "rows.model", "rows.svm"],
    ["teach", "course", "--solutions"],
):
    subprocess.run([*command, *words], cwd=folder, check=True, capture_output=True)
assert rosenblatt.load(folder / "rows.model").classes_.tolist() == [0, 1]
assert (folder / "course/instructor/source/11-streams/data/sms.tsv.gz").exists()
print(f"rosenblatt {rosenblatt.__version__}, Python {sys.version.split()[0]}, engine {engine.ISA}: all is well")
