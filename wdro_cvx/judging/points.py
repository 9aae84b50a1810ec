"""Stacks of second moments in the form in which a set measures its points."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from wdro_cvx.ambiguity.kl import relative_entropy
from wdro_cvx.ambiguity.moment import MomentBall, entrywise_norm
from wdro_cvx.ambiguity.reweighting import divergence_above
from wdro_cvx.ambiguity.transport import rms_move
from wdro_cvx.judging.court import PULLS, USABLE
from wdro_cvx.judging.edge_costs import rows_costs, shift_costs, weights_costs
from wdro_cvx.moments.points import Moment, ReweighedMoment, TransportedMoment
from wdro_cvx.problem import GraphProblem
from wdro_cvx.stacks import flat
from wdro_cvx.validation import Array

_LARGEST = 1e30  # larger numbers are left to the judge of single answers


class Form(Enum):
    """The numbers that describe a point: moved rows, weights of the samples, or a shift."""

    ROWS = "rows"
    WEIGHTS = "weights"
    SHIFT = "shift"

    def piece(self, problem: GraphProblem, moment: Moment) -> Array | None:
        """Return the numbers of a moment; None if it has another form."""
        nominal = problem.nominal
        if self is Form.WEIGHTS:
            if type(moment) is not ReweighedMoment or nominal.samples is None:
                return None
            same = moment.samples is nominal.samples
            return (
                moment.weights if same or np.array_equal(moment.samples, nominal.samples) else None
            )
        if type(moment) is not TransportedMoment or moment.spread is not None:
            return None
        if self is Form.ROWS:
            plain = moment.shift is None and moment.moved.shape == nominal.factor.shape
            return moment.moved if plain else None
        if not (moment.moved is nominal.rows or np.array_equal(moment.moved, nominal.rows)):
            return None
        return np.zeros((problem.d, problem.d)) if moment.shift is None else moment.shift

    @property
    def degree(self) -> int:
        """The power by which the numbers scale with the data."""
        return {Form.ROWS: 1, Form.WEIGHTS: 0, Form.SHIFT: 2}[self]


@dataclass(frozen=True, eq=False)
class Points:
    """A stack of points of sets of one class, for normalised problems.

    ``centres`` are the numbers of the nominal moments, or 0 for shifts.
    """

    form: Form
    problems: list[GraphProblem]
    centres: Array | float
    pieces: Array

    @classmethod
    def inside(
        cls, form: Form, problems: list[GraphProblem], centres: Array | float, pieces: Array
    ) -> tuple[Points, NDArray[np.bool_]]:
        """Return the points pulled into their sets, and which of them are usable.

        The pulls are those of :func:`wdro_cvx.judging.court.pulled_inside`.
        """
        # NaN and infinity are not in range.
        usable = (flat(np.abs(pieces)) <= _LARGEST).all(axis=-1)
        radius = np.array([problem.ambiguity.radius for problem in problems])
        share, spare = np.ones(len(problems)), 1e-14
        points = cls(form, problems, centres, _kept(form, pieces))
        distance = points.distances()
        for _ in range(PULLS):
            out = ~(distance <= radius)
            if not out.any():
                break
            with np.errstate(invalid="ignore", divide="ignore"):
                share = np.where(out, share * (radius / distance) ** 2 * (1.0 - spare), share)
            spare *= 16.0
            factor = share.reshape(-1, *[1] * (pieces.ndim - 1))
            pulled = np.where(factor < 1.0, centres + factor * (pieces - centres), pieces)
            points = cls(form, problems, centres, _kept(form, pulled))
            distance = points.distances()
        usable &= (distance <= radius) & (share >= USABLE)
        return points, usable

    def distances(self) -> Array:
        """Return the distances from the nominal moments, rounded upwards."""
        if self.form is Form.ROWS:
            return rms_move(self.pieces - self.centres)
        if self.form is Form.WEIGHTS:
            spent = divergence_above(relative_entropy, self.pieces)
            return np.where(np.ptp(self.pieces, axis=-1) == 0.0, 0.0, spent)
        balls = [problem.ambiguity for problem in self.problems]
        order = balls[0].p if isinstance(balls[0], MomentBall) else 2.0
        return entrywise_norm(self.pieces, order)

    def costs(self) -> tuple[Array, Array]:
        """Return the costs of the edges, rounded downwards, and their slack."""
        nominals = [problem.nominal for problem in self.problems]
        if self.form is Form.ROWS:
            return rows_costs(nominals, self.pieces)
        if self.form is Form.WEIGHTS:
            return weights_costs(nominals, self.pieces)
        return shift_costs(nominals, self.pieces)


def centres_of(form: Form, problems: list[GraphProblem]) -> Array | float:
    """Return the numbers of the nominal moments."""
    if form is Form.ROWS:
        return np.stack([problem.nominal.factor for problem in problems])
    if form is Form.WEIGHTS:
        return 1.0 / len(problems[0].nominal.samples)  # type: ignore[arg-type]
    return 0.0


def _kept(form: Form, pieces: Array) -> Array:
    """Return weights that are nonnegative and sum to one, and other numbers unchanged."""
    if form is not Form.WEIGHTS:
        return pieces
    weights = np.maximum(pieces, 0.0)
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))
