"""Which columns an estimator has seen, as scikit-learn remembers them: `n_features_in_` and `feature_names_in_`.

Invariant: what is remembered, said and warned is scikit-learn's. An array has no names, so looking for them, which
takes longer than learning a hundred rows, is left out. scikit-learn is loaded where it is asked.
"""

from __future__ import annotations

from typing import Any

import numpy as np


def remember_columns(estimator: Any, X: Any) -> None:
    """These are the columns from now on."""
    if type(X) is np.ndarray and not hasattr(estimator, "feature_names_in_"):
        estimator.n_features_in_ = X.shape[1]
    else:
        from sklearn.utils.validation import validate_data

        validate_data(estimator, X, skip_check_array=True, reset=True)


def check_columns(estimator: Any, X: Any) -> None:
    """Raise or warn if these are other columns."""
    nameless = type(X) is np.ndarray and not hasattr(estimator, "feature_names_in_")
    if not nameless or X.shape[1] != estimator.n_features_in_:
        from sklearn.utils.validation import validate_data

        validate_data(estimator, X, skip_check_array=True, reset=False)
