"""What a learner leaves behind: weights that score rows. Nothing here learns."""

from rosenblatt.models.linear import Linear, feature_major, predict_codes
from rosenblatt.models.voted import Updates, Voted

__all__ = ["Linear", "Updates", "Voted", "feature_major", "predict_codes"]
