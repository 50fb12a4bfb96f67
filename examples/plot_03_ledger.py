"""
The convergence proof, with the numbers of a run
================================================

Each mistake adds at least the margin to the product with the best weights, and makes the weights longer by at most the
longest row. The two curves meet at the bound. Margins count the offset as a weight here: they are below the distances.
"""

from rosenblatt import plot
from rosenblatt.datasets import load_gate
from rosenblatt.theory import ledger

X, y = load_gate("and")
book = ledger(X, y)
print(book.render_table(6))
print(book.verdict())
picture = plot.ledger(book)
picture.savefig("ledger.png")
print("wrote ledger.png")
