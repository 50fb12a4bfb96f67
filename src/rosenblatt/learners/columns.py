"""The columns of a table that a learner remembers, as scikit-learn does."""

from __future__ import annotations

from typing import Any

import numpy as np


def remember_columns(estimator: Any, X: Any) -> None:
    """These are the columns from now on, remembered as scikit-learn does: `n_features_in_`, `feature_names_in_`."""
    if type(X) is np.ndarray and not hasattr(estimator, "feature_names_in_"):
        estimator.n_features_in_ = X.shape[1]  # an array has no names, and looking for them takes its time
    else:
        from sklearn.utils.validation import validate_data

        validate_data(estimator, X, skip_check_array=True, reset=True)


def check_columns(estimator: Any, X: Any) -> None:
    """Raise or warn, in scikit-learn's words, if these are other columns."""
    nameless = type(X) is np.ndarray and not hasattr(estimator, "feature_names_in_")
    if not nameless or X.shape[1] != estimator.n_features_in_:
        from sklearn.utils.validation import validate_data

        validate_data(estimator, X, skip_check_array=True, reset=False)
