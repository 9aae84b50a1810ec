"""Forged certificates: moments outside their set, and matrices that are no moments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from wdro_cvx import Certificate, GraphProblem
from wdro_cvx.moments.points import DenseMoment, MeanMoment, ReweighedMoment, TransportedMoment
from wdro_cvx.validation import Array

#: How far outside its set a forged moment is, relative to the radius.
EXCESSES = (1e-15, 1e-12, 1e-9, 1e-6, 1e-3, 1.0, 1e3)
#: The same for moments that are offered as matrices, which some sets take long to explain.
MATRIX_EXCESSES = (1e-9,)


def forge(
    problem: GraphProblem, laplacian: Array, rng: np.random.Generator
) -> Iterator[tuple[str, Certificate]]:
    """Yield forged certificates for one Laplacian, each with a name."""
    yield from forge_pieces(problem, laplacian)
    yield from _forge_others(problem, laplacian, rng)


def forge_pieces(problem: GraphProblem, laplacian: Array) -> Iterator[tuple[str, Certificate]]:
    """Yield worst cases of sets that are too large, as pieces and as matrices."""
    nominal, ambiguity = problem.nominal, problem.ambiguity
    nu = problem.prior.slope(np.diagonal(laplacian))
    for excess in EXCESSES:
        wide = ambiguity
        if ambiguity.radius > 0.0:
            wide = replace(ambiguity, radius=ambiguity.radius * (1.0 + excess))
        worst = wide.worst_case(nominal, laplacian)
        yield f"just outside, {excess:g}", Certificate(worst.moment, nu)
        if excess in MATRIX_EXCESSES:
            matrix = Certificate(DenseMoment(worst.second_moment), nu)
            yield f"just outside as a matrix, {excess:g}", matrix


def _forge_others(
    problem: GraphProblem, laplacian: Array, rng: np.random.Generator
) -> Iterator[tuple[str, Certificate]]:
    """Yield matrices that are no moments, and other rows, means, weights and samples."""
    nominal = problem.nominal
    d, theta = problem.d, nominal.second_moment
    nu = problem.prior.slope(np.diagonal(laplacian))
    size = float(np.abs(theta).max()) or 1.0
    skewed = theta + size * np.triu(rng.standard_normal((d, d)))
    yield "asymmetric", Certificate(DenseMoment(skewed), nu)
    noise = rng.standard_normal((d, d))
    yield "indefinite", Certificate(DenseMoment(theta + size * (noise + noise.T)), nu)
    yield "huge", Certificate(DenseMoment(theta + 1e30 * size * np.eye(d)), nu)
    other = nu * rng.standard_normal(d) * 10.0 ** rng.uniform(-3, 3)
    yield "other multipliers", Certificate(DenseMoment(theta), other)
    rows = nominal.factor
    yield "other rows", Certificate(TransportedMoment(rows[::-1] * 3.0, shift=size * np.eye(d)), nu)
    yield "too few rows", Certificate(TransportedMoment(3.0 * rows[:1], 5 * rows), nu)
    mean = nominal.mean
    yield "another mean", Certificate(MeanMoment(rows, 2.0 * mean, mean), nu)
    yield "other rows and a mean", Certificate(MeanMoment(2.0 * rows, mean, 0.0 * mean), nu)
    if nominal.samples is not None:
        samples = nominal.samples
        first, ones = np.eye(1, len(samples))[0], np.ones(len(samples))
        yield "all weight on one sample", Certificate(ReweighedMoment(samples, first), nu)
        yield "other samples", Certificate(ReweighedMoment(samples * 2.0, ones), nu)
