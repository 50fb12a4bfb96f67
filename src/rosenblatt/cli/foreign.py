"""Options of other programs that users bring along, and what stands for them here."""

from __future__ import annotations

_VW = "Vowpal Wabbit"
_FASTTEXT = "fastText"
_LIBLINEAR = "LIBLINEAR"

# the option: whose it is, and what to write instead
FOREIGN = {
    "--passes": (_VW, "--max-iter N"),
    "-f": (_VW, "-o MODEL"),
    "--final_regressor": (_VW, "-o MODEL"),
    "-i": (_VW, "--from MODEL to go on learning, or the verb predict to use it"),
    "--initial_regressor": (_VW, "--from MODEL to go on learning, or the verb predict to use it"),
    "-t": (_VW, "the verb predict, or evaluate where there are labels"),
    "--testonly": (_VW, "the verb predict, or evaluate where there are labels"),
    "-p": (_VW, "the verb predict with -o FILE"),
    "--predictions": (_VW, "the verb predict with -o FILE"),
    "-r": (_VW, "the verb predict with --scores"),
    "--raw_predictions": (_VW, "the verb predict with --scores"),
    "-b": (_VW, "--bits N"),
    "--bit_precision": (_VW, "--bits N"),
    "-c": (_VW, "--cache FOLDER"),
    "--cache_file": (_VW, "--cache FOLDER"),
    "-l": (_VW, "--eta0 X"),
    "--learning_rate": (_VW, "--eta0 X"),
    "--l1": (_VW, "--penalty l1 --alpha X"),
    "--l2": (_VW, "--penalty l2 --alpha X"),
    "--noconstant": (_VW, "--no-fit-intercept"),
    "--oaa": (_VW, "nothing: the classes are counted; --multiclass ovr learns each against the rest"),
    "--random_seed": (_VW, "--seed N"),
    "--quadratic": (_VW, "--interactions AB, or -q AB"),
    "--cubic": (_VW, "--interactions ABC"),
    "--redefine": (_VW, "nothing: name the namespaces in the data"),
    "--ignore": (_VW, "nothing: leave the namespace out of the data"),
    "--keep_namespace": (_VW, "nothing: leave the others out of the data"),
    "--ngram": (_VW, "--grams pairs, for labelled text"),
    "--binary": (_VW, "nothing: two labels are two classes"),
    "--csoaa": (_VW, "nothing: costs of classes are not learned; --class-weight says how much each class counts"),
    "--holdout_off": (_VW, "nothing: only the choice without --learner holds rows out"),
    "--save_resume": (_VW, "nothing: a model holds its state; --from MODEL goes on"),
    "--readable_model": (_VW, "the verb inspect"),
    "--invert_hash": (_VW, "the verb inspect"),
    "--audit": (_VW, "the verb inspect"),
    "-d": (_VW, "the file's name, without an option"),
    "--data": (_VW, "the file's name, without an option"),
    "--loss_function": (_VW, "--learner NAME"),
    "--link": (_VW, "--probabilities"),
    "-epoch": (_FASTTEXT, "--max-iter N"),
    "--epoch": (_FASTTEXT, "--max-iter N"),
    "--epochs": ("other programs", "--max-iter N"),
    "-lr": (_FASTTEXT, "--eta0 X"),
    "--lr": (_FASTTEXT, "--eta0 X"),
    "-wordNgrams": (_FASTTEXT, "--grams words or --grams pairs"),
    "-minn": (_FASTTEXT, "--grams characters"),
    "-maxn": (_FASTTEXT, "--grams characters"),
    "-input": (_FASTTEXT, "the file's name, without an option"),
    "-output": (_FASTTEXT, "-o MODEL"),
    "-bucket": (_FASTTEXT, "--bits N"),
    "-loss": (_FASTTEXT, "--learner NAME, and --multiclass ovr for one against all"),
    "-dim": (_FASTTEXT, "nothing: there is one weight for each word and class"),
    "-thread": (_FASTTEXT, "--jobs N"),
    "-s": (_LIBLINEAR, "--learner NAME"),
    "-B": (_LIBLINEAR, "nothing: an intercept is learned; --no-fit-intercept leaves it out"),
    "-v": (_LIBLINEAR, "the verb tune or compare with --folds N"),
    "-e": (_LIBLINEAR, "--tol X"),
    "--target": ("other programs", "--label COLUMN"),
    "--output": ("other programs", "-o FILE"),
    "--threads": ("other programs", "--jobs N"),
    "--verbose": ("other programs", "nothing: it says what it does unless --quiet is given"),
}


def hint_for(words: list[str]) -> str:
    """What to write instead of the first option that another program has; nothing if none is known."""
    for word in words:
        name = word.split("=", 1)[0]
        if name in FOREIGN:
            whose, instead = FOREIGN[name]
            return f"{name} is an option of {whose}; here it is {instead}"
    return ""
