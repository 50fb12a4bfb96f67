"""Options that several verbs share, and the types that mark which files a verb reads and writes.

Invariant: no verb overwrites a file that it reads; `Verb` checks this for every `InputFile` and `OutputFile` before
the verb runs. The options of learners are generated from the fields of their parameters.
"""

from __future__ import annotations

import functools
import inspect
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any

import click

from rosenblatt.errors import MissingExtraError, ParameterError
from rosenblatt.params import FAMILY, Params, parameters_of
from rosenblatt.params import make_params as params_by_name

# Repeated from rosenblatt.io, which takes too long to load for --help; tests/system/cli/test_main.py compares them.
FORMATS = ("svmlight", "vw", "fasttext", "tabbed", "csv", "tsv", "jsonl", "json", "parquet", "feather", "npy")
GRAMS = ("words", "pairs", "characters")
BITS = 20
CLUSTER = "More than one machine or core"
COUNT = click.IntRange(1)
PORT = click.IntRange(0, 65535)
SEED = click.IntRange(0, 2**64 - 1)
# The command has options of its own for these parameters, or none.
_EXCLUDED = ("max_iter", "random_state", "warm_start", "n_jobs", "verbose", "cache_size", "hash_bits")

# In a stream every example comes once.
_OF_EPOCHS = ("tol", "n_iter_no_change", "shuffle", "early_stopping", "validation_fraction", "init", "n_init")

# Options of Vowpal Wabbit, liblinear, fastText and scikit-learn, and the option that does the same here.
ELSEWHERE = {
    "-b": "--bits", "--bit_precision": "--bits", "-c": "--C", "-C": "--C", "--epochs": "--max-iter",
    "-f": "--output", "--final_regressor": "--output", "-p": "--output", "--predictions": "--output", "-i": "--from",
    "--initial_regressor": "--from", "--passes": "--max-iter", "--loss": "--learner", "--loss_function": "--learner",
    "-l": "--eta0", "--learning_rate": "--eta0", "--l1": "--penalty", "--l2": "--penalty", "--oaa": "--multiclass",
    "--noconstant": "--no-fit-intercept", "--quadratic": "--interactions", "--cubic": "--interactions",
    "--early_terminate": "--n-iter-no-change", "--save_resume": "--checkpoint", "--random_seed": "--seed",
    "--random_state": "--seed", "--average": "--keep", "--ngram": "--grams",
}  # fmt: skip

Decorator = Callable[[Any], Any]


class InputFile(click.ParamType):  # type: ignore[type-arg]
    """A file, glob, folder or URL that is read."""

    name = "file"


class OutputFile(click.ParamType):  # type: ignore[type-arg]
    """A file that is written; or a folder or a log, which check themselves whether they can be written."""

    name = "file"

    def __init__(self, *, folder: bool = False) -> None:
        self.folder = folder


class _Option(click.Option):
    """Belongs to a section of the help, and to the `group` of options that the verb gets as one argument.

    `needs` names a parameter that must be given too, `without` parameters and groups that must not be: no option is
    dropped silently.
    """

    def __init__(
        self,
        *args: Any,
        section: str = "Options",
        group: str | None = None,
        needs: str = "",
        without: str = "",
        **settings: Any,
    ) -> None:
        super().__init__(*args, **{"show_default": True} | settings)
        self.section, self.group, self.needs, self.without = section, group, needs, without.split()


class Verb(click.Command):
    """A subcommand: checks that options go together and that no output is an input; passes groups as one argument."""

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        formatter.write(f"\n{inspect.cleandoc(self.help or '')}\n")

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        sections: dict[str, list[tuple[str, str]]] = {}
        for param in self.get_params(ctx):
            if isinstance(param, click.Option) and (record := param.get_help_record(ctx)):
                sections.setdefault(getattr(param, "section", "Options"), []).append(record)
        for section, records in sections.items():
            with formatter.section(section):
                formatter.write_dl(records)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        try:
            return super().parse_args(ctx, args)
        except click.NoSuchOption as error:
            known = [word for param in self.params for word in (*param.opts, *param.secondary_opts)]
            same = ELSEWHERE.get(error.option_name)
            near = [same] if same in known else get_close_matches(error.option_name, known, 1, 0.7)
            hint = f". Did you mean {near[0]!r}?" if near else ""
            message = f"No such option {error.option_name!r}{hint}"
            raise click.NoSuchOption(error.option_name, message, ctx=ctx) from None
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            raise

    def invoke(self, ctx: click.Context) -> Any:
        self._check_combinations(ctx)
        self._check_files(ctx)
        assert self.callback is not None
        return ctx.invoke(self.callback, **self.arguments(ctx))

    def arguments(self, ctx: click.Context) -> dict[str, Any]:
        """The arguments of the verb's function."""
        arguments = dict(ctx.params)
        for param in self.params:
            if isinstance(param, _Option) and param.group:
                own, value = arguments.setdefault(param.group, {}), arguments.pop(param.name)
                if param.group != "params" or is_given(ctx, param.name or ""):
                    own[param.name] = list(value) if isinstance(value, tuple) else value
        return arguments

    def _check_combinations(self, ctx: click.Context) -> None:
        params = {param.name: param for param in self.params}
        given = [param for param in self.params if is_given(ctx, param.name or "")]
        for param in [each for each in given if isinstance(each, _Option)]:
            if param.needs and params[param.needs] not in given:
                raise ParameterError(f"{_shown(param)} needs {_shown(params[param.needs])}")
            for other in given:
                if other.name in param.without or getattr(other, "group", None) in param.without:
                    raise ParameterError(f"{_shown(other)} cannot be combined with {_shown(param)}")

    def _check_files(self, ctx: click.Context) -> None:
        given = [(param, value) for param in self.params if (value := ctx.params.get(param.name or "")) is not None]
        outputs = {min(param.opts, key=len): value for param, value in given if isinstance(param.type, OutputFile)}
        to_file = os.path.isfile("/dev/stdout")
        if not outputs and not to_file:
            return
        from rosenblatt.io.atomic import check_outputs, check_writable
        from rosenblatt.io.source import local_files

        inputs = local_files([value for param, value in given if isinstance(param.type, InputFile)])
        inputs += [f"{path}{part}" for path in inputs for part in ("-wal", "-shm", ".lock")]  # of a server's log
        check_outputs(outputs, inputs)
        check_outputs({"stdout, that is": "/dev/stdout"} if to_file else {}, inputs)
        for param, value in given:
            if isinstance(param.type, OutputFile) and not param.type.folder:
                check_writable(value)


def _shown(param: click.Parameter) -> str:
    """The name of an option or an argument in a message."""
    return max(param.opts, key=len) if isinstance(param, click.Option) else str(param.metavar).strip("[].")


@contextmanager
def importing(extra: str) -> Iterator[None]:
    """Name the extra if one of its packages cannot be imported."""
    try:
        yield
    except ModuleNotFoundError as error:
        raise MissingExtraError(str(error.name).partition(".")[0], extra) from None


def is_given(ctx: click.Context, name: str) -> bool:
    """True if the option was on the command line."""
    return ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE


def option(usage: str, text: str, *, name: str | None = None, **settings: Any) -> Decorator:
    """`click.option` from what --help shows, such as "-o --output MODEL"; `name` is the argument of the verb."""
    words = usage.split()
    names = [word for word in words if word.startswith("-")]
    metavar = " ".join(word for word in words if not word.startswith("-")) or None
    return click.option(*names, *([name] if name else []), metavar=metavar, cls=_Option, help=text, **settings)


def _together(*options: Decorator) -> Decorator:
    """Several options as one decorator."""
    return lambda function: functools.reduce(lambda made, each: each(made), reversed(options), function)


def _one(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> str | None:
    if len(values) > 1:
        raise click.BadParameter(f"one column, but {len(values)} were given: {', '.join(values)}", ctx, param)
    return values[0] if values else None


def _limits(ctx: click.Context, param: click.Parameter, values: tuple[str, ...]) -> Any:
    from rosenblatt.encode.options import DEFAULT_LIMITS, parse_limits

    return parse_limits(DEFAULT_LIMITS, values)


def model_argument() -> Decorator:
    return click.argument("model", metavar="MODEL", type=InputFile())


def data_argument(**settings: Any) -> Decorator:
    return click.argument("data", metavar="DATA...", nargs=-1, type=InputFile(), **settings)


def json_option(text: str, **settings: Any) -> Decorator:
    return option("--json", text, name="as_json", is_flag=True, **settings)


def seed_option(text: str) -> Decorator:
    return option("--seed N", text, type=SEED, default=0)


def split_options(what: str, group: str, time: str) -> Decorator:
    """The options for splits and scores, as one argument `split`: options of `train_dataset`."""
    one = functools.partial(option, group="split", section="Splits and scores")
    return _together(
        one("--group COLUMN", f"{group}; the column is not learned from"),
        one("--time COLUMN", f"{time}; the column is not learned from"),
        one("--scoring NAME", f"{what}, such as f1, roc_auc or balanced_accuracy (default: accuracy)"),
    )


def cluster_option(without: str = "") -> Decorator:
    text = "run on a Dask cluster: tcp://HOST:PORT, file:SCHEDULER.json, local[:N] processes or threads[:N]"
    return option("--cluster ADDRESS", text, section=CLUSTER, without=without)


def reading_options() -> Decorator:
    """The options for input, as one argument `reading`: options of `open_dataset`."""
    source = functools.partial(option, group="reading", section="Input")
    text = functools.partial(option, group="reading", section="How text is written (default: detected)")
    limits = "change a limit: line=1G; also expansion, classes (repeatable)"
    return _together(
        source("--format", "input format (default: detected)", type=click.Choice(FORMATS)),
        source("--skip-bad", "skip and count unreadable lines instead of stopping", is_flag=True),
        source("--jobs N", "parser threads", type=COUNT, default=2),
        source("--read-limit NAME=SIZE", limits, name="limits", multiple=True, callback=_limits),
        source("--sheet NAME", "sheet of a workbook, by name or number (default: 1)"),
        source("--query SQL", "rows of a database, such as sqlite:///people.db"),
        text("--delimiter CHARACTER", "between cells: , ; | or tab"),
        text("--decimal", "decimal separator: 1.5 or 1,5", type=click.Choice((".", ","))),
        text("--missing WORD", "means no value (repeatable)", multiple=True, callback=lambda _, __, v: list(v) or None),
        text("--encoding NAME", "utf-8, latin-1, cp1252, utf-16, …"),
        text("--header/--no-header", "the first line names the columns, or not", default=None),
        text("--day-first/--month-first", "3/4/2024 is in April, or in March", default=None),
    )


def column_options(*, hashing: bool = True) -> Decorator:
    """The options for columns, as one argument `columns`: options of `open_dataset`."""
    section = "Columns and text" if hashing else "Columns"
    single = functools.partial(option, group="columns", section=section)
    several = functools.partial(single, multiple=True)
    numbers = [
        several("--label COLUMN", "label column, by name or number (from 1)", callback=_one),
        several("--drop COLUMN", "leave this column out (repeatable)"),
        several("--number COLUMN", "treat this column as numbers (repeatable)"),
    ]
    if not hashing:
        return _together(*numbers)
    pairs = "vw: multiply the namespaces that begin with these letters; : is any (repeatable)"
    return _together(
        *numbers,
        several("--weight COLUMN", "column with the weight of each row", callback=_one),
        several("--text COLUMN", "treat this column as text (repeatable)"),
        several("--category COLUMN", "treat this column as categories (repeatable)"),
        single("--bits N", "hash words and names to 2^N columns", type=int, default=BITS),
        single("--grams", "split text into words, words and word pairs, or 3 to 5 characters",
               type=click.Choice(GRAMS), default="pairs"),
        single("--idf", "weigh words by inverse document frequency: rare words count more", is_flag=True),
        several("-q --interactions AB", pairs),
    )  # fmt: skip


def params_options(section: str, learners: Sequence[str] = tuple(FAMILY), *, online: bool = False) -> Decorator:
    """An option per parameter of the learners, as one argument `params`; `online`: only what matters in a stream."""
    one = functools.partial(option, group="params", section=section, needs="learner" if online else "")
    options: list[Decorator] = []
    # The first learner that has a parameter describes it.
    found = {name: known for learner in reversed(learners) for name, known in parameters_of(learner).items()}
    for name, known in found.items():
        if name in _EXCLUDED or (online and name in _OF_EPOCHS):
            continue
        flag = option_name(name)
        default = next(getattr(FAMILY[each](), name) for each in FAMILY if name in parameters_of(each))
        how: dict[str, Any] = {"name": name, "default": default}
        if known.kind == "switch":
            options.append(one(f"{flag}/--no-{flag[2:]}", known.sentence, default=default))
            text = f"{known.sentence}: draw every row separately; holds all rows in memory"
            options += [one(f"{flag}-{word}", text, is_flag=True) for word in known.options]
        elif name in _SPECIAL:
            options.append(one(f"{flag} {_SPECIAL[name]}", known.sentence, type=str, callback=_parse, **how))
        elif known.options:
            options.append(one(flag, known.sentence, type=click.Choice(known.options), **how))
        else:
            kind, metavar = (int, "N") if known.kind == "count" else (float, "X")
            options.append(one(f"{flag} {metavar}", known.sentence, type=kind, **how))
    return _together(*options)


def make_params(learner: str, given: dict[str, Any], **common: Any) -> Params:
    """The parameters of a learner, as given on the command line."""
    given = dict(given)
    if given.pop("shuffle_rows", False):
        given["shuffle"] = "rows"
    for each in given:
        if each not in parameters_of(learner):
            names = [name for name in FAMILY if each in parameters_of(name)]
            raise ParameterError(f"{option_name(each)} needs --learner {' or '.join(names[:4])}, not {learner}")
    return params_by_name(learner, **common, **given)


def online_learner_options(text: str, learners: list[str], **settings: Any) -> Decorator:
    """A learner for a log of the service: `learner` and `params`."""
    text = f"{text}: {', '.join(learners)}"
    return _together(
        option("--learner NAME", text, type=click.Choice(learners), **settings),
        params_options("Options of the learner", learners, online=True),
    )


def online_params(learner: str | None, params: dict[str, Any]) -> Params | None:
    """The parameters of `online_learner_options`; nothing is shuffled, so there is no seed."""
    return None if learner is None else make_params(learner, params, max_iter=1000, random_state=0)


def option_name(parameter: str) -> str:
    return f"--{parameter.replace('_', '-')}"


_SPECIAL = {"gamma": "auto|scale|X", "class_weight": "balanced|A=1,B=2", "tol": "X|none"}


def _parse(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
    """One of the words, a number, or weights of classes."""
    usage = str(param.metavar)
    if not isinstance(value, str) or value in usage.split("|"):
        return None if value == "none" else value
    try:
        if "X" in usage:
            return float(value)
        pairs = [pair.rsplit("=", 1) for pair in value.split(",")]
        weights = [(int(a) if re.fullmatch(r"0|-?[1-9]\d*", a) else a, float(weight)) for a, weight in pairs]
        if len(dict(weights)) < len(weights):
            raise click.BadParameter(f"{value!r}: a class has two weights", ctx, param)
        return dict(weights)
    except ValueError:
        raise click.BadParameter(f"{value!r}: write {usage}", ctx, param) from None
