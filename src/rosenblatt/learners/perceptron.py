"""The perceptron by its keeps, and with steps that do not depend on the length of the row.

Invariant: this file does not learn. A class joins params to the linear learner, and documents them.
"""

from __future__ import annotations

from rosenblatt import params
from rosenblatt.learners.base import ClassifierMixin, LinearLearner, learner


@learner
class Perceptron(params.PerceptronParams, ClassifierMixin, LinearLearner):
    """Rosenblatt's perceptron: correct the weights on every mistake.

    The first thing to try on data that a hyperplane may separate. With ``tol=None`` and a large enough `max_iter` it
    finds one if there is one; the default stops sooner if the mistakes no longer fall, so read `converged_`. If none
    separates the data, the last weights depend on the last rows; use `AveragedPerceptron` then.

    Update::

        on a mistake, y (w·x + b) <= 0:   w += eta0 y x,   b += eta0 y

    Notes
    -----
    Guarantee: from zero weights, if a unit vector u separates the rows (extended by a constant 1 with an intercept)
    with margin gamma, and no row is longer than R, at most ``(R/gamma)²`` mistakes are made, in any order, over any
    number of epochs. A row costs one dot product, and one addition on a mistake.

    References
    ----------
    F. Rosenblatt (1958), The perceptron. A. B. J. Novikoff (1962), On convergence proofs on perceptrons.

    Examples
    --------
    >>> from rosenblatt import Perceptron
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "no", "no", "yes"]
    >>> learner = Perceptron().fit(X, y)
    >>> learner.converged_, learner.predict([[1, 1], [0, 1]]).tolist()
    (True, ['yes', 'no'])
    """


@learner
class AveragedPerceptron(params.AveragedPerceptronParams, ClassifierMixin, LinearLearner):
    """The mean of all weight vectors: the perceptron to use when data overlap.

    It learns exactly as `Perceptron` does and predicts with the mean of the weights after each example, which
    reduces the influence of the last rows. Prediction costs the same as with one weight vector.

    Update::

        on a mistake:  w += eta0 y x;    predict with (w_1 + … + w_N) / N, N examples seen

    Notes
    -----
    The sums are float64 and updated lazily: only features of mistaken rows are touched. `converged_` refers to the raw
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


@learner
class VotedPerceptron(params.VotedPerceptronParams, ClassifierMixin, LinearLearner):
    """A vote of all weight vectors of the run, each weighted by the number of examples it survived.

    Choose it over `AveragedPerceptron` for its guarantee; in practice the two agree closely, and a prediction costs
    one dot product per stored row.

    Update::

        on a mistake:  w_(k+1) = w_k + eta0 y x, c_(k+1) = 1;   else c_k += 1
        predict: sign(sum_k c_k sign(w_k·x + b_k)), where sign(0) = +1

    Notes
    -----
    Leave-one-out guarantee, for one epoch (``max_iter=1``) over n rows drawn independently: the expected error on a new
    row is at most ``2 M / (n + 1)``, M being the expected mistakes in one epoch over n + 1 rows. Stored: each row that
    was ever mistaken, once, and the list of updates. `decision_function` returns the share of the votes for +1 minus
    the share for -1; with more classes each vector votes for its highest class.

    References
    ----------
    Y. Freund and R. E. Schapire (1999), Large margin classification using the perceptron algorithm, figure 1.

    Examples
    --------
    >>> from rosenblatt import VotedPerceptron
    >>> VotedPerceptron().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]).predict([[0.5], [9.0]]).tolist()
    [0, 1]
    """


@learner
class PocketPerceptron(params.PocketPerceptronParams, ClassifierMixin, LinearLearner):
    """The pocket algorithm: predict with the best weights that it checked on the training rows.

    The perceptron's last weights jump with every mistake, so on data that no hyperplane separates they can be bad by
    chance. The pocket keeps the best weights of the run that it checked. Choose it if the answer must be one weight
    vector of the run with few training mistakes; `AveragedPerceptron` is usually more accurate on new rows.

    Update::

        w changes as in Perceptron; its run: consecutive rows that it gets right
        if the run of w is longer than the run of the pocket:
            count the mistakes of w on all training rows, by sample weight
            pocket = w   if w makes fewer mistakes than the pocket

    Notes
    -----
    With shuffling and enough epochs, the pocket finds weights with the fewest possible training mistakes with
    probability 1; there is no bound on the number of epochs. Counting mistakes costs at most one pass over the rows.
    In a stream (`partial_fit`, `learn_one`) there is no set of all rows to count on: weights with a longer run than
    the pocket's replace it. `mistakes_` counts the mistakes of w on arrival, not the pocket's.

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


@learner
class NormalizedPerceptron(params.NormalizedPerceptronParams, ClassifierMixin, LinearLearner):
    """The perceptron with steps of ``1/‖x‖²``: long rows count no more than short ones.

    Choose it if rows differ much in length, such as documents of a few words and of thousands, and you cannot scale
    them first. It uses the directions of the rows: scaling a row changes no decision.

    Update::

        on a mistake, y (w·x + b) <= 0:   w += eta0 y x / q,   b += eta0 y / q,   q = ‖x‖² (+ 1 with an intercept)
        more classes: the right row gains, the highest wrong row loses, with 2q for q

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
