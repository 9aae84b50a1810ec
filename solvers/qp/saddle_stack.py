"""Steps of many interior-point methods at once (saddle.py), as stacks of equal sizes."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from solvers.qp.saddle import SaddlePoint, advance
from solvers.qp.saddle_model import CostTable, SaddleModel, ShareBall
from wdro_cvx.priors import stack_priors
from wdro_cvx.validation import Array

_MOST = 150  # cases; a stack eliminates the edges, even if there are more cases
_NUMBERS = 2**18  # entries of the cost tables in a stack, which fit into the cache


def stack_key(model: SaddleModel) -> Hashable:
    """Return a key that models must share to be stacked; it is unique if a model cannot be."""
    prior, tiles = model.prior, list(model.spread.tiles())
    bounded = model.lower.any() or np.isfinite(model.width).any()
    plain = not bounded and isinstance(model.incidence, np.ndarray)
    if (
        np.isfinite(model.ball.most).any()
        or model.spread.count > _MOST
        or len(tiles) > 1
        or not plain
    ):
        return id(model)
    rule = prior.trace.fixed, prior.trace.free, model.softness
    return tiles[0][2].shape, rule, prior.alpha == 0.0, prior.kappa == 0.0


def advance_all(
    models: Sequence[SaddleModel], points: Sequence[SaddlePoint]
) -> list[tuple[SaddlePoint, float]]:
    """Return what :func:`advance` returns for models with one :func:`stack_key`."""
    size = max(_NUMBERS // (models[0].spread.count * models[0].width.size), 1)
    found: list[tuple[SaddlePoint, float]] = []
    for first in range(0, len(models), size):
        part = slice(first, first + size)
        found += _advance(models[part], points[part])
    return found


def _advance(
    models: Sequence[SaddleModel], points: Sequence[SaddlePoint]
) -> list[tuple[SaddlePoint, float]]:
    sizes = points[0].sizes
    stack = SaddlePoint(
        sizes,
        np.stack([point.ours for point in points]),
        np.stack([point.theirs for point in points]),
        np.array([point.tau for point in points]),
        np.array([point.theta for point in points]),
    )
    moved, lengths = advance(_stacked(models), stack)
    numbers = moved.tau.tolist(), moved.theta.tolist(), lengths.tolist()
    return [
        (SaddlePoint(sizes, ours, theirs, tau, theta), length)
        for ours, theirs, tau, theta, length in zip(moved.ours, moved.theirs, *numbers, strict=True)
    ]


def _stacked(models: Sequence[SaddleModel]) -> SaddleModel:
    first = models[0]
    tables = [tile for model in models for _, _, tile in model.spread.tiles()]
    return SaddleModel(
        ball=_Balls([model.ball for model in models]),
        prior=stack_priors([model.prior for model in models]),
        total=np.array([model.total for model in models]),
        softness=first.softness,
        spread=CostTable(np.stack(tables), first.spread.heads, first.spread.tails),
        incidence=first.incidence,
        free=first.free,
        width=first.width,
        lower=first.lower,
        losses=first.losses,  # without bounds they are zero, like the degrees
        degrees=first.degrees,
        scale=1.0,
        price=1.0,
    )


@dataclass(frozen=True, eq=False)
class _Balls:
    """The balls of a stack of models."""

    balls: list[ShareBall]

    @cached_property
    def shares(self) -> Array:
        return np.stack([ball.shares for ball in self.balls])

    @property
    def most(self) -> Array:
        return self.balls[0].most

    @cached_property
    def radius(self) -> Any:
        return np.array([ball.radius for ball in self.balls])

    @cached_property
    def _common(self) -> Any:
        """The divergence of all balls, if it takes stacks of ratios; None if it does not."""
        found = [getattr(ball, "stackable", None) for ball in self.balls]
        return found[0] if len(set(map(type, found))) == 1 else None

    def divergence(self, shares: Array) -> Any:
        if self._common is not None:
            return self._common.divergence(shares / self.shares)
        return np.array([ball.divergence(q) for ball, q in zip(self.balls, shares, strict=True)])

    def slope(self, shares: Array) -> Array:
        if self._common is not None:
            return self._common.slope(shares / self.shares)
        return np.stack([ball.slope(q) for ball, q in zip(self.balls, shares, strict=True)])

    def bend(self, shares: Array) -> Array:
        if self._common is not None:
            return self._common.bend(shares / self.shares) / self.shares
        return np.stack([ball.bend(q) for ball, q in zip(self.balls, shares, strict=True)])
