"""From files of any size to a model, as the command does it."""

from rosenblatt.training.trained import Trained, train, train_reader

__all__ = ["Trained", "train", "train_reader"]
