"""Every linear learner that goes over rows in its own way, in so few epochs that all layouts of rows can be tried."""

from __future__ import annotations

from rosenblatt import AROW, AveragedPerceptron, PassiveAggressive, Perceptron, PocketPerceptron, VotedPerceptron

FEW_EPOCHS = [
    lambda: Perceptron(max_iter=3, tol=None),
    lambda: AveragedPerceptron(max_iter=3, tol=None, shuffle=False),
    lambda: VotedPerceptron(max_iter=2, tol=None),
    lambda: PocketPerceptron(max_iter=3, tol=None),
    lambda: PassiveAggressive(max_iter=3, tol=None, C=0.1),
    lambda: AROW(max_iter=2, tol=None),
    lambda: Perceptron(max_iter=2, tol=None, penalty="elasticnet", alpha=1e-3),
    lambda: Perceptron(max_iter=2, tol=None, multiclass="ovr", n_init=2, init="random"),
]
