"""Options that several verbs share, and the types that mark which files a verb reads and writes.

Invariant: no verb overwrites a file that it reads; `Verb` checks this for every `InputFile` and `OutputFile` before
the verb runs. The options of learners are generated from the fields of their parameters.
"""

from __future__ import annotations

import functools
import inspect
import os
import re
import stat
from collections.abc import Callable, Sequence
from typing import Any

import click

from rosenblatt.errors import ParameterError
from rosenblatt.params import FAMILY, About, Params, parameters_of
from rosenblatt.params import make_params as params_by_name

# Repeated from rosenblatt.io, which takes too long to load for --help; tests/cli/test_files.py compares them.
FORMATS = ("svmlight", "vw", "fasttext", "tabbed", "csv", "tsv", "jsonl", "json", "parquet", "feather", "npy")
GRAMS = ("words", "pairs", "characters")
BITS = 20
CLUSTER = "More than one machine or core"
SEED = click.IntRange(0, 2**64 - 1)
# The command has options of its own for these parameters, or none.
_EXCLUDED = ("max_iter", "random_state", "warm_start", "n_jobs", "verbose", "cache_size", "hash_bits")
# These learners are named after what they keep, so --keep turns them into a plain perceptron.
_FIXED_KEEP = ("averaged", "voted", "pocket")
_PICTURES = ("png", "svg", "pdf", "jpg", "jpeg", "webp", "tif", "tiff", "eps", "ps")

Decorator = Callable[[Any], Any]
Files = tuple[str, ...]
Settings = dict[str, Any]
Text = str | None


class InputFile(click.ParamType):  # type: ignore[type-arg]
    """A file, glob, folder or URL that is read; `replaceable` if a checkpoint may be written over it."""

    name = "file"

    def __init__(self, *, replaceable: bool = False) -> None:
        self.replaceable = replaceable


class OutputFile(click.ParamType):  # type: ignore[type-arg]
    """A file that is written; or a folder or a log, which check themselves whether they can be written.

    `replaces` if it may be written over a replaceable input.
    """

    name = "file"

    def __init__(self, *, folder: bool = False, replaces: bool = False) -> None:
        self.folder, self.replaces = folder, replaces


class PictureFile(OutputFile):
    """A picture; its extension and matplotlib are checked before anything is read."""

    def __init__(self, *more: str) -> None:
        super().__init__()
        self.extensions = (*more, *_PICTURES)

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        from importlib.util import find_spec

        from rosenblatt.errors import MissingExtraError

        if value != "-" and os.path.splitext(value)[1].lower().removeprefix(".") not in self.extensions:
            self.fail(f"{value}: the file name must end in .{', .'.join(self.extensions)}", param, ctx)
        if find_spec("matplotlib") is None:
            raise MissingExtraError("matplotlib", "plot")
        return value


class Parsed(click.ParamType):  # type: ignore[type-arg]
    """A value with a parser of its own, which raises ValueError; `name` shows how to write it."""

    def __init__(self, parse: Callable[[str], Any], name: str) -> None:
        self.parse, self.name = parse, name

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        return self.name

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        try:
            return self.parse(value) if isinstance(value, str) else value
        except ValueError:
            self.fail(f"{value!r}: write {self.name}", param, ctx)


class _Option(click.Option):
    def __init__(self, *args: Any, section: str = "Options", **settings: Any) -> None:
        super().__init__(*args, **settings)
        self.section = section

    def get_help_extra(self, ctx: click.Context) -> Any:
        return {}  # the help says what matters


class Verb(click.Command):
    """A subcommand: groups its options in --help, and refuses to overwrite an input."""

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

    def invoke(self, ctx: click.Context) -> Any:
        self._check_files(ctx)
        return super().invoke(ctx)

    def _check_files(self, ctx: click.Context) -> None:
        given = [(param, ctx.params.get(param.name or "")) for param in self.params]
        outputs = [(p, p.type, value) for p, value in given if isinstance(p.type, OutputFile) and value is not None]
        redirected = _is_regular_file(1)
        if not outputs and not redirected:
            return
        from rosenblatt.io.atomic import check_outputs, check_writable
        from rosenblatt.io.source import local_files

        inputs: dict[bool, list[str]] = {False: [], True: []}
        for param, value in given:
            if isinstance(param.type, InputFile) and value is not None:
                inputs[param.type.replaceable] += local_files(value)
        check_outputs({min(p.opts, key=len): value for p, _, value in outputs}, inputs[False])
        check_outputs({min(p.opts, key=len): value for p, kind, value in outputs if not kind.replaces}, inputs[True])
        if redirected:
            check_outputs({"stdout, that is": "/dev/stdout"}, inputs[False] + inputs[True])
        for _, kind, value in outputs:
            if not kind.folder:
                check_writable(value)


def _is_regular_file(descriptor: int) -> bool:
    try:
        return stat.S_ISREG(os.fstat(descriptor).st_mode)
    except OSError:
        return False


def option(*names: str, **settings: Any) -> Decorator:
    """`click.option` in a section of the help."""
    return click.option(*names, cls=_Option, **settings)


def given_options(ctx: click.Context) -> list[click.Option]:
    """The options that were on the command line."""
    options = [param for param in ctx.command.params if isinstance(param, click.Option)]
    return [each for each in options if is_given(ctx, each.name or "")]


def is_given(ctx: click.Context, name: str) -> bool:
    return ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE


def _one(ctx: click.Context, param: click.Parameter, values: Sequence[str]) -> str | None:
    if len(values) > 1:
        raise click.BadParameter(f"one column, but {len(values)} were given: {', '.join(values)}", ctx, param)
    return values[0] if values else None


def _column(name: str, text: str, **settings: Any) -> Decorator:
    """An option that names one column."""
    return option(f"--{name}", multiple=True, callback=_one, metavar="COLUMN", help=text, **settings)


def _collect(options: Sequence[Decorator], names: Sequence[str], into: str, make: Callable[..., Any]) -> Decorator:
    """A decorator that adds options and passes them to the function as one value."""

    def decorate(function: Any) -> Any:
        @functools.wraps(function)
        def call(*args: Any, **settings: Any) -> Any:
            own = {name: settings.pop(name) for name in names if name in settings}
            return function(*args, **settings, **{into: make(**own)})

        for each in reversed(options):
            call = each(call)
        return call

    return decorate


def model_argument() -> Decorator:
    return click.argument("model", metavar="MODEL", type=InputFile())


def data_argument(*, required: bool = True, default: tuple[str, ...] = ()) -> Decorator:
    how: dict[str, Any] = {"required": required} | ({"default": default} if default else {})
    return click.argument("data", metavar="DATA...", nargs=-1, type=InputFile(), **how)


def json_option(text: str) -> Decorator:
    return option("--json", "as_json", is_flag=True, help=text)


def fold_options(seeded: str) -> Decorator:
    """How a verb that cross-validates splits the rows."""
    folds = option("--folds", type=click.IntRange(2), default=5, metavar="N", help="cross-validation folds (default 5)")
    seed = option("--seed", type=SEED, default=0, metavar="N", help=f"seed of {seeded} (default 0)")
    return lambda function: folds(seed(function))


def cluster_option(function: Any) -> Any:
    """Where the work is done."""
    text = "run on a Dask cluster: tcp://HOST:PORT, file:SCHEDULER.json, local[:N] processes or threads[:N]"
    return option("--cluster", metavar="ADDRESS", section=CLUSTER, help=text)(function)


_TEXT = "How text is written (default: detected)"
_READING = [
    option("--format", type=click.Choice(FORMATS), help="input format (default: detected)", section="Input"),
    option("--skip-bad", is_flag=True, help="skip and count unreadable lines instead of stopping", section="Input"),
    option(
        "--jobs", type=click.IntRange(1), default=2, metavar="N", help="parser threads (default 2)", section="Input"
    ),
    option(
        "--read-limit", multiple=True, metavar="NAME=SIZE", section="Input",
        help="raise a limit: line=1G; also columns, classes, documents, expansion, spool (repeatable)",
    ),
    option("--sheet", metavar="NAME", help="sheet of a workbook, by name or number (default 1)", section="Input"),
    option("--query", metavar="SQL", help="rows of a database, such as sqlite:///people.db", section="Input"),
    option("--delimiter", metavar="CHARACTER", help="between cells: , ; | or tab", section=_TEXT),
    option("--decimal", type=click.Choice((".", ",")), help="decimal separator: 1.5 or 1,5", section=_TEXT),
    option("--missing", multiple=True, metavar="WORD", help="means no value (repeatable)", section=_TEXT),
    option("--encoding", metavar="NAME", help="utf-8, latin-1, cp1252, utf-16, …", section=_TEXT),
    option("--header/--no-header", default=None, help="the first line names the columns, or not", section=_TEXT),
]  # fmt: skip
_READING_NAMES = (
    "format", "skip_bad", "jobs", "read_limit", "sheet", "query", "delimiter", "decimal", "missing", "encoding",
    "header",
)  # fmt: skip


def _reading(read_limit: Sequence[str], missing: Sequence[str], **options: Any) -> dict[str, Any]:
    from rosenblatt.io.limits import Limits

    return options | {"missing": list(missing) or None, "limits": Limits.parse(read_limit)}


def reading_options(function: Any) -> Any:
    """How input is read, as one argument `reading`: options of `open_dataset`."""
    return _collect(_READING, _READING_NAMES, "reading", _reading)(function)


def _kind(name: str, text: str, section: str) -> Decorator:
    return option(f"--{name}", multiple=True, metavar="COLUMN", help=f"{text} (repeatable)", section=section)


def column_options(*, hashing: bool = True) -> Decorator:
    """What columns become, as one argument `columns`: options of `open_dataset`."""
    section = "Columns and text" if hashing else "Columns"
    options = [
        _column("label", "label column, by name or number (from 1)", section=section),
        _kind("drop", "leave this column out", section),
        _kind("number", "treat this column as numbers", section),
    ]
    if hashing:
        options += [
            _column("weight", "column with the weight of each row", section=section),
            _kind("text", "treat this column as text", section),
            _kind("category", "treat this column as categories", section),
            option(
                "--bits", type=int, default=BITS, metavar="N", section=section,
                help=f"hash words and names to 2^N columns (default {BITS})",
            ),
            option(
                "--grams", type=click.Choice(GRAMS), default="pairs", section=section,
                help="split text into words, words and word pairs, or 3 to 5 characters (default pairs)",
            ),
            option(
                "-q", "--interactions", multiple=True, metavar="AB", section=section,
                help="vw: multiply the namespaces that begin with these letters; : is any (repeatable)",
            ),
        ]  # fmt: skip
    names = ("label", "drop", "number", "weight", "text", "category", "bits", "grams", "interactions")
    return _collect(options, names, "columns", _columns)


def _columns(**options: Any) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in options.items()}


def params_options(section: str) -> Decorator:
    """An option per parameter of the learners, as one argument `given`: the parameters on the command line."""
    options = []
    for name, known in _parameters().items():
        flag, text = option_name(name), f"{known.sentence} (default {_default(name, known)})"
        if known.kind == "switch":
            options.append(option(f"{flag}/--no-{flag[2:]}", name, default=None, help=text, section=section))
            for word in known.options:  # --shuffle-rows
                text = f"{known.sentence}: draw every row by itself; holds all rows in memory"
                options.append(option(f"{flag}-{word}", is_flag=True, default=None, help=text, section=section))
        else:
            kind, shape = _type_of(name, known)
            options.append(option(flag, name, type=kind, metavar=shape, help=text, section=section))
    names = [*_parameters(), "shuffle_rows"]

    def given(**values: Any) -> dict[str, Any]:
        ctx = click.get_current_context()
        found = {name: value for name, value in values.items() if is_given(ctx, name)}
        return found | ({"shuffle": "rows"} if found.pop("shuffle_rows", False) else {})

    return _collect(options, names, "given", given)


def make_params(learner: str, given: dict[str, Any], **common: Any) -> Params:
    """The parameters of a learner, as given on the command line."""
    name = "perceptron" if learner in _FIXED_KEEP and "keep" in given else learner
    for each in given:
        if each not in parameters_of(name):
            raise ParameterError(f"{option_name(each)} is not an option of --learner {learner}; {learners_with(each)}")
    return params_by_name(name, **common, **given)


def learners_with(parameter: str) -> str:
    """A hint at the learners that have a parameter."""
    names = [learner for learner in FAMILY if parameter in parameters_of(learner)]
    return f"use --learner {names[0]}" if len(names) == 1 else f"use --learner with one of {', '.join(names)}"


def option_name(parameter: str) -> str:
    return f"--{parameter.replace('_', '-')}"


@functools.cache
def _parameters() -> dict[str, About]:
    found: dict[str, About] = {}
    for learner in FAMILY:
        found = parameters_of(learner) | found
    return {name: known for name, known in found.items() if name not in _EXCLUDED}


def _default(name: str, known: About) -> str:
    default = next(getattr(FAMILY[learner](), name) for learner in FAMILY if name in parameters_of(learner))
    words = {True: "on", False: "off"} if known.kind == "switch" else {}
    return "none" if default is None else str(words.get(default, default))


def _type_of(name: str, known: About) -> tuple[Any, str | None]:
    """The type of an option, and how it is written."""
    if name in _SPECIAL:
        return _SPECIAL[name], None
    if known.options:
        return click.Choice(known.options), None
    return (int, "N") if known.kind == "count" else (float, "X")


def _class_weight(text: str) -> Any:
    if text == "balanced":
        return text
    pairs = [pair.rsplit("=", 1) for pair in text.split(",")]
    return {int(label) if re.fullmatch(r"-?\d+", label) else label: float(weight) for label, weight in pairs}


def _seconds(text: str) -> float:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(s|m|h)?", text)
    if not match:
        raise ValueError(text)
    return float(match[1]) * {"s": 1, "m": 60, "h": 3600}[match[2] or "s"]


TIME = Parsed(_seconds, "30s|5m|1h")
_SPECIAL = {
    "gamma": Parsed(lambda text: text if text in ("auto", "scale") else float(text), "auto|scale|X"),
    "class_weight": Parsed(_class_weight, "balanced|A=1,B=2"),
    "tol": Parsed(lambda text: None if text == "none" else float(text), "X|none"),
}
