"""The perceptron by its four keeps: last, average, vote, pocket.

Invariant: this file holds no learning. A class joins params to the linear learner, and says what it is for.
"""

from __future__ import annotations

from dataclasses import dataclass

from rosenblatt.learners.linear import LinearLearner
from rosenblatt.params import (
    AveragedPerceptronParams,
    NormalizedPerceptronParams,
    PerceptronParams,
    PocketPerceptronParams,
    VotedPerceptronParams,
)


@dataclass(kw_only=True, eq=False, repr=False)
class Perceptron(PerceptronParams, LinearLearner):
    """Rosenblatt's perceptron: correct the weights on every mistake.

    The first thing to try on data that a hyperplane may separate: it finds one if there is one, after at most
    ``(R/gamma)²`` mistakes. On data that it does not separate, the last weights depend on the last rows; then
    `AveragedPerceptron` is the better choice.

    Update::

        on a mistake, y (w·x + b) <= 0:   w += eta0 y x,   b += eta0 y

    Parameters
    ----------
    eta0 : float, default=1.0
        The length of a step. From zero weights it scales the answer and changes no prediction; it matters with other
        starting weights.
    beta : float, default=0.0
        Step also where the margin ``y (w·x + b)`` is at most `beta` (the margin perceptron). A larger value looks for a
        wider margin and takes longer.
    fit_intercept : bool, default=True
        Learn an offset. It is the weight of a constant feature 1.
    max_iter : int, default=1000
        The most epochs. Stopping here warns: it proves nothing about the data.
    tol : float or None, default=0.0
        Stop when, for `n_iter_no_change` epochs, the best mistake rate did not improve by more than this share of the
        rows. None goes on until convergence or `max_iter`.
    shuffle : bool or "rows", default=True
        A new order of the rows in every epoch: strips of 32 consecutive rows in random order, and the rows of up to 256
        strips from all over shuffled again. It is quicker than to jump from row to row, and the same for arrays and
        files. "rows" draws every row by itself. Switch it off for data in a meaningful order, or to follow a
        calculation by hand.
    random_state : int, NumPy generator or None, default=0
        Where the shuffles and random starts come from; the same number gives the same bits on every machine.
    keep : {"last", "average", "vote", "pocket"}, default="last"
        Which weights are the answer. The classes `AveragedPerceptron`, `VotedPerceptron` and `PocketPerceptron` are
        named for the last three.
    tie : {"mistake", "positive"}, default="mistake"
        A score of exactly 0 is a mistake; "positive" reads it as a prediction of the larger class (the step function).
    init : {"zeros", "random"}, array or (array, array), default="zeros"
        The starting weights: zeros, uniform in [-1, 1), your own of the shape of `coef_`, or these and intercepts.
    n_init : int, default=1
        Restarts, in different orders; the one whose answer makes the fewest training mistakes (or has the best
        validation score) is kept.
    multiclass : {"joint", "ovr"}, default="joint"
        More than two classes: one problem with a weight row a class, or a binary problem a class.
    class_weight : dict, "balanced" or None, default=None
        Scales the steps of a class's rows. "balanced" makes classes count alike.
    early_stopping : bool, default=False
        Hold rows out, stop by their score, and keep the weights of the best epoch.
    validation_fraction : float, default=0.1
        The share of each class that is held out.
    n_iter_no_change : int, default=5
        How many epochs without improvement are enough.
    warm_start : bool, default=False
        A second `fit` goes on from the whole state of the first: two fits of 5 epochs are one of 10, bit for bit.
    n_jobs : int or None, default=None
        Threads for what is independent: the classes of one-vs-rest, and restarts. The answer does not depend on it.
    verbose : int, default=0
        1 shows a progress bar with the mistakes.
    penalty : {None, "l2", "l1", "elasticnet"}, default=None
        Shrink every weight, but not the offset, after every row: "l2" by a factor, "l1" by a fixed amount that ends at
        0, so that weights of useless features are truly zero; "elasticnet" by both. It goes with ``keep="last"`` and
        ``"average"``; `sparsify` makes `coef_` a sparse matrix.
    alpha : float, default=0.0001
        The strength of the penalty: ``|w_j|`` becomes ``(1 - (1 - l1_ratio) eta0 alpha) |w_j| - l1_ratio eta0 alpha``,
        or 0 where that is not above 0. "l2" stands for a ratio of 0, "l1" for one of 1.
    l1_ratio : float, default=0.15
        How much of "elasticnet" is "l1".

    Attributes
    ----------
    coef_, intercept_ : arrays
        The answer: one weight row with two classes, else one a class.
    classes_ : array
        The sorted labels; with two, the larger is +1.
    n_features_in_ : int
    feature_names_in_ : array
        Column names, where X had them.
    n_iter_ : int
        Epochs of the last `fit`.
    converged_ : bool
        Did a whole epoch pass without a mistake? Then the raw weights separate the training rows.
    stop_reason_ : {"converged", "no_change", "max_iter", "partial_fit", "learn_one"}
    mistakes_, updates_ : int
        Over all epochs. A mistake is counted on arrival, before the update.
    history_ : History
        Mistakes, updates and seconds an epoch.

    Notes
    -----
    Guarantee: if a unit vector u separates the rows (extended by a constant 1 with an intercept) with margin gamma,
    and no row is longer than R, at most ``(R/gamma)²`` mistakes are made, in any order, over any number of epochs. A
    row costs one dot product, and one addition on a mistake.

    References
    ----------
    F. Rosenblatt (1958), The perceptron. A. B. J. Novikoff (1962), On convergence proofs on perceptrons.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "no", "no", "yes"]
    >>> learner = Perceptron(tol=None).fit(X, y)  # four rows: do not stop before an epoch without a mistake
    >>> learner.converged_, learner.predict([[1, 1], [0, 1]]).tolist()
    (True, ['yes', 'no'])
    """


@dataclass(kw_only=True, eq=False, repr=False)
class AveragedPerceptron(AveragedPerceptronParams, LinearLearner):
    """The mean of all weight vectors: the perceptron to use when data overlap.

    It learns exactly as `Perceptron` does and answers with the mean of the weights after each example, which
    smooths out the last rows' say. Prediction costs the same as with one weight vector. The parameters are those of
    `Perceptron`, without `keep`.

    Update::

        on a mistake:  w += eta0 y x;    answer: (w_1 + … + w_N) / N, N examples seen

    Notes
    -----
    The sums are float64 and kept lazily: only features of mistaken rows are touched. `converged_` speaks of the raw
    weights; their mean need not separate the rows.

    References
    ----------
    Y. Freund and R. E. Schapire (1999), Large margin classification using the perceptron algorithm, section 2.
    M. Collins (2002), Discriminative training methods for hidden Markov models.

    Examples
    --------
    >>> from rosenblatt import AveragedPerceptron
    >>> AveragedPerceptron(shuffle=False, max_iter=1, tol=None, fit_intercept=False).partial_fit(
    ...     [[1.0], [2.0]], [+1, -1], classes=[-1, +1]).coef_
    array([[0.]])
    """


@dataclass(kw_only=True, eq=False, repr=False)
class VotedPerceptron(VotedPerceptronParams, LinearLearner):
    """Every weight vector that lived votes, with as many votes as it survived examples.

    Choose it over `AveragedPerceptron` for its guarantee; in practice the two agree closely, and a vote costs a dot
    product a stored row to predict. The parameters are those of `Perceptron`, without `keep`.

    Update::

        on a mistake:  w_(k+1) = w_k + eta0 y x, c_(k+1) = 1;   else c_k += 1
        predict: sign(sum_k c_k sign(w_k·x + b_k)), where sign(0) = +1

    Notes
    -----
    Leave-one-out guarantee: the expected error on a new row is at most twice the expected mistakes, divided by the
    number of rows + 1. Stored: each row that was ever mistaken, once, and the list of updates. `decision_function`
    gives the share of the votes for +1 less those for -1; with more classes each vector votes for its highest class.

    References
    ----------
    Y. Freund and R. E. Schapire (1999), Large margin classification using the perceptron algorithm, figure 1.

    Examples
    --------
    >>> from rosenblatt import VotedPerceptron
    >>> VotedPerceptron().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]).predict([[0.5], [9.0]]).tolist()
    [0, 1]
    """


@dataclass(kw_only=True, eq=False, repr=False)
class PocketPerceptron(PocketPerceptronParams, LinearLearner):
    """The weights with the fewest training mistakes seen so far, kept in the pocket.

    For data that no hyperplane separates, when training mistakes are what counts. The parameters are those of
    `Perceptron`, without `keep`.

    Update::

        w as in the perceptron; when its run of correct answers beats the pocket's run, it is checked on all rows,
        and replaces the pocket if it makes fewer mistakes (each row counted with its sample weight)

    Notes
    -----
    Given time, the pocket finds an optimal hyperplane with probability 1 (with shuffling); there is no bound on that
    time. A check costs a pass over the rows at most. A stream has no "all rows": `partial_fit` and `learn_one`
    replace the pocket by the longer run alone, as in the algorithm without ratchet.

    References
    ----------
    S. I. Gallant (1990), Perceptron-based learning algorithms, section IV.

    Examples
    --------
    >>> from rosenblatt import PocketPerceptron
    >>> X, y = [[2], [1], [-1], [-2], [3]], ["+", "+", "-", "-", "-"]  # the last label is wrong
    >>> learner = PocketPerceptron(max_iter=50).fit(X, y)
    >>> learner.stop_reason_, learner.predict(X).tolist()
    ('no_change', ['+', '+', '-', '-', '+'])
    """


@dataclass(kw_only=True, eq=False, repr=False)
class NormalizedPerceptron(NormalizedPerceptronParams, LinearLearner):
    """The perceptron with steps of ``1/‖x‖²``: long rows count no more than short ones.

    Choose it where rows differ much in length, such as documents of some words and of thousands, and cannot be scaled
    beforehand. It takes the directions of the rows: scaling a row changes no decision.

    Update::

        on a mistake, y (w·x + b) <= 0:   w += eta0 y x / q,   b += eta0 y / q,   q = ‖x‖² (+ 1 with an intercept)
        more classes: the right row gains, the highest wrong row loses, with 2q for q

    Parameters
    ----------
    eta0 : float, default=1.0
        Scales the steps. From zero weights it changes no prediction.
    keep : {"last", "average", "vote", "pocket"}, default="last"
        Which weights are the answer.
    fit_intercept, max_iter, tol, shuffle, random_state, tie, init, n_init, multiclass, class_weight, early_stopping, \
validation_fraction, n_iter_no_change, warm_start, n_jobs, verbose
        As for `Perceptron`.

    Notes
    -----
    Without an intercept it is `Perceptron` on rows of length 1 whose mistakes weigh ``1/‖x‖``. If a unit vector u has
    a margin of gamma on the rows of length 1, and no row is longer than R nor shorter than r, at most
    ``(R/r)²/gamma²`` mistakes are made.

    References
    ----------
    The fixed-increment rule; S. Agmon (1954), The relaxation method for linear inequalities, divides by ``‖x‖²`` too.

    Examples
    --------
    >>> from rosenblatt import NormalizedPerceptron
    >>> learner = NormalizedPerceptron(fit_intercept=False).partial_fit([[2.0, 0.0]], ["yes"], classes=["no", "yes"])
    >>> learner.coef_
    array([[0.5, 0. ]])
    """
