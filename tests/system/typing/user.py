"""A small program as users write it: type checkers must accept it, and know what comes out."""

from typing import Any, assert_type

import numpy as np
from numpy.typing import NDArray

from rosenblatt import (
    AROW,
    AutoPerceptron,
    AveragedPerceptron,
    Calibrated,
    KernelPerceptron,
    PassiveAggressive,
    Perceptron,
    load,
    save,
)
from rosenblatt.theory import NotSeparable, Separable, Unknown, certify

X: NDArray[np.float64] = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
y = ["no", "no", "no", "yes"]

learner = Perceptron(max_iter=50, shuffle=False, random_state=0).fit(X, y)
assert_type(learner, Perceptron)
assert_type(learner.converged_, bool)
assert_type(learner.stop_reason_, str)
assert_type(learner.history_.mistakes, list[int])
assert_type(learner.n_iter_, int)
answers: NDArray[Any] = learner.predict(X)
scores: NDArray[np.float64] = learner.decision_function(X)
share: float = learner.score(X, y)

averaged = AveragedPerceptron(class_weight="balanced").partial_fit(X, y)
stream = PassiveAggressive(variant="PA-II", C=0.5).learn_one({"free": 1.0}, "spam")
label: Any = stream.predict_one({"free": 1.0})
kernel = KernelPerceptron(kernel="rbf", gamma=1.0, budget=100).fit(X, y)
chances: NDArray[np.float64] = Calibrated(AROW(r=2.0)).fit(X, y).predict_proba(X)
chosen: str = AutoPerceptron(products=False).fit(X, y).choice_

save(learner, "and.model")
loaded: NDArray[Any] = load("and.model").predict(X)

verdict = certify(X, y)
if isinstance(verdict, Separable):
    assert_type(verdict.mistake_bound, int)
elif isinstance(verdict, NotSeparable):
    assert_type(verdict.weights, tuple[int, ...])
else:
    assert_type(verdict, Unknown)
