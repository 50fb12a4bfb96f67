"""Every function of the engine, called with hostile arguments: wrong sizes, strides, types, ranges, and objects that
change under its hands.

Held: the process lives, and what is wrong is a Python exception. The arrays lie against pages that may not be touched,
so that one value read or written too far ends the process.
"""

from __future__ import annotations

import contextlib
import ctypes
import inspect
import mmap
import random
from collections.abc import Callable
from typing import Any

import numpy as np

from rosenblatt import engine
from rosenblatt.learners.weights import EVERY, OF_KEEP, OF_PENALTY, OF_SECOND_ORDER

PAGE = mmap.PAGESIZE
REFUSALS = (TypeError, ValueError, RuntimeError, MemoryError, OverflowError, KeyError, AttributeError)
WHOLE = [-1, 0, 1, 2, 3, 7, 2**16, 2**31 - 1, 2**31, 2**32, 2**40, 2**62, 2**63 - 1, -(2**63), 2**64, 2**70]
NUMBERS = [0.0, -0.0, 1.0, -1.0, 1e308, -1e308, 1e-320, float("nan"), float("inf"), float("-inf")]
TYPES = ["f4", "f8", "i1", "i4", "i8", "u1", "u4", "u8", "c8", "?", ">f8", ">i4"]
NAMES = ["last", "average", "tail", "vote", "pocket", "PA", "PA-I", "PA-II", "perceptron", "margin", "AROW", "linear"]
NAMES += ["rbf", "poly", "sigmoid", "svmlight", "vw", "fasttext", "tabbed", "words", "pairs", "characters", ",", "\\"]
NAMES += ["forget-oldest", "forgetron", "projectron", "", "x", "\0", "é", "a" * 1000, "\n", '"']
_libc = ctypes.CDLL(None, use_errno=True)


def guarded(array: Any, *, at_end: bool = True) -> Any:
    """A copy that ends (or begins) where a page that may not be touched begins (or ends)."""
    array = np.ascontiguousarray(array)
    pages = max(1, -(-array.nbytes // PAGE))
    held = mmap.mmap(-1, (pages + 2) * PAGE)
    view = np.frombuffer(held, np.uint8)
    for page in (0, pages + 1):
        _libc.mprotect(ctypes.c_void_p(view.ctypes.data + page * PAGE), PAGE, 0)
    begin = (pages + 1) * PAGE - array.nbytes if at_end else PAGE
    made = view[begin : begin + array.nbytes].view(array.dtype).reshape(array.shape)
    made[...] = array
    return made


class Evil:
    """A number, a name or a label that does something else when it is looked at."""

    def __init__(self, act: Callable[[], Any], hash_: int = 7) -> None:
        self.act, self.hash = act, hash_

    def __float__(self) -> float:
        self.act()
        return 1.0

    def __index__(self) -> int:
        self.act()
        return 1

    def __hash__(self) -> int:
        self.act()
        return self.hash

    def __eq__(self, other: object) -> bool:
        self.act()
        return False


class Chooser:
    """Makes arguments: sound ones, and with a certain chance hostile ones."""

    def __init__(self, random_: random.Random) -> None:
        self.random = random_
        self.chance = random_.choice((0.0, 0.02, 0.05, 0.1, 0.3))
        # What all parts of a sound call have in common.
        self.task = random_.choice(("signs", "signs", "classes", "numbers"))
        self.K = 3 if self.task == "classes" else 1
        self.kind = random_.choice(("f8", "f8", "f8", "f4"))
        self.is_sparse = random_.random() < 0.5

    def strange(self) -> bool:
        return self.random.random() < self.chance

    def array(self, values: Any, dtype: str | None = None) -> Any:
        array = np.array(values, dtype)
        if not self.strange():
            return guarded(array, at_end=self.random.random() < 0.8)
        kind, size = self.random.randrange(12), array.size
        if kind == 0:
            array = np.resize(array, self.random.choice((0, 1, max(size - 1, 0), size + 1, 2 * size, 100)))
        elif kind == 1:
            array = guarded(np.repeat(array, 2, axis=0)) if array.ndim else array
            return array[::2] if array.ndim else array
        elif kind == 2:
            return guarded(array)[::-1] if array.ndim else array
        elif kind == 3:
            array = array.astype(self.random.choice(TYPES))
        elif kind == 4:
            array = guarded(array)
            array.flags.writeable = False
            return array
        elif kind == 5 and size and array.dtype.kind in "fiu":
            limit = np.iinfo(array.dtype) if array.dtype.kind in "iu" else None
            whole = [limit.min, limit.max, 0, 1, 2, 3, 5] if limit else NUMBERS
            array.reshape(-1)[self.random.randrange(size)] = self.random.choice(whole)
        elif kind == 6:
            held = guarded(np.zeros(array.nbytes + 1, np.uint8))
            odd = held[1:].view(array.dtype).reshape(array.shape)
            odd[...] = array
            return odd
        elif kind == 7:
            return guarded(array.reshape((*array.shape, 1)))
        elif kind == 8:
            return self.random.choice([None, [], array.tolist(), "x", b"xyz", 3, object(), memoryview(b"abc"), {}])
        elif kind == 9:
            return np.broadcast_to(array.reshape(-1)[:1], (max(size, 1) * 3,)) if size else array
        elif kind == 10:
            return np.asfortranarray(np.resize(array, (3, 4)))
        else:
            array = np.resize(array, (0, *array.shape[1:]) if self.random.random() < 0.5 else (2**20,))
        return guarded(array)

    def whole(self, value: int) -> Any:
        return self.random.choice([*WHOLE, None, "1", 1.5]) if self.strange() else value

    def number(self, value: float) -> Any:
        return self.random.choice([*NUMBERS, None, "1"]) if self.strange() else value

    def word(self, *values: str) -> Any:
        return self.random.choice([*NAMES, None, 1]) if self.strange() else self.random.choice(values)

    def flag(self) -> Any:
        return self.random.choice([None, 2, "x"]) if self.strange() else self.random.random() < 0.5

    def any(self, make: Callable[[], Any]) -> Any:
        return self.random.choice([None, 3, "x", [], object()]) if self.strange() else make()

    def maybe(self, make: Callable[[], Any]) -> Any:
        return make() if self.random.random() < 0.5 else None

    # What most calls are made of: 3 rows of 2 features, 2 or 3 classes.
    def sparse(self) -> Any:
        values = self.array([1.0, 2.0, 3.0, 4.0], self.kind)
        return engine.sparse_rows(values, self.array([0, 1, 0, 1], "i4"), self.array([0, 2, 3, 4], "i8"), self.whole(2))

    def dense(self) -> Any:
        return engine.dense_rows(self.array([[1.0, 2.0], [3.0, -1.0], [0.0, 1.0]], self.kind))

    def rows(self) -> Any:
        return self.any(self.sparse if self.is_sparse != self.strange() else self.dense)

    def order(self) -> Any:
        return self.array(self.random.choice(([0, 1, 2], [2, 2, 0, 1], [])), "u4")

    def generator(self) -> Any:
        return self.array([1, 2, 3, 4], "u8")

    def targets(self) -> Any:
        y = {"signs": ([1, -1, 1], "i1"), "classes": ([0, 2, 1], "i4"), "numbers": ([0.5, 1, 2], "f8")}[self.task]
        rows = self.whole(self.K)
        weights = self.maybe(lambda: self.array([1.0, 0.0, 2.0]))
        return engine.Targets(
            self.array(*y), rows=rows, sample_weight=weights, tie_positive=self.flag(), epsilon=self.number(0.1)
        )

    def rule(self) -> Any:
        shrink = {"shrink": self.number(0.9), "cut": self.number(0.1)} if self.random.random() < 0.2 else {}
        return self.plain_rule(**shrink)

    def plain_rule(self, **more: Any) -> Any:
        """One without a penalty, which not all learners take."""
        names = ("perceptron", "perceptron", "PA", "PA-I", "PA-II", "AROW", "normalized")
        more |= {name: self.number(1.0) for name in ("eta0", "beta", "C", "r") if self.random.random() < 0.3}
        return engine.Rule(self.word(*names), **more)

    def arrays(self, K: int, features: int, kind: str) -> dict[Any, Any]:
        of_keeps = (array for arrays in OF_KEEP.values() for array in arrays)
        declared = [*EVERY, *OF_SECOND_ORDER, *OF_PENALTY["average"], *of_keeps]
        made: dict[Any, Any] = {
            array.name: self.array(
                np.minimum(array.new({"K": K, "features": features}, "f8"), 9.0).ravel(),
                kind if array.dtype == "rows" else "f8",
            )
            for array in declared
        }
        made["counters"] = self.array(np.zeros(len(engine.COUNTERS)), "i8")
        for name in list(made):
            if self.strange() and self.random.random() < 0.3:
                del made[name]
        return made

    def state(self, features: int = 2) -> Any:
        keep = self.word("last", "average", "tail", "vote", "pocket")
        arrays = self.arrays(self.K, features, self.kind)
        return engine.State(keep, arrays, fit_intercept=self.flag())

    def source(self) -> Any:
        kind = self.random.randrange(4)
        if kind == 0:
            return engine.matrix_source(self.array(np.eye(3)))
        if kind == 1:
            column = self.array([1.0, 0.5, 0.2])
            return engine.column_source(self.whole(3), lambda i: column, self.whole(1000))
        rows = self.rows()
        others = self.maybe(self.rows) if kind == 2 else rows
        name = self.word("linear", "poly", "rbf", "sigmoid")
        how = {"gamma": self.number(1.0), "coef0": self.number(0.0), "degree": self.whole(2)}
        return engine.row_source(rows, others, name, **how)

    def updates(self) -> Any:
        made = (self.array([0, 2], "i8"), self.array([1.0, 1.0]), self.array([0, 0], "i4"))
        made += (self.array([-1, -1], "i4"), self.array([1, 2], "i8"))
        return made[:4] if self.strange() else made

    def tally(self) -> Any:
        made = {"counters": self.array(np.zeros(len(engine.COUNTERS)), "i8"), "mistake_weight": self.array([0.0])}
        if self.random.random() < 0.3:
            made["pocket_mistakes"] = self.array([3.0])
        return made

    def cancel(self) -> Any:
        return self.maybe(lambda: self.array([0], "u1"))

    def text(self) -> Any:
        made = self.random.choice(
            (b"1 1:2 3:4\n-1 2:1\n", b"1 |a x y:2\n", b"__label__a b c\n", b"a\tb c\n", b'a,"b\n', b"")
        )
        made = bytes(self.random.choice((b, 10, 34, 58, 255, 0)) if self.strange() else b for b in made)
        return self.array(np.frombuffer(made, np.uint8), "u1")

    def offsets(self) -> Any:
        return self.array(self.random.choice(([0, 0], [0, 1, 2], [0])), "i8")


def _pass(c: Chooser) -> Any:
    return engine.Pass(c.rows(), c.any(c.targets), c.any(c.state), c.any(c.rule), ratchet=c.flag())


def _dual(c: Chooser) -> Any:
    start = c.array(np.zeros((3, c.K)))
    return engine.DualRun(c.any(c.source), c.any(c.targets), bias=c.number(1.0), start=start)


def _features(c: Chooser, other: dict[Any, Any], *streams: Any) -> Any:
    """A dict of an example; some of its names and numbers change it, or call the stream, while it is read."""
    made: dict[Any, Any] = {"a": 1.0, "b": 2, "c": np.float64(0.5)}

    def act() -> None:
        if c.random.random() < 0.5:
            made.clear()
            made.update({k: [object()] for k in range(50)})
        if c.random.random() < 0.3:
            other.clear()
        for stream in streams if c.random.random() < 0.3 else ():
            with contextlib.suppress(REFUSALS):
                stream.predict({"a": 1.0, "z": 2.0})
                stream.learn({"a": 1.0, "z": 2.0}, "yes")

    if c.strange():
        made["evil"] = Evil(act)
        made["more"] = 3.0
    if c.strange():
        name = Evil(lambda: None, hash("a"))
        made[name] = 1.0
        name.act = act
    if c.strange():
        made["n"] = c.random.choice([None, "x", 10**400, float("nan"), 1e308, object(), [], b"1"])
    return c.any(lambda: made)


def _stream(c: Chooser) -> tuple[Any, dict[Any, Any]]:
    names: dict[Any, Any] = {"a": c.whole(0)} if c.random.random() < 0.5 else {}
    labels = ["no", "so", "yes"] if c.K == 3 else ["no", "yes"]
    ovr = c.K == 3 and c.flag()
    arrays = [c.arrays(1 if ovr else c.K, 6, "f8") for _ in range(3 if ovr else 1)]
    made = engine.Stream(
        arrays,
        names,
        labels,
        c.any(c.plain_rule),
        keep=c.word("last", "average", "tail"),
        fit_intercept=c.flag(),
        tie_positive=c.flag(),
        hash_bits=c.whole(0),
    )
    return made, names


def _closed(c: Chooser) -> Any:
    stream, held = _stream(c)
    stream.learn(_features(c, held, stream), "yes")
    if c.flag():
        stream.close()
    stream.learn(_features(c, held, stream), "no")
    return stream.seen, stream.features, stream.names, stream.counts, stream.snapshot()


def _learn_one(c: Chooser) -> None:
    stream, held = _stream(c)
    for _ in range(6):
        label = Evil(held.clear, hash("yes")) if c.strange() else c.random.choice(("yes", "no", "new"))
        try:
            stream.learn(_features(c, held, stream), label, c.number(1.0))
            if c.strange():
                held.update({k: k for k in range(20)})
            stream.predict(_features(c, held, stream))
            stream.scores(_features(c, held, stream))
        except REFUSALS:
            continue


def _learn_new(c: Chooser) -> Any:
    stream, held = _stream(c)
    for _ in range(3):
        label = Evil(held.clear, hash("new")) if c.strange() else c.random.choice(("new", "newer", "yes"))
        with contextlib.suppress(REFUSALS):
            stream.learn_new(_features(c, held, stream), label, c.number(1.0), c.whole(c.random.randrange(5)))
        with contextlib.suppress(REFUSALS):
            stream.predict(_features(c, held, stream))
    return stream.snapshot()


def _learn_many(c: Chooser) -> Any:
    stream, held = _stream(c)
    many = [_features(c, held, stream) for _ in range(4)]
    labels = [Evil(held.clear, hash("yes")) if c.strange() else c.random.choice(("yes", "no", "new")) for _ in many]
    stream.learn_many(many, labels, c.whole(0), c.maybe(lambda: [c.number(1.0) for _ in many]))
    return stream.predict_many(many)


def _run_passes(c: Chooser) -> Any:
    passes = [_pass(c)]
    engine.run_passes(c.any(lambda: passes * c.random.choice((1, 1, 2))), c.cancel())
    return passes[0].updates()


def _budget(c: Chooser) -> Any:
    policy = c.word("forget-oldest", "forgetron", "projectron")
    arrays = c.tally() | {"members": c.array([0, 1], "i8"), "coefficients": c.array(np.zeros(2 * c.K))}
    arrays |= {
        "matrix": c.array([] if policy == "forget-oldest" else np.eye(2).ravel()),
        "ring": c.array([c.random.randrange(3), 0], "i8"),
        "numbers": c.array(np.zeros(4)),
    }
    how = {"order": c.maybe(c.order), "bias": c.number(1.0), "cancel": c.cancel()}
    targets, rule = c.any(c.targets), c.any(c.plain_rule)
    return engine.learn_on_budget(c.any(c.source), targets, c.any(lambda: arrays), rule, policy=policy, **how)


def _multiply(c: Chooser) -> Any:
    index = c.maybe(c.order)
    count = 3 if index is None or not hasattr(index, "size") else index.size
    terms = c.array(np.zeros((count, 5)), "f4")
    numbers = c.array([0.0, 0.0]), c.array([1.0, 1.0])
    return engine.multiply_columns(
        c.rows(), index, c.array([0, 1], "i8"), *numbers, c.number(3.0), c.number(1.0), terms
    )


def _walk(c: Chooser) -> Any:
    how = {"K": c.whole(c.K), "bias": c.number(1.0), "votes": c.flag()}
    return engine.kernel_walk(c.any(c.source), c.updates(), c.array([0, 1, 2], "i8"), c.array([1, 1], "i8"), **how)


def _dual_learn(c: Chooser) -> Any:
    run = _dual(c)
    run.learn(c.any(c.tally), c.any(c.plain_rule), order=c.maybe(c.order), ratchet=c.flag(), cancel=c.cancel())
    return run.updates(), run.is_finite(), run.pocket


def _scores(c: Chooser) -> Any:
    """Also with sizes whose product is more than 2^64, which is 0 again."""
    K = c.random.choice((1, 3, 4))
    size = 0 if c.strange() else 2 * K
    return engine.scores(c.rows(), c.array(np.zeros(size), c.kind), c.array(np.zeros(K)), c.maybe(c.order))


def _bits(c: Chooser) -> Any:
    return c.random.choice((-1, 0, 1, 4, 31, 40)) if c.strange() else 4


def _format(c: Chooser) -> Any:
    return c.word("svmlight", "vw", "fasttext", "tabbed", "strings")


def _hashing(c: Chooser) -> dict[str, Any]:
    grams = c.word("words", "pairs", "characters")
    return {"bits": _bits(c), "grams": grams, "seed": c.whole(0), "offsets": c.maybe(c.offsets)}


CALLS: dict[str, Callable[[Chooser], Any]] = {
    "cpu_has_avx2": lambda c: engine._module.cpu_has_avx2(),
    "seed_generator": lambda c: engine.seed_generator(c.whole(0), c.whole(0)),
    "draw_order": lambda c: engine.draw_order(c.order(), c.generator(), c.maybe(c.order), c.whole(2)),
    "symmetric_uniform": lambda c: engine.symmetric_uniform(c.whole(3), c.generator()),
    "Rows": lambda c: c.rows().features,
    "Rows.sorted": lambda c: c.rows().sorted,
    "Rows.count": lambda c: c.rows().count,
    "Rows.features": lambda c: c.rows().features,
    "Rows.sparse": lambda c: c.rows().sparse,
    "Rows.float32": lambda c: c.rows().float32,
    "dense_rows": lambda c: c.dense(),
    "sparse_rows": lambda c: c.sparse(),
    "describe_columns": lambda c: engine.describe_columns(c.rows()),
    "multiply_columns": _multiply,
    "Rule": lambda c: c.rule(),
    "Targets": lambda c: c.targets(),
    "State": lambda c: c.state(),
    "settle": lambda c: engine.settle(c.any(c.state), c.any(c.rule)),
    "Pass": _pass,
    "Pass.updates": lambda c: _pass(c).updates(),
    "Pass.set_order": lambda c: _pass(c).set_order(c.maybe(c.order)),
    "run_passes": _run_passes,
    "scores": _scores,
    "thread_limit": lambda c: engine.thread_limit(),
    "largest_size": lambda c: engine.largest_size(c.rows()),
    "log": lambda c: engine.log(c.array([1.0, 2.0])),
    "sigmoid": lambda c: engine.sigmoid(c.array([1.0, -2.0])),
    "softplus": lambda c: engine.softplus(c.array([1.0, -2.0])),
    "Stream": _stream,
    "Stream.learn": _learn_one,
    "Stream.learn_new": _learn_new,
    "Stream.predict": _learn_one,
    "Stream.snapshot": _closed,
    "Stream.learn_many": _learn_many,
    "Stream.predict_many": _learn_many,
    "Stream.scores": _learn_one,
    "Stream.close": _closed,
    "Stream.seen": _closed,
    "Stream.features": _closed,
    "Stream.names": _closed,
    "Stream.counts": _closed,
    "Stream.check": lambda c: engine.Stream.check(_features(c, {})),
    "Stream.hashed": lambda c: engine.Stream.hashed(_features(c, {}), _bits(c)),
    "KernelSource": lambda c: c.source(),
    "row_source": lambda c: c.source(),
    "matrix_source": lambda c: c.source(),
    "column_source": lambda c: c.source(),
    "kernel_walk": _walk,
    "DualRun": _dual,
    "DualRun.learn": _dual_learn,
    "DualRun.updates": _dual_learn,
    "DualRun.is_finite": _dual_learn,
    "DualRun.pocket": _dual_learn,
    "learn_on_budget": _budget,
    "parse": lambda c: engine.parse(
        c.text(), _format(c), require_label=c.flag(), **_hashing(c),
        named=c.maybe(lambda: c.array(np.zeros(16), "u1"))),
    "split_records": lambda c: engine.split_records(
        c.text(), delimiter=c.word(",", ";"), escape=c.word("", "\\"), last=c.flag(), hopeless=c.flag()),
    "hash_strings": lambda c: engine.hash_strings(c.text(), c.offsets(), seed=c.whole(0), bits=_bits(c)),
}  # fmt: skip


def functions() -> set[str]:
    """The names of all functions, classes and methods that the engine gives out."""
    found = set()
    for name, value in vars(engine._module).items():
        if name.startswith("_") or not callable(value):
            continue
        found.add(name)
        if inspect.isclass(value):
            found |= {f"{name}.{each}" for each in vars(value) if not each.startswith("_")}
    return found


def call(random_: random.Random) -> str:
    """One call; its arguments, and whether it raised."""
    name = random_.choice(sorted(CALLS))
    try:
        CALLS[name](Chooser(random_))
    except REFUSALS:
        return "rejected"
    return "fine"
