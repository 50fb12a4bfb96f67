"""How often a model is right, how well it knows, how far it is off: figures over rows that come batch after batch.

Invariant: a row counts with its weight in every figure. Memory does not grow with the square of the classes.
"""

from rosenblatt.evaluation.distances import Distances, measure_batches
from rosenblatt.evaluation.figures import Evaluation, interval_of
from rosenblatt.evaluation.sums import Sums, evaluate_batches

__all__ = ["Distances", "Evaluation", "Sums", "evaluate_batches", "interval_of", "measure_batches"]
