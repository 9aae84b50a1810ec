"""Figure 2: g(γ) for one graph, the same curve that the ledger of claims checks."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments.figures.experiment import ClaimFinding, Experiment, Record, Setting
from experiments.figures.statistics import outcome
from experiments.propositions.claims import CLAIMS
from experiments.propositions.convexity import gamma_curve
from experiments.propositions.figures import gamma_figure


def trial(setting: Setting, rng: np.random.Generator) -> list[Record]:
    """Try the claim on a random instance."""
    return [{"deviation": gamma_curve(rng, 6).printed}]


def figure(table: pd.DataFrame) -> Figure:
    """Draw the curve with its pole, its asymptote and its minimum."""
    return gamma_figure(np.random.default_rng(int(table["seed"].iloc[0])))


def claims(table: pd.DataFrame) -> list[ClaimFinding]:
    """Check that the curve is convex, with a pole at λmax and a linear asymptote."""
    claim = CLAIMS["gamma-curve"]
    worst = float(table["deviation"].max())
    return [
        ClaimFinding(
            claim.says,
            outcome(worst <= claim.tolerance),
            f"worst deviation {worst:.0e} in {len(table)} instances",
        )
    ]


_CAPTION = (
    "g(γ) of one similarity graph (d = 10, N = 40, ε = 0.5): a pole at λmax (dotted), a linear "
    "asymptote (dashed), and one minimum between them."
)
EXPERIMENT = Experiment("gamma", "Figure 2: g(γ)", [{}], trial, figure, claims, _CAPTION)
