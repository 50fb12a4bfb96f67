"""The perceptron family in plain Python, to be read with the mathematics beside it.

Invariant: the chapters import nothing but the standard library and each other. They know nothing of the rest of
the package, so they can judge the rest. Vectors are lists of floats, labels are -1/+1 (classes 0..K-1 where
there are more than two), and a score of exactly 0 is a mistake unless a docstring says otherwise.

The first three chapters, `perceptrons`, `margins` and `kernels`, hold the algorithms as lecture notes and papers
print them, each a few lines. Chapter four, `family`, is the whole family as one procedure, :func:`learn`: a *rule*
(how far to step) and a *keep* (which weights are the answer). It is slow and obvious; the engine must equal it,
mistake for mistake. Chapter five, `order`, shuffles. Every name can be imported from `rosenblatt.textbook`.

Contents::

    perceptron                 through the origin                        Rosenblatt 1958
    perceptron_with_offset     with an offset
    perceptron_train           PerceptronTrain(D, MaxIter)
    step_perceptron            labels 0/1, step function, learning rate
    averaged_perceptron        the mean of all weight vectors
    averaged_perceptron_train  the same direction from cached weights, w - u/c
    tail_average               the mean of the latest weight vectors
    voted_perceptron           every vector votes                        Freund & Schapire 1999
    pocket_perceptron          the best vector so far                    Gallant 1990
    multiclass_perceptron      one weight row per class
    passive_aggressive         PA, PA-I, PA-II                           Crammer et al. 2006
    penalized_perceptron       weights that shrink after every row
    arow                       a variance for every weight               Crammer et al. 2009
    kernel_perceptron          one coefficient per row instead of one weight per feature
    learn                      all of the linear ones, step by step
    strip_order                the order of a shuffled epoch

>>> w = perceptron([[2.0, 1.0], [-1.0, -1.0]], [+1, -1], T=10)
>>> w
[2.0, 1.0]
"""

from rosenblatt.textbook.family import Rule, Run, Step, is_mistake, learn, scores_of, steps
from rosenblatt.textbook.kernels import Kernel, kernel_perceptron, kernel_score, polynomial, rbf
from rosenblatt.textbook.margins import (
    arow,
    arow_step,
    passive_aggressive,
    passive_aggressive_regression,
    passive_aggressive_step,
    penalized_perceptron,
    shrunk,
)
from rosenblatt.textbook.order import Draws, strip_order
from rosenblatt.textbook.perceptrons import (
    averaged_perceptron,
    averaged_perceptron_train,
    highest_wrong,
    mistaken_rows,
    multiclass_perceptron,
    perceptron,
    perceptron_train,
    perceptron_with_offset,
    pocket_perceptron,
    step,
    step_perceptron,
    tail_average,
    vote,
    voted_perceptron,
)
from rosenblatt.textbook.vectors import Vector, dot, extended, plus

__all__ = [
    "Draws",
    "Kernel",
    "Rule",
    "Run",
    "Step",
    "Vector",
    "arow",
    "arow_step",
    "averaged_perceptron",
    "averaged_perceptron_train",
    "dot",
    "extended",
    "highest_wrong",
    "is_mistake",
    "kernel_perceptron",
    "kernel_score",
    "learn",
    "mistaken_rows",
    "multiclass_perceptron",
    "passive_aggressive",
    "passive_aggressive_regression",
    "passive_aggressive_step",
    "penalized_perceptron",
    "perceptron",
    "perceptron_train",
    "perceptron_with_offset",
    "plus",
    "pocket_perceptron",
    "polynomial",
    "rbf",
    "scores_of",
    "shrunk",
    "step",
    "step_perceptron",
    "steps",
    "strip_order",
    "tail_average",
    "vote",
    "voted_perceptron",
]
