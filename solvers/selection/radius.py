"""Choose radius and eta from the data alone, by resampling or by held-out signals.

The paper takes the radius with the largest MCC, which requires the true graph.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from solvers.selection.bootstrap import CONFIDENCE, Seed, bootstrap_radius, quick_radius
from solvers.selection.prediction import PREDICTION_RADII, Tried, best_of, try_predictions
from solvers.selection.signals import Signals
from solvers.solve import solve
from wdro_cvx import (
    AmbiguitySet,
    DataError,
    GraphProblem,
    Nominal,
    ProblemError,
    Singleton,
    Solution,
    Status,
)
from wdro_cvx.metrics import reliability
from wdro_cvx.validation import Array

RULES = ("auto", "bootstrap", "prediction")
#: Rules that lost the comparison in docs/validation.md; :func:`choose` knows them for studies.
OLD_RULES = ("reliability", "cv")
_FOLDS = 5
#: Radii to choose from, relative to the length of a signal.
_CANDIDATES = tuple(float(radius) for radius in np.geomspace(0.005, 1.0, 15))
#: Candidates for eta, in the squared unit of the data.
ETAS = tuple(float(eta) for eta in np.geomspace(0.01, 10.0, 7))
# Scores of candidates differ by percents; gaps below this do not change the ranking.
_TOLERANCE = 1e-4
# The risk falls and then rises with the radius. A rise by this factor means the minimum is past.
_HOPELESS = 1.3


@dataclass(frozen=True)
class HeldOut:
    """The scores of a candidate on held-out signals, averaged over the folds.

    Attributes
    ----------
    risk : float
        ``⟨Θ, L⟩ + η‖L‖²`` with the second moment of the held-out signals.
    reliability : float
        The share of those signals whose own risk is below the worst-case value.
    """

    risk: float
    reliability: float


Build = Callable[[Nominal, float], GraphProblem]
BuildBoth = Callable[[Nominal, float, float], GraphProblem]


class ChoiceWarning(UserWarning):
    """The choice is at the edge of the grid, or coverage is not guaranteed."""


@dataclass(frozen=True)
class Choice:
    """A radius and an eta, in the unit of the signals, and the candidates that were compared."""

    radius: float
    eta: float
    tried: tuple[Tried, ...] = ()


def held_out(
    samples: Array,
    build: Build,
    candidates: Iterable[float],
    eta: float,
    folds: int = _FOLDS,
    tol: float = 1e-6,
) -> Iterator[HeldOut]:
    """Yield the scores of candidates in order, each warm-started from the previous one.

    Parameters
    ----------
    samples : array (N, d)
    build : callable
        Builds the problem of a candidate from the distribution of the training samples.
    candidates : iterable of float
    eta : float
        The eta of the risk, the same for all candidates.
    folds : int
    tol : float
        The relative gap of every answer.
    """
    if len(samples) < 2:
        raise DataError(
            "1 sample cannot be held out and learned from at once; give the radius as a number."
        )
    from sklearn.model_selection import KFold  # slow to import, and only needed here

    splits = list(KFold(min(folds, len(samples))).split(samples))
    nominals = [Nominal.from_samples(samples[train]) for train, _ in splits]
    starts: list[Solution | None] = [None] * len(splits)
    for candidate in candidates:
        risks, shares = [], []
        for fold, (_, test) in enumerate(splits):
            answer = solve(build(nominals[fold], candidate), tol, start=starts[fold])
            if answer.status is Status.INTERRUPTED:  # an interrupt ends the whole search
                raise KeyboardInterrupt
            starts[fold] = answer
            unseen = GraphProblem(Nominal.from_samples(samples[test]), Singleton(), eta)
            risks.append(unseen.value(answer.laplacian))
            shares.append(reliability(answer.laplacian, answer.value, eta, samples[test]))
        yield HeldOut(float(np.mean(risks)), float(np.mean(shares)))


def candidate_radii(
    signals: Signals, ambiguity: AmbiguitySet, shares: Sequence[float] = _CANDIDATES
) -> list[float]:
    """Return radii to choose from, relative to the length of a signal."""
    length = signals.unit() * float(np.sqrt(signals.d))
    return [length**ambiguity.radius_degree * share for share in shares]


def check_rules(radius: float | str, eta: float | str) -> None:
    """Check rules that are given instead of numbers.

    Raises
    ------
    ProblemError
        If a rule is unknown, or the two rules cannot be combined.
    """
    if isinstance(radius, str) and radius not in (*RULES, *OLD_RULES):
        raise ProblemError(
            f"radius must be a number or one of {', '.join(RULES)}; it is {radius!r}."
        )
    if not isinstance(eta, str):
        return
    if eta != "auto":
        raise ProblemError(f"eta must be a number or 'auto'; it is {eta!r}.")
    if radius in ("cv", "reliability"):
        raise ProblemError(
            f"eta='auto' compares graphs by prediction, and radius={radius!r} needs an eta "
            "first; use radius='prediction', 'bootstrap' or a number."
        )


def choose(
    signals: Signals,
    ambiguity: AmbiguitySet,
    radius: float | str,
    eta: float | str,
    build: BuildBoth | None = None,
    *,
    block: int = 1,
    seed: Seed = 0,
    progress: bool = False,
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
        signals. Only for studies, ``"reliability"``: the smallest radius whose worst-case value
        covers 95 % of the held-out signals, or the largest if none does; and ``"cv"``: the smallest
        risk ``⟨Θ, L⟩ + η‖L‖²`` on held-out signals, which is the objective for radius 0.
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
    """
    build = build or _plain(ambiguity)
    check_rules(radius, eta)
    if isinstance(ambiguity, Singleton) and isinstance(radius, str):
        radius = 0.0  # a single point has no radius to choose
    if radius == "auto":
        radius = quick_radius(signals, ambiguity, block=block, seed=seed)
    elif radius == "bootstrap":
        radius = bootstrap_radius(signals, ambiguity, block=block, seed=seed, progress=progress)
    if isinstance(eta, str) or radius == "prediction":
        radii = (
            candidate_radii(signals, ambiguity, PREDICTION_RADII)
            if isinstance(radius, str)
            else [radius]
        )
        etas = list(ETAS) if isinstance(eta, str) else [eta]
        tried = try_predictions(signals, build, radii, etas, _TOLERANCE, progress)
        best = best_of(tried)
        _warn_at_ends("radius", best.radius, radii)
        _warn_at_ends("eta", best.eta, etas)
        return Choice(best.radius, best.eta, tuple(tried))
    if isinstance(radius, str):
        radius = choose_radius(signals, ambiguity, eta, radius, build=build, progress=progress)
    return Choice(radius, eta)


def choose_radius(
    signals: Signals | Array,
    ambiguity: AmbiguitySet,
    eta: float,
    rule: str,
    radii: Sequence[float] | None = None,
    *,
    build: BuildBoth | None = None,
    progress: bool = False,
) -> float:
    """Return the radius chosen by risk or reliability on held-out signals; see :func:`choose`.

    Parameters
    ----------
    signals : Signals or array (N, d)
    ambiguity : AmbiguitySet
        The kind of set; its radius does not matter.
    eta : float
    rule : str
        ``"cv"`` or ``"reliability"``.
    radii : sequence of float, optional
        The candidates, ascending; by default 15, up to the length of the signals.
    build : callable, optional
        Builds the problem from a distribution, a radius and an eta.
    progress : bool
        Show which candidate is tried, on standard error.
    """
    if rule not in ("cv", "reliability"):
        raise ProblemError(f"radius rule must be one of cv, reliability; it is {rule!r}.")
    if not isinstance(signals, Signals):
        signals = Signals(np.asarray(signals, dtype=float))
    if not signals.complete or signals.weights is not None:
        raise ProblemError(
            f"radius={rule!r} needs complete signals that count alike; use radius='bootstrap' or "
            "'prediction'."
        )
    candidates = candidate_radii(signals, ambiguity) if radii is None else list(radii)
    if not candidates or sorted(candidates) != candidates:
        raise ProblemError("radii must be a non-empty, ascending list of candidates.")
    if not signals.centred.any():
        return 0.0  # all signals are constant: every radius is equally good
    both = build or _plain(ambiguity)

    def at(nominal: Nominal, radius: float) -> GraphProblem:
        return both(nominal, radius, eta)

    from tqdm import tqdm

    scores: list[HeldOut] = []
    tried = held_out(signals.table, at, candidates, eta, tol=_TOLERANCE)
    with tqdm(total=len(candidates), desc="radius", disable=not progress, leave=False) as bar:
        for radius in candidates:
            bar.set_postfix_str(f"{radius:.3g}")
            scores.append(next(tried))
            bar.update()
            if rule == "reliability" and scores[-1].reliability >= CONFIDENCE:
                break
            if rule == "cv" and scores[-1].risk > _HOPELESS * min(s.risk for s in scores):
                break
    if rule == "reliability":
        best = candidates[len(scores) - 1]
    else:
        best = candidates[int(np.argmin([score.risk for score in scores]))]
    _warn_at_ends("radius", best, candidates)
    return best


def _plain(ambiguity: AmbiguitySet) -> BuildBoth:
    def build(nominal: Nominal, radius: float, eta: float) -> GraphProblem:
        return GraphProblem(nominal, replace(ambiguity, radius=radius), eta)

    return build


def _warn_at_ends(name: str, chosen: float, candidates: Sequence[float]) -> None:
    """Warn if the best of several candidates is the first or the last, unless it is zero."""
    if len(candidates) > 1 and chosen != 0.0 and chosen in (candidates[0], candidates[-1]):
        end = "smallest" if chosen == candidates[0] else "largest"
        warnings.warn(
            f"{name} {chosen:.3g} is the {end} of {len(candidates)} candidates; a better one may "
            f"lie beyond. Try {name} as a number.",
            ChoiceWarning,
            stacklevel=4,
        )
