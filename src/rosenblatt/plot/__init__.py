"""Pictures of learning (extra: plot). Each function returns the matplotlib figure."""

from rosenblatt.plot.animation import animate
from rosenblatt.plot.boundary import boundary
from rosenblatt.plot.curves import learning_curves, ledger, mistakes

__all__ = ["animate", "boundary", "learning_curves", "ledger", "mistakes"]
