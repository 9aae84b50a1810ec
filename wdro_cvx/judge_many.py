"""Judge many answers at once, with the judge's own formulas on stacks of problems.

A stack takes the usual path of the judge: the answer is feasible up to rounding, matrix products
are accurate enough, and the certificate is of the set's own form. An answer that leaves this path
anywhere is judged by itself. The verdicts therefore agree with those of :func:`wdro_cvx.judge`,
except that sums are taken in another order. Their rounding is bounded in the same way.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wdro_cvx.ambiguity.base import AmbiguitySet, stacked_worst_cases
from wdro_cvx.ambiguity.gelbrich import GaussianBall, WassersteinBall
from wdro_cvx.ambiguity.kl import KLBall
from wdro_cvx.ambiguity.moment import MomentBall
from wdro_cvx.ambiguity.singleton import Singleton
from wdro_cvx.graphs.laplacian import (
    Residuals,
    edge_index,
    graph_size,
    nearest_feasible,
    symmetric_weights,
    violations,
    weights_from_laplacian,
)
from wdro_cvx.judge import LARGE_FROM, Verdict, judge
from wdro_cvx.judging.court import ENOUGH, SUM, WORTHWHILE, own_multipliers, safe_cost
from wdro_cvx.judging.dual_bound import best_dual, safe_levels
from wdro_cvx.judging.points import Form, Points, centres_of
from wdro_cvx.priors import DegreePrior, stack_priors
from wdro_cvx.problem import GraphProblem
from wdro_cvx.solution import Solution
from wdro_cvx.stacks import diagonals, flat
from wdro_cvx.validation import Array

_TINY = float(np.finfo(float).tiny)
_LARGEST = 1e30  # larger multipliers are left to the judge of single answers
_FORMS: dict[type[AmbiguitySet], Form] = {
    GaussianBall: Form.ROWS,
    KLBall: Form.WEIGHTS,
    MomentBall: Form.SHIFT,
    Singleton: Form.SHIFT,
    WassersteinBall: Form.ROWS,
}


def judge_many(
    problems: Sequence[GraphProblem], answers: Sequence[Solution], *, enough: float = 0.0
) -> list[Verdict]:
    """Return the verdict of :func:`wdro_cvx.judge` on each of several solutions."""
    found: dict[int, Verdict] = {}
    groups: dict[Hashable, list[int]] = {}
    for place, (problem, answer) in enumerate(zip(problems, answers, strict=True)):
        kind = _kind(problem, answer)
        if kind is not None:
            groups.setdefault(kind, []).append(place)
    for places in groups.values():
        if len(places) > 1:
            stack = _Stack([problems[place] for place in places], [answers[at] for at in places])
            found.update((places[at], verdict) for at, verdict in stack.verdicts(enough))
    return [
        found[place] if place in found else judge(problem, answer, enough=enough)
        for place, (problem, answer) in enumerate(zip(problems, answers, strict=True))
    ]


def _kind(problem: GraphProblem, answer: Solution) -> Hashable:
    """Return what the problems of a stack have in common; None if the answer is judged alone."""
    prior, rule, laplacian = problem.prior, problem.prior.trace, answer.laplacian
    form, certificate, d = _FORMS.get(type(problem.ambiguity)), answer.certificate, problem.d
    if form is None or certificate is None or certificate.degree_multipliers is None:
        return None
    if prior.bounds is not None or d >= LARGE_FROM or not (rule.fixed or rule.free):
        return None
    if problem.terms or certificate.slopes is not None or prior.beta == 0.0:
        return None
    if type(laplacian) is not np.ndarray or laplacian.shape != (d, d):
        return None
    if certificate.degree_multipliers.shape != (d,) or certificate.moment.d != d:
        return None
    if laplacian.dtype.kind not in "biuf" or not np.isfinite(laplacian).all():
        return None
    if rule.fixed and not symmetric_weights(laplacian).max() > 0.0:  # nothing to scale
        return None
    piece = form.piece(problem, certificate.moment)
    if piece is None:
        return None
    signs = rule.fixed, prior.alpha == 0.0, prior.kappa == 0.0
    order = getattr(problem.ambiguity, "p", None)
    return type(problem.ambiguity), order, d, signs, piece.shape


class _Stack:
    """Answers to problems of one kind. ``sure`` says which of them are on the usual path."""

    def __init__(self, problems: list[GraphProblem], answers: list[Solution]) -> None:
        self.problems, self.answers = problems, answers
        self.normal = [problem.normalised for problem in problems]
        self.units = np.array([problem.unit for problem in problems])
        self.prior: DegreePrior = stack_priors([problem.prior for problem in self.normal])
        self.form = _FORMS[type(problems[0].ambiguity)]
        self.sure: NDArray[np.bool_] = np.ones(len(problems), dtype=bool)
        rule = self.prior.trace
        given = np.stack([np.asarray(answer.laplacian, dtype=float) for answer in answers])
        self.laplacian = nearest_feasible(given, rule.target if rule.fixed else None)
        self.degrees = diagonals(self.laplacian)
        self.repair = np.sqrt(np.square(flat(given - self.laplacian)).sum(axis=-1))
        norm = np.sqrt(np.square(flat(self.laplacian)).sum(axis=-1))
        self.residuals = replace(
            violations(given, rule.target, fixed_trace=rule.fixed),
            repair=self.repair / graph_size(norm, rule.target),
        )
        sets = [problem.ambiguity for problem in self.normal]
        nominals = [problem.nominal for problem in self.normal]
        self.worst = stacked_worst_cases(sets, nominals, self.laplacian)
        self.floor = np.array([problem.floor for problem in problems]) / self.units**2
        self.constant = np.array([problem.constant for problem in problems]) / self.units**2

    def value(self) -> Array:
        """Return the objectives, rounded upwards."""
        risk = np.array([worst.risk for worst in self.worst])
        rounding = np.array([worst.rounding for worst in self.worst])
        moments = np.stack([worst.second_moment for worst in self.worst])
        attained = flat(moments * self.laplacian).sum(axis=-1)
        self.sure &= np.abs(risk - attained) <= rounding  # the worst case attains its risk
        weights = weights_from_laplacian(self.laplacian)
        return np.asarray(
            risk + rounding + SUM * np.abs(risk)
            + safe_cost(self.prior, weights, self.degrees, SUM)
        )  # fmt: skip

    def bound(self, value: Array, share: float) -> Array:
        """Return the best bounds of the certificate and, if necessary, of the worst case.

        If the gaps of all problems are at most ``share``, no better bounds are tried.
        """
        given = np.stack([answer.certificate.degree_multipliers for answer in self.answers])  # type: ignore[misc, union-attr]
        given = given / self.units[:, np.newaxis] ** 2
        self.sure &= (np.abs(given) <= _LARGEST).all(axis=-1)
        if not self.prior.unbounded:
            self.sure &= (given < 0.0).all(axis=-1)
            given = np.where(given < 0.0, given, -1.0)
        multipliers = given, own_multipliers(self.prior, self.degrees)
        enough = max(ENOUGH, share) * np.maximum(np.abs(value - self.constant), self.floor)
        best = np.full(value.shape, -np.inf)
        centres = centres_of(self.form, self.normal)
        for pieces in (self._offered, self._own):
            points, usable = Points.inside(self.form, self.normal, centres, pieces())
            self.sure &= usable
            costs, slack = points.costs()
            lost = np.vecdot(slack, weights_from_laplacian(self.laplacian))
            self.sure &= lost <= WORTHWHILE * np.maximum(np.abs(value) - self.constant, _TINY)
            for nu in multipliers:
                levels = safe_levels(costs, nu, *edge_index(self.degrees.shape[-1]))
                best = np.maximum(best, best_dual(self.prior, levels, nu, None).value)
                if (value - best <= enough).all():
                    return best
        return best

    def _offered(self) -> Array:
        """Return the numbers of the certificates' moments, in the problems' units."""
        pieces = [
            self.form.piece(problem, answer.certificate.moment)  # type: ignore[union-attr]
            for problem, answer in zip(self.problems, self.answers, strict=True)
        ]
        stack = np.stack(pieces)  # type: ignore[arg-type]
        return stack / self.units.reshape(-1, *[1] * (stack.ndim - 1)) ** self.form.degree

    def _own(self) -> Array:
        """Return the numbers of the worst cases' moments; NaN for those of another form."""
        pieces = [
            self.form.piece(problem, worst.moment)
            for problem, worst in zip(self.normal, self.worst, strict=True)
        ]
        shape = next((piece.shape for piece in pieces if piece is not None), (1,))
        other = np.full(shape, np.nan)
        return np.stack([other if piece is None else piece for piece in pieces])

    def verdicts(self, enough: float) -> list[tuple[int, Verdict]]:
        """Return the verdicts on the answers that are on the usual path."""
        value = self.value()
        bound = self.bound(value, enough)
        self.sure &= np.isfinite(value) & np.isfinite(bound)
        found = self.residuals
        none = np.zeros_like(value)  # problems of a stack have no bounds to violate
        parts = found.symmetry, found.row_sums, found.sign, found.trace, none, found.repair
        figures = np.stack(parts, axis=1).tolist()
        excess = np.maximum(value - bound, 0.0)
        reach = np.array([problem.prior.reach(problem.d) for problem in self.normal])
        distance = (np.sqrt(reach * excess) + self.repair).tolist()
        square = self.units**2
        scaled = (value * square).tolist(), (bound * square).tolist()
        verdicts = []
        for place in np.flatnonzero(self.sure).tolist():
            problem, answer = self.problems[place], self.answers[place]
            verdicts.append((place, Verdict(
                scaled[0][place],
                scaled[1][place],
                Residuals(*figures[place]),
                0.0,
                problem.constant,
                problem.floor,
                distance[place],
                partial(_edges, problem, answer),
                (),
                partial(_certificate, problem, answer),
            )))  # fmt: skip
        return verdicts


def _edges(problem: GraphProblem, answer: Solution) -> Any:
    return judge(problem, answer).edges


def _certificate(problem: GraphProblem, answer: Solution) -> Any:
    return judge(problem, answer).certificate
