"""Learners around others as a file holds them: what calibrates, scales and multiplies, beside the learner inside.

Invariant: as for learners, what is loaded goes on with the bits of what was saved.
"""

from __future__ import annotations

from typing import Any

from rosenblatt.errors import ModelError
from rosenblatt.learners.serialization import around, inside, learner_from_tensors, learner_to_tensors, prepared
from rosenblatt.learners.targets import weight_rows
from rosenblatt.models.container import Tensors, check_finite, check_shapes, check_types
from rosenblatt.models.kept import SavedState
from rosenblatt.models.model import Model
from rosenblatt.models.predictors import Products, count_terms
from rosenblatt.params import values_from_json, values_to_json
from rosenblatt.select.calibration import Calibration, HeldOutScores, VoteShares
from rosenblatt.select.scaling import Scaling


def keep_calibrated(calibrated: Any) -> SavedState | None:
    """A `Calibrated`: its learner, and the latest scores that its curves are fitted on."""
    within = learner_to_tensors(calibrated.learner_)
    if within is None:
        return None
    tensors: Tensors = {}
    told = {name: value for name, value in calibrated.get_params(deep=False).items() if name != "learner"}
    header: dict[str, Any] = {"around": "Calibrated", "parameters": values_to_json(told, tensors)}
    header["calibration"] = _calibration_to(calibrated._answering.calibration, tensors)
    return around(header, tensors, within)


def keep_auto(auto: Any) -> SavedState | None:
    """An `AutoPerceptron`: its learner, what is done to the columns, and what it says of its choice."""
    within = learner_to_tensors(auto.best_)
    if within is None:
        return None
    tensors: Tensors = {}
    header = {
        "around": "AutoPerceptron",
        "parameters": values_to_json(auto.get_params(deep=False), tensors),
        "choice": auto.choice_,
        "scores": auto.scores_,
        "calibration": _calibration_to(auto._answering.calibration, tensors),
    }
    scaling = auto.scaling_
    how = None if scaling is None else (scaling.kind, scaling.center, scaling.scale)
    return prepared(header, tensors, within, how, auto.products_)


def revive(model: Model) -> Any:
    """The learner that goes on from a model, checked."""
    kept = model.kept() if callable(model.kept) else model.kept
    if kept is None:
        raise ModelError("the model holds what it answers with, but no learning state: save it with state=True")
    try:
        kind = kept.header.get("around")
        if kind is None:
            names = {} if model.encoder is not None else model.names
            return learner_from_tensors(kept, model.classes, model.features, names)
        if kind == "Calibrated":
            return _calibrated_from(kept, model)
        if kind == "AutoPerceptron":
            return _auto_from(kept, model)
        raise ModelError(f"it was learned by {str(kind)[:40]!r}, which is not a learner of rosenblatt")
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError) as error:
        if isinstance(error, ModelError):
            raise
        why = (str(error).splitlines() or ["it cannot be read"])[0][:200]
        raise ModelError(f"the learning state is not sound: {why}") from None
    except MemoryError:
        raise ModelError("the learning state needs more memory than there is") from None


def _calibrated_from(kept: SavedState, model: Model) -> Any:
    from rosenblatt.select.calibrated import Calibrated
    from rosenblatt.select.probable import Answering

    inner = learner_from_tensors(inside(kept), model.classes, model.features, model.names)
    like = type(inner)(**inner.get_params(deep=False))
    calibrated = Calibrated(like, **values_from_json(kept.header["parameters"], kept.tensors))
    calibrated._check()
    reading = inner.learned.reading()
    calibration: Calibration | VoteShares | None = _calibration_from(kept, model)
    if calibration is None:  # class weights that took all rows to know are in the curves of the file
        calibration = calibrated._vote_shares(reading) if model.calibrator is None else VoteShares(model.calibrator)
    calibrated.learner_, calibrated.classes_ = inner, model.classes
    calibrated._answering = Answering(reading, calibration)
    return calibrated


def _auto_from(kept: SavedState, model: Model) -> Any:
    from rosenblatt.select.auto import AutoPerceptron
    from rosenblatt.select.probable import Answering

    header, features = kept.header, model.features
    auto = AutoPerceptron(**values_from_json(header["parameters"], kept.tensors))
    auto.scaling_ = _scaling_from(header["scaling"], kept.tensors, features)
    auto.products_, seen = None, features
    if "products.columns" in kept.tensors:
        auto.products_ = Products.from_tensors("products.", kept.tensors, features)
        seen = count_terms(len(auto.products_.columns))
    auto.best_ = learner_from_tensors(inside(kept), model.classes, seen, {})
    auto.classes_, auto.n_iter_ = model.classes, auto.best_.n_iter_
    auto.choice_, auto.scores_ = str(header["choice"]), {str(name): float(s) for name, s in header["scores"].items()}
    _remember(auto, model)
    auto._answering = Answering(auto._read(), _calibration_from(kept, model))
    return auto


def _remember(learner: Any, model: Model) -> None:
    learner.n_features_in_ = model.features
    learner.encoder_ = model.encoder
    if model.encoder is None and hasattr(model, "feature_names_in_"):
        learner.feature_names_in_ = model.feature_names_in_


def _calibration_to(calibration: Calibration | VoteShares | None, tensors: Tensors) -> str | None:
    if not isinstance(calibration, Calibration):
        return None
    judged = calibration.scores
    tensors |= {"judged.scores": judged.scores, "judged.codes": judged.codes}
    if judged.weights is not None:
        tensors["judged.weights"] = judged.weights
    return calibration.method


def _calibration_from(kept: SavedState, model: Model) -> Calibration | None:
    kind, tensors = kept.header["calibration"], kept.tensors
    if kind is None:
        return None
    if kind not in ("auto", "sigmoid", "isotonic"):
        raise ModelError("its probabilities cannot be read")
    scores, codes, weights = tensors["judged.scores"], tensors["judged.codes"], tensors.get("judged.weights")
    check_types([scores, codes], ["<f8", "<i4"])
    check_shapes(codes.ndim == 1 and scores.shape == (len(codes), weight_rows(len(model.classes))))
    check_finite(scores)
    if len(codes) and (codes.min() < 0 or codes.max() >= len(model.classes)):
        raise ModelError("its probabilities do not fit its classes")
    if weights is not None:
        check_types([weights], ["<f8"])
        check_shapes(weights.shape == codes.shape)
        check_finite(weights)
        if len(weights) and weights.min() < 0:
            raise ModelError("its probabilities cannot be read")
    calibration = Calibration(kind, HeldOutScores(scores, codes, weights), len(model.classes))
    if model.calibrator is not None:
        vars(calibration)["calibrator"] = model.calibrator  # as it was saved, to the bit
    return calibration


def _scaling_from(kind: Any, tensors: Tensors, features: int) -> Scaling | None:
    if kind is None:
        return None
    center, scale = tensors["scaling.center"], tensors["scaling.scale"]
    check_types([center, scale], ["<f8", "<f8"])
    check_shapes(center.shape == scale.shape == (features,))
    check_finite(center, scale)
    if kind not in ("standard", "mean-abs") or not (scale > 0).all():
        raise ModelError("its columns cannot be scaled")
    return Scaling(kind, center, scale)
