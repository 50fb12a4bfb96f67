"""Intended changes: the beginning of cases' names, and why they differ from what was recorded first.

After an entry is added, ``python tests/golden/grid.py --write`` records the new hashes of these cases beside the old.
"""

_ONE_ENTRY = "the examples of a stream are one entry of the history, where a vote or a penalty made one per example"
_PARAMS = "a checkpoint holds params instead of the options of all learners, and knows data by their content"
_AGES = "the pocket of a stream ages: with every 64th mistake its run counts half"
_CONVERGED = "converged is an epoch without an update, and patience counts rows as well as epochs"
_WEIGHTS = "sample and class weights count in every choice, one-vs-rest is judged by its answers, and stopping changed"
_PROBABILITIES = (
    "probabilities are those of the data, not bent to the decision, from rows all over the data, "
    "and the same on all CPUs"
)
_ROWS = "rows are counted from 1 in the tables of a trace, and its learner is written with what differs only"
_READER = "one reader for all tables: an encoder says more of its columns, and the C export is safe for every string"
_STRIPS = (
    "rows of a file are shuffled by strips, as those of an array are, and stored before the first epoch; "
    "the strips are dealt out to the windows"
)
_HASHED = "there is a parameter more, `hash_bits`"
_WARM = "a budget's warm start is one long fit"
_HELD = "penalized weights are held as they were when all were settled, and read through factors that all share"
_NUMBERS = "a model of a file has the weights of its classes as numbers, as a resumed run has them"
_ROOM = "a shuffled run makes room for all features at once, after it has stored the rows"
_ABSENT = "rows of weight 0 are as if absent, and are not counted"
_PAIRED = "only columns that need it are scaled, products are judged on the same rows, and the sentence says so"
_FACTS = "what train says and stores tells how good the model is, on which rows, and its SHA-256"

CHANGED: dict[str, str] = {
    **{
        f"classes/{name}/parameters": _HASHED
        for name in (
            "AveragedPerceptron",
            "VotedPerceptron",
            "PocketPerceptron",
            "Perceptron",
            "PassiveAggressive",
            "AROW",
        )
    },
    **{
        f"budgets/{policy}/{task}/warm": _WARM
        for policy, task in (
            ("forgetron", "two"),
            ("projectron", "two"),
            ("projectron", "joint"),
            ("forget-oldest", "ovr"),
            ("forgetron", "ovr"),
            ("projectron", "ovr"),
        )
    },
    **{f"ones/{rule}/vote": _ONE_ENTRY for rule in ("perceptron", "margin", "eta0", "PA", "PA-I", "PA-II")},
    **{f"ones/{penalty}/": f"{_ONE_ENTRY}; {_HELD}" for penalty in ("l1", "l2", "elasticnet")},
    "penalties/": _HELD,
    **{f"batches/{penalty}/": _HELD for penalty in ("l1", "l2", "elasticnet")},
    "models/l1": _HELD,
    **{f"mixtures/{rule}/vote": _ONE_ENTRY for rule in ("eta0", "PA")},
    "models/stream/vote": _ONE_ENTRY,
    "checkpoints/": f"{_PARAMS}; {_STRIPS}; {_FACTS}; {_HELD}; {_ROOM}",
    "rules/PA/vote": _CONVERGED,
    "rules/PA-I/average": _CONVERGED,
    "rules/PA-II/last": _CONVERGED,
    "rules/AROW/last": _CONVERGED,
    "rules/AROW/average": _CONVERGED,
    "ties/PA": _CONVERGED,
    "ties/PA-I": _CONVERGED,
    "ties/PA-II": _CONVERGED,
    "ties/AROW": _CONVERGED,
    "options/perceptron": _CONVERGED,
    "options/margin": _CONVERGED,
    "options/eta0": _CONVERGED,
    "options/PA-I": _CONVERGED,
    "options/PA-II": _CONVERGED,
    "options/AROW": _CONVERGED,
    "classes/AveragedPerceptron/2": _CONVERGED,
    "classes/VotedPerceptron/2": _CONVERGED,
    "classes/PocketPerceptron/2": _CONVERGED,
    "classes/Perceptron/2": _CONVERGED,
    "classes/PassiveAggressive/2": _CONVERGED,
    "classes/PassiveAggressive/3": _CONVERGED,
    "classes/AROW/2": _CONVERGED,
    "classes/AROW/3": _CONVERGED,
    "classes/PassiveAggressiveClassifier/hinge": _CONVERGED,
    "classes/PassiveAggressiveClassifier/squared_hinge": _CONVERGED,
    "batches/perceptron/pocket": _AGES,
    "batches/margin/pocket": _AGES,
    "batches/eta0/pocket": _AGES,
    "batches/PA/pocket": _AGES,
    "batches/PA-I/pocket": _AGES,
    "batches/PA-II/pocket": _AGES,
    "batches/PA/vote": _CONVERGED,
    "batches/PA-II/last": _CONVERGED,
    "batches/AROW/last": _CONVERGED,
    "batches/AROW/average": _CONVERGED,
    "ones/perceptron/pocket": _AGES,
    "ones/margin/pocket": _AGES,
    "ones/eta0/pocket": _AGES,
    "ones/PA/pocket": _AGES,
    "ones/PA-I/pocket": _AGES,
    "ones/PA-II/pocket": _AGES,
    "mixtures/perceptron/pocket": _AGES,
    "mixtures/PA-I/average": _CONVERGED,
    "mixtures/PA-II/last": _CONVERGED,
    "mixtures/AROW/last": _CONVERGED,
    "mixtures/AROW/average": _CONVERGED,
    "kernels/batches/pocket": _AGES,
    "kernels/rbf/PA": _AGES,
    "kernels/rbf/PA-II": _AGES,
    "sweeps/family": _WEIGHTS,
    "sweeps/others": f"{_WEIGHTS}; {_HELD}",
    "sweeps/weighted": f"{_WEIGHTS}; {_HELD}; chosen by held-out rows",
    "sweeps/PA-I": _WEIGHTS,
    "sweeps/PA-II": _WEIGHTS,
    "autos/": f"{_WEIGHTS}; {_PAIRED}",
    "calibrated/sigmoid": _PROBABILITIES,
    "calibrated/isotonic": _PROBABILITIES,
    "calibrated/vote": _PROBABILITIES,
    "theory/trace/perceptron": _CONVERGED,
    "theory/trace/margin": _CONVERGED,
    "theory/trace/eta0": _CONVERGED,
    "theory/trace/PA": _CONVERGED,
    "theory/trace/PA-I": _CONVERGED,
    "theory/trace/PA-II": _CONVERGED,
    "theory/ledger/margin": _CONVERGED,
    "theory/bounds/margin": _CONVERGED,
    "theory/bounds/PA-I": _CONVERGED,
    "theory/bounds/PA-II": _CONVERGED,
    "theory/bounds/AROW": _CONVERGED,
    "models/auto": _PROBABILITIES,
    "models/products": _PROBABILITIES,
    "models/stream": _AGES,
    "files/vw": f"{_READER}; {_STRIPS}; {_FACTS}; {_ABSENT}",
    "files/csv": f"{_READER}; {_STRIPS}; {_FACTS}",
    "files/tsv": f"{_READER}; {_STRIPS}; {_FACTS}",
    "files/jsonl": f"{_READER}; {_STRIPS}; {_FACTS}",
    "files/parquet": f"{_READER}; {_STRIPS}; {_FACTS}",
    "files/feather": f"{_READER}; {_STRIPS}; {_FACTS}",
    "files/documents": f"{_READER}; {_STRIPS}; {_FACTS}",
    "files/options": f"{_READER}; {_STRIPS}; {_FACTS}; {_HELD}; {_NUMBERS}",
    "files/export": f"{_READER}; {_STRIPS}; {_FACTS}",
    "theory/trace/": _ROWS,
    "files/": f"{_STRIPS}; {_FACTS}",
}
