"""Draws the pictures of docs/theory.md from the code: ``python docs/pictures/draw.py``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from rosenblatt import Perceptron, plot
from rosenblatt.theory import certify, ledger, trace

HERE = Path(__file__).parent
SQUARE, AND = [[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "no", "no", "yes"]


def main() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(80, 2))
    score = X @ [0.8, 0.6] - 0.2
    X, y = X[np.abs(score) > 0.15], np.where(score > 0, "yes", "no")[np.abs(score) > 0.15]
    best = certify(X, y)
    plot.boundary(X, y, best.w, best.b).savefig(HERE / "boundary.png")

    plot.ledger(ledger(SQUARE, AND)).savefig(HERE / "ledger.png")
    run = trace(SQUARE, AND)
    run = replace(run, steps=[step for step in run.steps if step.update])
    plot.animate(run).savefig(HERE / "and.png")

    thin = rng.normal(size=(2000, 10))
    u = rng.normal(size=10)
    score = thin @ u / np.linalg.norm(u)
    thin, side = thin[np.abs(score) > 0.05], (score > 0)[np.abs(score) > 0.05]
    plot.mistakes(Perceptron(tol=None).fit(thin, side).history_).savefig(HERE / "mistakes.png")

    noisy = rng.normal(size=(1200, 20))
    label = noisy @ rng.normal(size=20) + 2 * rng.normal(size=1200) > 0
    plot.learning_curves(noisy[:600], label[:600], noisy[600:], label[600:]).savefig(HERE / "keeps.png")


if __name__ == "__main__":
    main()
