"""Choose radius and eta from the data alone, by resampling or by prediction.

The paper takes the radius with the largest MCC, which requires the true graph.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from solvers.selection.bootstrap import bootstrap_radius, quick_radius
from solvers.selection.prediction import PREDICTION_RADII, Tried, best_of, try_predictions
from solvers.selection.resampling import Seed
from solvers.selection.signals import Signals
from wdro_cvx import AmbiguitySet, GraphProblem, Nominal, ProblemError, Singleton

RULES = ("auto", "bootstrap", "prediction")
#: Candidates for eta, in the squared unit of the data.
ETAS = tuple(float(eta) for eta in np.geomspace(0.01, 10.0, 7))
# The scores of candidates differ by far more; smaller gaps would not change the ranking.
_TOLERANCE = 1e-4

Build = Callable[[Nominal, float, float], GraphProblem]


class ChoiceWarning(UserWarning):
    """The choice is at the edge of the grid, or coverage is not guaranteed."""


@dataclass(frozen=True)
class Choice:
    """A radius and an eta, in the unit of the signals, and the candidates that were compared."""

    radius: float
    eta: float
    tried: tuple[Tried, ...] = ()


def candidate_radii(
    signals: Signals, ambiguity: AmbiguitySet, shares: Sequence[float]
) -> list[float]:
    """Return radii to choose from, relative to the length of a signal."""
    length = signals.unit() * float(np.sqrt(signals.d))
    return [length**ambiguity.radius_degree * share for share in shares]


def check_rules(radius: float | str, eta: float | str) -> None:
    """Check rules that are given instead of numbers.

    Raises
    ------
    ProblemError
        If a rule is unknown.
    """
    if isinstance(radius, str) and radius not in RULES:
        raise ProblemError(
            f"radius must be a number or one of {', '.join(RULES)}; it is {radius!r}."
        )
    if isinstance(eta, str) and eta != "auto":
        raise ProblemError(f"eta must be a number or 'auto'; it is {eta!r}.")


def choose(
    signals: Signals,
    ambiguity: AmbiguitySet,
    radius: float | str,
    eta: float | str,
    build: Build | None = None,
    *,
    block: int = 1,
    seed: Seed = 0,
    progress: bool = False,
    n_jobs: int | None = None,
) -> Choice:
    """Return radius and eta; values that are not numbers are chosen by rules.

    Parameters
    ----------
    signals : Signals
    ambiguity : AmbiguitySet
        The kind of set; its radius does not matter.
    radius : float or str
        A number, or a rule. ``"auto"``: the smaller one of a quick bootstrap and a twentieth of the
        length of a signal. ``"bootstrap"``: the 95 % quantile of the distance between tables like
        this one and their law. ``"prediction"``: how well neighbours predict each other on held-out
        signals.
    eta : float or str
        A number, or ``"auto"``: by prediction, jointly with the radius if its rule is prediction.
    build : callable, optional
        Builds the problem from a distribution, a radius and an eta; by default with the paper's
        prior.
    block : int
        The length of the runs of rows that the bootstrap draws.
    seed : int or generator
        For the bootstrap.
    progress : bool
        Show which candidate is tried, or how many tables were drawn, on standard error.
    n_jobs : int, optional
        The number of processes, as joblib counts them; it does not change the result.
    """
    build = build or _plain(ambiguity)
    check_rules(radius, eta)
    if isinstance(ambiguity, Singleton) and isinstance(radius, str):
        radius = 0.0  # a single point has no radius to choose
    if radius == "auto":
        radius = quick_radius(signals, ambiguity, block=block, seed=seed)
    elif radius == "bootstrap":
        radius = bootstrap_radius(
            signals, ambiguity, block=block, seed=seed, progress=progress, n_jobs=n_jobs
        )
    if isinstance(eta, str) or isinstance(radius, str):
        radii = (
            candidate_radii(signals, ambiguity, PREDICTION_RADII)
            if isinstance(radius, str)
            else [radius]
        )
        etas = list(ETAS) if isinstance(eta, str) else [eta]
        tried = try_predictions(signals, build, radii, etas, _TOLERANCE, progress, n_jobs)
        best = best_of(tried)
        warn_at_ends("radius", best.radius, radii)
        warn_at_ends("eta", best.eta, etas)
        return Choice(best.radius, best.eta, tuple(tried))
    return Choice(radius, eta)


def _plain(ambiguity: AmbiguitySet) -> Build:
    def build(nominal: Nominal, radius: float, eta: float) -> GraphProblem:
        return GraphProblem(nominal, replace(ambiguity, radius=radius), eta)

    return build


def warn_at_ends(name: str, chosen: float, candidates: Sequence[float]) -> None:
    """Warn if the best of several candidates is the first or the last, unless it is zero."""
    if len(candidates) > 1 and chosen != 0.0 and chosen in (candidates[0], candidates[-1]):
        end = "smallest" if chosen == candidates[0] else "largest"
        warnings.warn(
            f"{name} {chosen:.3g} is the {end} of {len(candidates)} candidates; a better one may "
            f"lie beyond. Try numbers for {name} beyond it.",
            ChoiceWarning,
            stacklevel=4,
        )
