"""Figure 3: the learned graph against the number of samples."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments.figures.drawing import compare_models
from experiments.figures.experiment import ClaimFinding, Experiment, Record, Setting
from experiments.figures.learning import (
    GAUSSIAN,
    GENERAL,
    NOISE,
    SAA,
    TUNED,
    D,
    choose_by_truth,
    learn,
)
from experiments.figures.statistics import (
    advantage,
    against_baselines,
    against_itself,
    mean,
    outcome,
)
from wdro_cvx.generators import rbf_graph, smooth_signals

_SIZES = (10, 20, 30, 50, 80, 100, 200, 500, 1000)
_SMALL, _LARGE = 50, 500


def trial(setting: Setting, rng: np.random.Generator) -> list[Record]:
    """Learn from ``n`` noisy signals of a random similarity graph."""
    truth = rbf_graph(D, rng)
    return learn(smooth_signals(truth, setting["n"], rng, noise=NOISE), truth)


def figure(table: pd.DataFrame) -> Figure:
    """Draw MCC and DOG against N."""
    return compare_models(table, "n", "number of samples N", log=True)


def claims(table: pd.DataFrame) -> list[ClaimFinding]:
    """Check what the paper says of its Figure 3."""
    chosen = choose_by_truth(table, ["n"])
    small, large = chosen[chosen["n"] <= _SMALL], chosen[chosen["n"] >= _LARGE]
    findings = []
    for model in (GAUSSIAN, GENERAL):
        for score, sign in (("mcc", 1.0), ("dog", -1.0)):
            signed = small.assign(**{score: sign * small[score]})
            untuned, tuned = (advantage(signed, model, base, score) for base in (SAA, TUNED))
            word = (
                against_itself(untuned) if model == GENERAL else against_baselines(untuned, tuned)
            )
            findings.append(
                ClaimFinding(
                    f"For small N (≤ {_SMALL}) {model} is better than SAA in {score.upper()}.",
                    word,
                    f"{score.upper()} better by {untuned} than SAA, by {tuned} than SAA with "
                    "tuned η",
                )
            )
    for model in (GAUSSIAN, GENERAL):
        gains = [advantage(part, model, SAA, "mcc") for part in (small, large)]
        findings.append(
            ClaimFinding(
                f"The improvement of {model} over SAA is small for large N.",
                outcome(gains[1].value < gains[0].value),
                f"MCC better by {gains[0]} for N ≤ {_SMALL}, by {gains[1]} for N ≥ {_LARGE}",
            )
        )
    saa = chosen[chosen["model"] == SAA]
    first, last = (mean(saa[saa["n"] == n]["mcc"]) for n in (min(_SIZES), max(_SIZES)))
    findings.append(
        ClaimFinding(
            "SAA improves with the number of samples.",
            outcome(last.value - first.value > 2 * (first.error + last.error)),
            f"MCC {first} at N = {min(_SIZES)}, {last} at N = {max(_SIZES)}",
        )
    )
    return findings


_CAPTION = (
    "MCC and DOG against N (d = 20, σ = 0.1, {trials} graphs; bands are one standard error). "
    "Above, candidates chosen by the truth, for MCC, one for all graphs; below, by the risk on "
    "held-out signals, for each graph. The general scenario follows SAA with a tuned η, which it "
    "is."
)
EXPERIMENT = Experiment(
    "sample-size", "Figure 3: sample size", [{"n": n} for n in _SIZES], trial, figure, claims,
    _CAPTION,
)  # fmt: skip
