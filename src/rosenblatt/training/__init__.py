"""From files of any size to a model, as the command does it."""

from rosenblatt.training.train import Trained, train, train_dataset

__all__ = ["Trained", "train", "train_dataset"]
