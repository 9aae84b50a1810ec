"""Check in exact arithmetic that a graph is optimal.

    python -I -S verify.py proof.json

A proof file holds a problem, a graph and a certificate (docs/proofs.md describes the format). The
problem is to minimise ``R(L) + prior(L) + terms(L)`` over graph Laplacians L, where ``R(L) = max
⟨M, L⟩`` over an ambiguity set of second moments M, and terms are convex. This program proves

    bound ≤ optimum ≤ value

in three steps, each of which is one section below.

Value.  The graph of the proof is feasible, so its objective is at least the optimum. The objective
        contains a maximum over the set, which weak duality bounds from above.
Bound.  For every M in the set and all multipliers ν and τ the dual function of the problem is at
        most the optimum. The proof offers M, ν and τ; the set is checked to contain M. A term is
        replaced by a linear function below it, which the proof offers too.
Edges.  The objective is strongly convex, so value - bound limits how far each weight of the optimal
        graph is from the weights of the proof.

Nothing is rounded: every floating-point number is an integer divided by a power of two, and all
sums and products are those of integers and fractions. Square roots, logarithms and powers are
replaced by fractions that are proved to lie above or below. Floating-point arithmetic only produces
guesses, and each guess is verified before it is used.
"""

import argparse
import hashlib
import json
import os
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from io import TextIOWrapper
from itertools import combinations, islice, pairwise
from math import inf, isfinite, isqrt, lcm, ldexp
from operator import mul
from typing import Any, NoReturn

FORMAT, VERSION = "wdro-cvx proof", 1
MOST_BYTES = 1 << 28  # of a file
MOST_PRODUCTS = 10**10  # of integers; more would take hours
MOST_PARTS = 20  # of a CombinedSet
DIGITS = 60  # of logarithms and exponentials
FINE = 1 << 60  # guesses are rounded to multiples of 1/FINE of their size

PART = ["moment", "multiplier", "top"]  # the members of a certificate that belong to a set

Vector = list[int]
Rows = list[Vector]
Pair = tuple[int, int]
Interval = tuple[Fraction, Fraction | None]  # from, and to; None is no limit


class RefusedError(Exception):
    """Raised if the file proves nothing; the message gives the reason."""


# ------------------------------------------------------------------ numbers


def integers(values: Iterable[float]) -> tuple[Vector, int]:
    """Return integers n and an exponent b such that every value is exactly ``n / 2**b``."""
    ratios = [value.as_integer_ratio() for value in values]
    bits = max((below.bit_length() - 1 for _, below in ratios), default=0)
    return [above << (bits + 1 - below.bit_length()) for above, below in ratios], bits


def table_of(rows: Sequence[Sequence[float]], columns: int) -> tuple[Rows, int]:
    """Return the rows of a table as integers over ``2**b``, and b."""
    flat, bits = integers(value for row in rows for value in row)
    return [flat[k : k + columns] for k in range(0, len(flat), columns)], bits


def dot(first: Sequence[int], second: Sequence[int]) -> int:
    """Return the inner product."""
    return sum(map(mul, first, second))


def root_above(square: Fraction) -> Fraction:
    """Return a fraction that is at least the square root, by at most one part in 2**126."""
    if square == 0:
        return square
    shift = max(0, 256 + square.denominator.bit_length() - square.numerator.bit_length())
    shift += shift % 2
    return Fraction(isqrt((square.numerator << shift) // square.denominator) + 1, 1 << shift // 2)


def share_within(limit: Fraction, size: Fraction) -> Fraction:
    """Return a share s, 0 ≤ s ≤ 1, such that ``s·size ≤ limit``, less than 1/FINE too small."""
    return Fraction(1) if size <= limit else Fraction(int(limit / size * FINE), FINE)


DOWN, UP = (Context(DIGITS, way, traps=[]) for way in (ROUND_FLOOR, ROUND_CEILING))
LAST = Fraction(1, 10 ** (DIGITS - 5))  # more than the relative error of a logarithm


def log_between(x: Fraction) -> tuple[Fraction, Fraction]:
    """Return fractions around the logarithm of a positive number.

    Logarithms of decimals are correctly rounded, and the quotient is rounded outwards. A quotient
    beyond the range of decimals becomes infinite or zero. Its logarithm is then infinite, which is
    not a Fraction, and the proof is refused.
    """
    above, below = Decimal(x.numerator), Decimal(x.denominator)
    low = Fraction(DOWN.ln(DOWN.divide(above, below)))
    high = Fraction(UP.ln(UP.divide(above, below)))
    return low - LAST * (abs(low) + 1), high + LAST * (abs(high) + 1)


def exp_above(x: Fraction) -> Fraction:
    """Return a fraction that is at least the exponential."""
    if x < -1000:
        return Fraction(1, 10**400)  # more than the exponential, and too little to count
    power = Fraction(UP.exp(UP.divide(Decimal(x.numerator), Decimal(x.denominator))))
    return power * (1 + LAST)


def power_above(x: Fraction, exponent: Fraction) -> Fraction:
    """Return a fraction that is at least ``x**exponent``, for x ≥ 0 and a positive exponent."""
    if x in (0, 1):
        return x
    return exp_above(exponent * log_between(x)[1])


def norm_above(sizes: Mapping[Fraction, int], order: Fraction | None) -> Fraction:
    """Return a fraction that is at least the norm of numbers ≥ 0.

    ``sizes`` says how often each number occurs. The order is at least 1, or None for infinity.
    """
    largest = max(sizes, default=Fraction(0))
    if order is None or largest == 0:
        return largest
    if order == 1:
        return sum((size * count for size, count in sizes.items()), Fraction(0))
    if order == 2:
        return root_above(sum((size**2 * count for size, count in sizes.items()), Fraction(0)))
    powers = (power_above(size / largest, order) * count for size, count in sizes.items())
    return largest * power_above(sum(powers, Fraction(0)), 1 / order)


# ------------------------------------------------------------------ the problem


@dataclass(frozen=True)
class Table:
    """Signals, integers over ``2**bits``, with the second moment ``Θ = Σ weight·x xᵀ / total``."""

    rows: Rows
    bits: int
    weights: Vector
    total: int

    @property
    def denominator(self) -> int:
        """The denominator of sums of weighted products of entries."""
        return self.total << 2 * self.bits

    def moved(self, moves: "Table") -> "Table":
        """Return the table with a move added to every signal."""
        bits = max(self.bits, moves.bits)
        up, up_moves = bits - self.bits, bits - moves.bits
        rows = [
            [(x << up) + (move << up_moves) for x, move in zip(row, change, strict=True)]
            for row, change in zip(self.rows, moves.rows, strict=True)
        ]
        return replace(self, rows=rows, bits=bits)


@dataclass(frozen=True)
class PairNumbers:
    """A number for every pair of vertices, in their order: integers over a denominator."""

    numerators: Vector
    denominator: int

    def times(self, factor: Fraction) -> "PairNumbers":
        """Return the numbers times a factor."""
        above, below = factor.numerator, factor.denominator
        return PairNumbers([above * n for n in self.numerators], below * self.denominator)

    def __add__(self, other: "PairNumbers") -> "PairNumbers":
        """Return the sums, pair by pair."""
        common = self.denominator * other.denominator
        pairs = zip(self.numerators, other.numerators, strict=True)
        return PairNumbers([a * other.denominator + b * self.denominator for a, b in pairs], common)


def costs_of(table: Table) -> PairNumbers:
    """Return the cost ``M_ii + M_jj - 2M_ij`` of every pair; M is the second moment of a table."""
    columns = list(zip(*table.rows, strict=True))
    weighted = [list(map(mul, table.weights, column)) for column in columns]
    squares = [dot(left, right) for left, right in zip(weighted, columns, strict=True)]
    numerators = [
        squares[i] + squares[j] - 2 * dot(weighted[i], columns[j])
        for i, j in combinations(range(len(columns)), 2)
    ]
    return PairNumbers(numerators, table.denominator)


@dataclass(frozen=True)
class Graph:
    """A graph by its edges and weights; the feasible weights are ``scale`` times these."""

    d: int
    pairs: list[Pair]
    weights: Vector
    bits: int
    scale: Fraction

    @property
    def degrees(self) -> Vector:
        """The degrees, in the unit of the weights."""
        found = [0] * self.d
        for (i, j), weight in zip(self.pairs, self.weights, strict=True):
            found[i] += weight
            found[j] += weight
        return found

    def image(self, signal: Sequence[int]) -> Vector:
        """Return the product of the Laplacian with a signal, in the unit of both."""
        found = [0] * self.d
        for (i, j), weight in zip(self.pairs, self.weights, strict=True):
            flow = weight * (signal[i] - signal[j])
            found[i] += flow
            found[j] -= flow
        return found


@dataclass(frozen=True)
class Prior:
    """``2β‖w‖² + Σ κu² - α log u`` over weights w and degrees u, and the rule of the trace."""

    beta: Fraction
    kappa: Fraction
    alpha: Fraction
    trace: Fraction | None = None  # None where it is free
    penalty: Fraction | None = None  # None where it is fixed or free

    @property
    def fixed(self) -> bool:
        """Whether every graph has this trace."""
        return self.trace is not None and self.penalty is None


@dataclass(frozen=True)
class Term:
    """A convex term ``α·h(L)``: its kind, its weight and its matrix, if it has one."""

    kind: str
    alpha: Fraction
    matrix: list[list[float]]


@dataclass(frozen=True)
class Ambiguity:
    """An ambiguity set: its kind, its radius and the other parameters of its kind."""

    kind: str
    radius: Fraction
    scales: list[float]  # of the vertices, all one where the set has none; of pairs in a PairBall
    coordinates: list[list[float]] | None  # T where distances are those of y in x = Ty
    order: Fraction | None  # p of a MomentBall; None is infinity
    mean_radius: Fraction
    covariance_radius: Fraction
    parts: list[tuple[Fraction, "Ambiguity"]] = field(default_factory=list)  # of a CombinedSet

    @property
    def reweighs(self) -> bool:
        """Whether the set, or a part of it, changes the weights of the signals."""
        kinds = {self.kind, *(part.kind for _, part in self.parts)}
        return not kinds.isdisjoint(REWEIGHING)


@dataclass(frozen=True)
class Evidence:
    """The certificate: a moment in the form of its set, and multipliers."""

    moment: dict[str, Any]
    nu: list[float]
    tau: float
    multiplier: float  # a guess of the dual variable of the radius
    top: float  # a guess of the largest eigenvalue
    slopes: list[list[list[float]]] = field(default_factory=list)  # one matrix for every term
    parts: list["Evidence"] = field(default_factory=list)  # of every part of a CombinedSet


@dataclass(frozen=True)
class Proof:
    """The contents of a proof file, with exact numbers."""

    d: int
    table: Table
    mean: list[Fraction]
    ambiguity: Ambiguity
    prior: Prior
    bounds: dict[Pair, Interval]
    absent: bool  # whether pairs without bounds are absent, rather than free
    graph: Graph
    certificate: Evidence
    threshold: Fraction
    nominal: PairNumbers  # the costs of the pairs at radius 0
    holes: Fraction | None  # see holes_error
    terms: list[Term]

    @property
    def every(self) -> Iterator[Pair]:
        """All pairs of vertices, in the order of PairNumbers."""
        return combinations(range(self.d), 2)

    def interval(self, pair: Pair) -> Interval:
        """Return the least and the largest weight that a pair may have; None is no limit."""
        return self.bounds.get(pair, (Fraction(0), Fraction(0) if self.absent else None))

    @property
    def parts(self) -> Iterator[tuple[Fraction, "Proof"]]:
        """The factors of a CombinedSet, each with the proof for its part alone."""
        pairs = zip(self.ambiguity.parts, self.certificate.parts, strict=True)
        for (factor, part), evidence in pairs:
            yield factor, replace(self, ambiguity=part, certificate=evidence)


# ------------------------------------------------------------------ value


def value_of(proof: Proof) -> Fraction:
    """Return a number that is at least the objective of the feasible graph.

    R is the maximum of linear functions, so ``R(scale·L) = scale·R(L)``.
    """
    graph, prior = proof.graph, proof.prior
    unit = Fraction(1, 1 << graph.bits) * graph.scale
    weights, degrees = graph.weights, graph.degrees
    value = graph.scale * risk_of(proof)
    value += 2 * prior.beta * unit**2 * dot(weights, weights)
    value += prior.kappa * unit**2 * dot(degrees, degrees)
    if prior.alpha:
        for vertex, degree in enumerate(degrees):
            if degree <= 0:
                raise RefusedError(f"vertex {vertex} has no edge, so the objective is infinite.")
            value -= prior.alpha * log_between(unit * degree)[0]
    if prior.penalty is not None:
        assert prior.trace is not None
        value += prior.penalty * (unit * sum(degrees) - prior.trace) ** 2
    return value + sum((TERMS[term.kind].value(term, graph) for term in proof.terms), Fraction(0))


def risk_of(proof: Proof) -> Fraction:
    """Return a number that is at least ``R(L)``, for the graph as it is given."""
    graph, ambiguity = proof.graph, proof.ambiguity
    radius, kind = ambiguity.radius, ambiguity.kind
    index = {pair: k for k, pair in enumerate(proof.every)}
    used = [proof.nominal.numerators[index[pair]] for pair in graph.pairs]
    below = proof.nominal.denominator << graph.bits
    average = Fraction(dot(graph.weights, used), below)  # ⟨Θ, L⟩
    if radius == 0 or not any(graph.weights):
        return average
    if kind == "CombinedSet":  # premiums add, each times its factor, which is not negative
        premiums = (factor * (risk_of(part) - average) for factor, part in proof.parts)
        return average + sum(premiums, Fraction(0))
    if kind in REWEIGHING:
        return REWEIGHING[kind](proof)
    if kind == "PairBall":
        scales, bits = integers(ambiguity.scales[index[pair]] for pair in graph.pairs)
        return average + radius * Fraction(dot(graph.weights, scales), 1 << bits + graph.bits)
    if kind == "MomentBall" and ambiguity.coordinates is not None:
        frame = frame_of(ambiguity, proof.d)
        matrix = [frame.into(graph.image(column)) for column in frame.columns]  # TᵀLT
        above = (row[j] for i, row in enumerate(matrix) for j in range(i + 1, proof.d))
        diagonal = [row[i] for i, row in enumerate(matrix)]
        sizes = entry_sizes(diagonal, above, graph.bits + 2 * frame.bits)
    else:
        sizes = entry_sizes(graph.degrees, graph.weights, graph.bits)
    if kind == "MomentBall":
        return average + radius * norm_above(sizes, conjugate(ambiguity.order))
    if kind == "MomentUncertainty":
        average += radius * ambiguity.covariance_radius * norm_above(sizes, Fraction(2))
        return average + premium(proof, common_row(proof.mean), radius * ambiguity.mean_radius)
    return average + premium(proof, proof.table, radius)


def entry_sizes(diagonal: Vector, above: Iterable[int], bits: int) -> dict[Fraction, int]:
    """Return the sizes of the entries of a symmetric matrix, with how often each occurs."""
    counts = Counter(map(abs, diagonal))
    for entry in above:
        counts[abs(entry)] += 2
    return {Fraction(entry, 1 << bits): count for entry, count in counts.items()}


def conjugate(order: Fraction | None) -> Fraction | None:
    """Return q with ``1/p + 1/q = 1``; None stands for infinity."""
    if order is None:
        return Fraction(1)
    return None if order == 1 else order / (order - 1)


def common_row(values: list[Fraction]) -> Table:
    """Return one signal of fractions as a table: integers over a common denominator."""
    common = lcm(*(value.denominator for value in values))
    row = [value.numerator * (common // value.denominator) for value in values]
    return Table([row], 0, [1], common**2)


def premium(proof: Proof, table: Table, radius: Fraction) -> Fraction:
    """Return at least the premium of a set that moves signals by ``radius`` in root mean square.

    Signals are ``x = Ty``, T the diagonal matrix of the vertices' scales or a full one. With
    ``K = TᵀLT``, ``b = TᵀLx`` for every signal x and γI ≻ K, the premium is at most
    ``γε² + mean bᵀ(γI - K)⁻¹b``. For any y, with ``r = b - (γI - K)y``,

        bᵀ(γI - K)⁻¹b  =  yᵀ(b + r) + rᵀ(γI - K)⁻¹r  ≤  yᵀ(b + r) + ‖r‖²/(γ - λ)

    where λ < γ is no less than any eigenvalue of K. So y may be any guess.
    """
    graph = proof.graph
    frame = frame_of(proof.ambiguity, proof.d)
    bits, unit = frame.bits, graph.bits + 2 * frame.bits
    matrix = [frame.into(graph.image(column)) for column in frame.columns]  # K over 2**unit
    top, gamma = eigenvalue_limit(matrix, unit, proof.certificate)
    factor = cholesky(shifted(matrix, unit, gamma))
    if factor is None:
        raise RefusedError("the multiplier is too close to the largest eigenvalue.")
    # b is over 2**(table.bits + graph.bits + bits), and r is computed over 2**fine.
    sides = [frame.into(graph.image(row)) for row in table.rows]
    side_bits = table.bits + graph.bits + bits
    guesses = [solved(factor, [n / (1 << side_bits) for n in side]) for side in sides]
    guess_bits = fineness(guesses)
    numerator, gamma_bits = gamma.numerator, gamma.denominator.bit_length() - 1
    fine = max(side_bits, guess_bits + max(unit, gamma_bits))
    down, down_gamma = fine - guess_bits - unit, fine - guess_bits - gamma_bits
    form = rest = 0
    for side, guess, weight in zip(sides, guesses, table.weights, strict=True):
        y = [int(ldexp(value, guess_bits)) for value in guess]
        b = [n << fine - side_bits for n in side]
        image = frame.into(graph.image(frame.out(y)))  # Ky
        r = [
            above - (numerator * n << down_gamma) + (pulled << down)
            for above, n, pulled in zip(b, y, image, strict=True)
        ]
        form += weight * sum(n * (above + left) for n, above, left in zip(y, b, r, strict=True))
        rest += weight * dot(r, r)
    forms = Fraction(form, table.total << guess_bits + fine)
    return gamma * radius**2 + forms + Fraction(rest, table.total << 2 * fine) / (gamma - top)


@dataclass(frozen=True)
class Frame:
    """The columns of T in ``x = Ty``, integers over ``2**bits``."""

    columns: Rows
    bits: int
    diagonal: Vector | None  # of T, if it is diagonal

    def into(self, vector: Vector) -> Vector:
        """Return ``Tᵀv``."""
        if self.diagonal is not None:
            return list(map(mul, self.diagonal, vector))
        return [dot(column, vector) for column in self.columns]

    def out(self, vector: Vector) -> Vector:
        """Return ``Ty``."""
        if self.diagonal is not None:
            return list(map(mul, self.diagonal, vector))
        return [dot(row, vector) for row in zip(*self.columns, strict=True)]


def frame_of(ambiguity: Ambiguity, d: int) -> Frame:
    """Return the coordinates in which moves cost their squares."""
    if ambiguity.coordinates is not None:
        rows, bits = table_of(ambiguity.coordinates, d)
        return Frame([list(column) for column in zip(*rows, strict=True)], bits, None)
    scales, bits = integers(ambiguity.scales)
    columns = [[scale if i == j else 0 for j in range(d)] for i, scale in enumerate(scales)]
    return Frame(columns, bits, scales)


def eigenvalue_limit(matrix: Rows, bits: int, hints: Evidence) -> tuple[Fraction, Fraction]:
    """Return a proved upper limit of the eigenvalues, and a multiplier γ above it.

    If ``λI - A = CCᵀ + E`` then no eigenvalue of A exceeds λ by more than the largest row sum of
    ``|E|``. C is a guess by floating-point Cholesky factorisation, E is exact.
    """
    top, gamma = Fraction(hints.top), Fraction(hints.multiplier)
    if top <= 0:
        raise RefusedError("certificate.top must be positive: it guesses the largest eigenvalue.")
    for power in (42, 38, 34, 30, 26, 20, 14, 8, 2):
        level = Fraction(float(top + max((gamma - top) / 2, top / 2**power)))
        factor = cholesky(shifted(matrix, bits, level))
        if factor is None:
            continue
        fine = fineness(factor)
        grid = [[int(ldexp(value, fine)) for value in row] for row in factor]
        common = max(2 * fine, bits, level.denominator.bit_length() - 1)
        whole = int(level * (1 << common))
        errors = [0] * len(matrix)
        for i, row in enumerate(grid):
            for j in range(i + 1):
                entry = (whole if i == j else 0) - (matrix[i][j] << common - bits)
                error = abs(entry - (dot(row[: j + 1], grid[j]) << common - 2 * fine))
                errors[i] += error
                errors[j] += error if i != j else 0
        limit = level + Fraction(max(errors), 1 << common)
        gamma = max(gamma, Fraction(float(limit + limit / 2**42)))
        if gamma <= limit:
            raise RefusedError("the weights of the graph are too small.")
        return limit, gamma
    raise RefusedError("certificate.top is below the largest eigenvalue of the graph.")


def shifted(matrix: Rows, bits: int, level: Fraction) -> list[list[float]]:
    """Return the lower triangle of ``level·I - A`` in floating point."""
    whole, below = int(level * (1 << bits + 64)), 1 << bits + 64
    return [
        [((whole if i == j else 0) - (row[j] << 64)) / below for j in range(i + 1)]
        for i, row in enumerate(matrix)
    ]


def cholesky(lower: list[list[float]]) -> list[list[float]] | None:
    """Return the rows of a Cholesky factor in floating point, or None if there is none."""
    factor: list[list[float]] = []
    for i, row in enumerate(lower):
        found: list[float] = []
        for j in range(i):
            left = row[j] - sum(map(mul, found, factor[j]))
            found.append(left / factor[j][j])
        pivot = row[i] - sum(map(mul, found, found))
        if not pivot > 0.0:
            return None
        factor.append([*found, pivot**0.5])
    return factor


def solved(factor: list[list[float]], side: list[float]) -> list[float]:
    """Return the solution of ``CCᵀy = b`` in floating point."""
    y: list[float] = []
    for row, b in zip(factor, side, strict=True):
        y.append((b - sum(map(mul, row, y))) / row[-1])
    for i in range(len(y) - 1, -1, -1):
        y[i] /= factor[i][i]
        for j, entry in enumerate(factor[i][:i]):
            y[j] -= entry * y[i]
    return y


def fineness(rows: Sequence[Sequence[float]]) -> int:
    """Return an exponent b such that ``2**-b`` is a small part of the largest entry."""
    largest = max((abs(value) for row in rows for value in row), default=0.0)
    if not largest < float("inf"):
        raise RefusedError("the numbers of the proof are too far apart.")
    if largest == 0.0:
        return 0
    above, below = largest.as_integer_ratio()
    return max(0, 62 + below.bit_length() - above.bit_length())


# ------------------------------------------------------------------ value: reweighed signals


def losses_of(proof: Proof) -> dict[Fraction, int]:
    """Return the smoothness ``xᵀLx`` of every signal, with how many signals have it."""
    table, graph = proof.table, proof.graph
    below = 1 << 2 * table.bits + graph.bits
    counts: Counter[int] = Counter()
    for row, weight in zip(table.rows, table.weights, strict=True):
        counts[dot(row, graph.image(row))] += weight
    return {Fraction(loss, below): count for loss, count in counts.items()}


def risk_kl(proof: Proof) -> Fraction:
    """Return at least the risk of a Kullback-Leibler ball.

    It is at most ``εt + t log mean exp(loss/t)`` for every t > 0, and at most the largest loss.
    """
    losses, t = losses_of(proof), Fraction(proof.certificate.multiplier)
    worst = max(losses)
    if t <= 0:
        return worst
    total = sum((n * exp_above((loss - worst) / t) for loss, n in losses.items()), Fraction(0))
    return min(
        worst, worst + t * (proof.ambiguity.radius + log_between(total / proof.table.total)[1])
    )


def risk_chi_square(proof: Proof) -> Fraction:
    """Return at least the risk of a chi-square ball.

    For all t > 0 and θ it is at most ``θ + εt + mean g(loss - θ)``, where ``g(z) = z + z²/4t`` for
    ``z ≥ -2t`` and ``-t`` below, and it is at most the largest loss.
    """
    losses, t = losses_of(proof), Fraction(proof.certificate.multiplier)
    worst = max(losses)
    if t <= 0:
        return worst
    theta = Fraction(float(guessed_level(losses, t)))
    total = Fraction(0)
    for loss, count in losses.items():
        z = loss - theta
        total += count * (z + z * z / (4 * t) if z > -2 * t else -t)
    return min(worst, theta + proof.ambiguity.radius * t + total / proof.table.total)


def guessed_level(losses: dict[Fraction, int], t: Fraction) -> Fraction:
    """Return nearly the θ at which the ratios ``(1 + (loss - θ)/2t)₊`` have mean one."""
    count, weighted = 0, Fraction(0)
    total = sum(losses.values())
    for loss in sorted(losses, reverse=True):
        if count and 2 * t + loss <= (weighted + 2 * t * (count - total)) / count:
            break
        count += losses[loss]
        weighted += losses[loss] * loss
    return (weighted + 2 * t * (count - total)) / count


def risk_hellinger(proof: Proof) -> Fraction:
    """Return at least the risk of a Hellinger ball.

    For all t > 0 and θ above the largest loss it is at most
    ``θ - (2 - ε)t + t² mean 1/(θ - loss)``, and it is at most the largest loss.
    """
    losses, t = losses_of(proof), Fraction(proof.certificate.multiplier)
    worst, total = max(losses), proof.table.total
    if t <= 0:
        return worst
    # The best θ has mean t²/(θ - loss)² = 1; the distance from the largest loss is at most t.
    low, high = 0.0, float(t)
    gaps = [(float(worst - loss), count) for loss, count in losses.items()]
    for _ in range(200):
        middle = (low + high) / 2
        spent = sum(n * (float(t) / (middle + gap)) ** 2 for gap, n in gaps) if middle else inf
        low, high = (middle, high) if spent > total else (low, middle)
    theta = worst + Fraction(high)
    mean = sum((Fraction(n) / (theta - loss) for loss, n in losses.items()), Fraction(0)) / total
    return min(worst, theta - (2 - proof.ambiguity.radius) * t + t * t * mean)


def risk_cvar(proof: Proof) -> Fraction:
    """Return the risk of a CVaR ball, ``θ + (1 + ε) mean (loss - θ)₊`` for the best loss θ."""
    losses, most = losses_of(proof), 1 + proof.ambiguity.radius
    theta, mean = upper_mean(losses, proof.table.total / most)
    return theta + most * mean / proof.table.total


def risk_total_variation(proof: Proof) -> Fraction:
    """Return the risk of a total variation ball.

    It is ``θ + ε(max - θ) + mean (loss - θ)₊`` for the best loss θ.
    """
    losses, radius = losses_of(proof), proof.ambiguity.radius
    theta, mean = upper_mean(losses, (1 - radius) * proof.table.total)
    return theta + radius * (max(losses) - theta) + mean / proof.table.total


def upper_mean(losses: dict[Fraction, int], count: Fraction) -> tuple[Fraction, Fraction]:
    """Return the loss θ that about ``count`` losses reach, and the sum of ``(loss - θ)₊``."""
    reached, theta = 0, max(losses)
    for loss in sorted(losses, reverse=True):
        theta, reached = loss, reached + losses[loss]
        if reached >= count:
            break
    above = (n * (loss - theta) for loss, n in losses.items() if loss > theta)
    return theta, sum(above, Fraction(0))


REWEIGHING: dict[str, Callable[[Proof], Fraction]] = {
    "KLBall": risk_kl,
    "ChiSquareBall": risk_chi_square,
    "HellingerBall": risk_hellinger,
    "CVaRBall": risk_cvar,
    "TotalVariationBall": risk_total_variation,
}


# ------------------------------------------------------------------ terms


def log_det_below(matrix: Rows, below: int) -> Fraction:
    """Return at most ``log det A`` of a symmetric matrix A of integers over ``below``.

    For any triangular C, ``B = CACᵀ`` has ``log det A = log det B - 2 Σ log c_ii``. If every
    diagonal entry of B exceeds the sum of the absolute values of the others in its row, then A is
    positive definite and ``det B`` is at least the product of the differences (Ostrowski 1937).
    C is a guess, the inverse of a Cholesky factor in floating point; B is exact.
    """
    d = len(matrix)
    factor = cholesky([[entry / below for entry in row[: i + 1]] for i, row in enumerate(matrix)])
    if factor is None:
        raise RefusedError("a matrix under a logarithm is not positive definite.")
    inverse = [forward(factor, k) for k in range(d)]  # columns of C
    rows = [[inverse[k][i] for k in range(i + 1)] for i in range(d)]
    fine = fineness(rows)
    grid = [[int(ldexp(value, fine)) for value in row] for row in rows]
    images = [[dot(row, line) for line in matrix] for row in grid]  # CA; rows of C are short
    total = Fraction(0)
    for i, image in enumerate(images):
        entries = [dot(row, image) for row in grid]  # the i-th row of CACᵀ
        margin = 2 * entries[i] - sum(map(abs, entries))
        if margin <= 0 or grid[i][i] <= 0:
            raise RefusedError("a matrix under a logarithm is too close to a singular one.")
        scaled = Fraction(margin, below << 2 * fine)
        total += log_between(scaled / Fraction(grid[i][i], 1 << fine) ** 2)[0]
    return total


def forward(factor: list[list[float]], k: int) -> list[float]:
    """Return the k-th column of the inverse of a triangular matrix, in floating point."""
    found = [0.0] * k
    for i in range(k, len(factor)):
        row = factor[i]
        above = (1.0 if i == k else 0.0) - sum(map(mul, row[k:i], found[k:]))
        found.append(above / row[i])
    return found


def pair_costs(matrix: Rows) -> Vector:
    """Return ``M_ii + M_jj - 2M_ij`` for every pair."""
    ends = combinations(range(len(matrix)), 2)
    return [matrix[i][i] + matrix[j][j] - 2 * matrix[i][j] for i, j in ends]


class LogDet:
    """``-α log det(L + 11ᵀ/d)``; a slope Y, negative definite, has a conjugate."""

    @staticmethod
    def value(term: Term, graph: Graph) -> Fraction:
        """Return at least the term at a graph.

        On signals of sum zero ``L + 11ᵀ/d`` is L, so the scale s adds ``(d - 1) log s``.
        """
        d, one = graph.d, 1 << graph.bits
        matrix = [[one] * d for _ in range(d)]  # d·2**bits·(L + 11ᵀ/d)
        for (i, j), weight in zip(graph.pairs, graph.weights, strict=True):
            matrix[i][j] = matrix[j][i] = one - d * weight
        for i, degree in enumerate(graph.degrees):
            matrix[i][i] = one + d * degree
        logs = log_det_below(matrix, d << graph.bits) + (d - 1) * log_between(graph.scale)[0]
        return -term.alpha * logs

    @staticmethod
    def minorant(term: Term, slope: Rows, bits: int) -> tuple[PairNumbers, Fraction]:
        """Return the costs of a slope Y, and ``-⟨Y, 11ᵀ/d⟩ - α(log det(-Y/α) + d)``."""
        d = len(slope)
        logs = log_det_below([[-n for n in row] for row in slope], 1 << bits)
        logs -= d * log_between(term.alpha)[1]
        mean = Fraction(sum(map(sum, slope)), d << bits)
        return PairNumbers(pair_costs(slope), 1 << bits), -mean - term.alpha * (logs + d)


class KnownGraph:
    """``α‖L - L₀‖²``; the conjugate of a slope Y is ``⟨Y, L₀⟩ + ‖Y‖²/4α``."""

    @staticmethod
    def value(term: Term, graph: Graph) -> Fraction:
        """Return the term at a graph."""
        total = Fraction(0)
        for row, known in zip(laplacian_of(graph), term.matrix, strict=True):
            total += sum((x - Fraction(y)) ** 2 for x, y in zip(row, known, strict=True))
        return term.alpha * total

    @staticmethod
    def minorant(term: Term, slope: Rows, bits: int) -> tuple[PairNumbers, Fraction]:
        """Return the costs of a slope, and its conjugate."""
        known, unit = table_of(term.matrix, len(slope))
        line = Fraction(sum(map(dot, slope, known)), 1 << bits + unit)
        square = Fraction(sum(dot(row, row) for row in slope), 1 << 2 * bits)
        return PairNumbers(pair_costs(slope), 1 << bits), line + square / (4 * term.alpha)


class KnownEdges:
    """``α Σ |w - w₀|``, which is at least ``Σ y(w - w₀)`` for all y between -α and α."""

    @staticmethod
    def value(term: Term, graph: Graph) -> Fraction:
        """Return the term at a graph."""
        own = dict(zip(graph.pairs, graph.weights, strict=True))
        unit = graph.scale / (1 << graph.bits)
        pairs = combinations(range(graph.d), 2)
        changes = (abs(own.get((i, j), 0) * unit + Fraction(term.matrix[i][j])) for i, j in pairs)
        return term.alpha * sum(changes, Fraction(0))

    @staticmethod
    def minorant(term: Term, slope: Rows, bits: int) -> tuple[PairNumbers, Fraction]:
        """Return the costs of a slope, clipped to [-α, α], and their product with w₀."""
        below = lcm(term.alpha.denominator, 1 << bits)
        most = int(term.alpha * below)
        costs = [max(-most, min(most, n * (below >> bits))) for n in pair_costs(slope)]
        known, unit = table_of(term.matrix, len(slope))
        pairs = combinations(range(len(slope)), 2)
        line = sum(-n * known[i][j] for n, (i, j) in zip(costs, pairs, strict=True))
        return PairNumbers(costs, below), Fraction(line, below << unit)


class Stationarity:
    """``α‖ΘL - LΘ‖²``, which is at least ``⟨[Θ, Z], L⟩ - ‖Z‖²/4α`` for all antisymmetric Z."""

    @staticmethod
    def value(term: Term, graph: Graph) -> Fraction:
        """Return the term at a graph."""
        theta, bits = table_of(term.matrix, graph.d)
        images = [graph.image(row) for row in theta]  # ΘL, since both are symmetric
        total = sum((images[i][j] - images[j][i]) ** 2 for i, j in combinations(range(graph.d), 2))
        return term.alpha * graph.scale**2 * Fraction(2 * total, 1 << 2 * (bits + graph.bits))

    @staticmethod
    def minorant(term: Term, slope: Rows, bits: int) -> tuple[PairNumbers, Fraction]:
        """Return the costs of ``[Θ, Z]`` and its price; the proof offers Z above the diagonal."""
        d = len(slope)
        z = [[(n > 0) - (n < 0) for n in range(-i, d - i)] for i in range(d)]
        z = [list(map(mul, signs, row)) for signs, row in zip(z, slope, strict=True)]
        theta, unit = table_of(term.matrix, d)
        columns = list(zip(*z, strict=True))
        product = [[dot(row, column) for column in columns] for row in theta]
        matrix = [[product[i][j] + product[j][i] for j in range(d)] for i in range(d)]
        square = Fraction(sum(dot(row, row) for row in z), 1 << 2 * bits)
        return PairNumbers(pair_costs(matrix), 1 << bits + unit), square / (4 * term.alpha)


class Residuals:
    """``α‖RL‖²`` for a symmetric R, at least ``2α⟨RK, RL⟩ - α‖RK‖²`` for all symmetric K."""

    @staticmethod
    def value(term: Term, graph: Graph) -> Fraction:
        """Return the term at a graph."""
        root, bits = table_of(term.matrix, graph.d)
        images = [graph.image(row) for row in root]
        total = sum(dot(image, image) for image in images)
        return term.alpha * graph.scale**2 * Fraction(total, 1 << 2 * (bits + graph.bits))

    @staticmethod
    def minorant(term: Term, slope: Rows, bits: int) -> tuple[PairNumbers, Fraction]:
        """Return the costs of ``α(R²K + KR²)`` and its price; the proof offers K."""
        d = len(slope)
        root, unit = table_of(term.matrix, d)
        half = [[dot(row, column) for column in slope] for row in root]  # RK; K is symmetric
        product = [[dot(row, column) for column in zip(*half, strict=True)] for row in root]
        above, below = term.alpha.numerator, term.alpha.denominator
        matrix = [[above * (product[i][j] + product[j][i]) for j in range(d)] for i in range(d)]
        square = Fraction(sum(dot(row, row) for row in half), 1 << 2 * (bits + unit))
        return PairNumbers(pair_costs(matrix), below << bits + 2 * unit), term.alpha * square


def laplacian_of(graph: Graph) -> list[list[Fraction]]:
    """Return the Laplacian of a graph."""
    unit = graph.scale / (1 << graph.bits)
    matrix = [[Fraction(0)] * graph.d for _ in range(graph.d)]
    for (i, j), weight in zip(graph.pairs, graph.weights, strict=True):
        matrix[i][j] = matrix[j][i] = -weight * unit
    for i, degree in enumerate(graph.degrees):
        matrix[i][i] = degree * unit
    return matrix


TERMS: dict[str, Any] = {
    "KnownEdges": KnownEdges,
    "KnownGraph": KnownGraph,
    "LogDet": LogDet,
    "Residuals": Residuals,
    "Stationarity": Stationarity,
}


def linear_parts(proof: Proof, share: Fraction) -> tuple[PairNumbers, Fraction]:
    """Return costs and a price of a linear function below the terms, at a share of their slopes."""
    costs, price = PairNumbers([0] * len(proof.nominal.numerators), 1), Fraction(0)
    for term, given in zip(proof.terms, proof.certificate.slopes, strict=True):
        slope, bits = table_of(given, proof.d)
        above, below = share.numerator, share.denominator.bit_length() - 1
        slope = [[n * above for n in row] for row in slope]
        found, paid = TERMS[term.kind].minorant(term, slope, bits + below)
        costs, price = costs + found, price + paid
    return costs, price


def slope_share(proof: Proof, costs: PairNumbers) -> Fraction:
    """Return the share of the slopes at which no pair without a limit has a positive price.

    This is needed only for β = 0 with a free trace. Any share of a slope gives a bound too.
    """
    if proof.prior.beta != 0 or proof.prior.trace is not None:
        return Fraction(1)
    slopes, share = linear_parts(proof, Fraction(1))[0], Fraction(1)
    pairs = zip(proof.every, costs.numerators, slopes.numerators, strict=True)
    for pair, cost, pull in pairs:
        if proof.interval(pair)[1] is None and pull < 0:
            share = min(share, Fraction(cost * slopes.denominator, -pull * costs.denominator))
    if share <= 0:
        raise RefusedError("an edge costs nothing, so that the weights are not bounded.")
    return share if share == 1 else Fraction(int(share * FINE), FINE)


# ------------------------------------------------------------------ bound


def dual_of(proof: Proof) -> tuple[Fraction, PairNumbers]:
    """Return the dual function at the multipliers, which is at most the optimum, and the prices p.

    With the costs c of a moment in the set and ``p_ij = τ - c_ij - ν_i - ν_j`` it is

        Σ min {2βw² - p_ij w : l_ij ≤ w ≤ u_ij} - Σ φ*(ν_i) + τT/2 - τ²/16s

    T is the trace and s its penalty. If the trace is free then τ = 0; if it is fixed, the last term
    is not there. ``φ*(ν)`` is the maximum of ``νu - κu² + α log u`` over the degrees u.
    """
    prior, costs = proof.prior, moment_costs(proof)
    price = Fraction(0)
    if proof.terms:
        found, price = linear_parts(proof, slope_share(proof, costs))
        costs = costs + found
    nu, bits = integers([*proof.certificate.nu, proof.certificate.tau])
    tau = Fraction(nu.pop(), 1 << bits)
    if prior.trace is None and tau != 0:
        raise RefusedError("certificate.tau must be 0 where the trace is free.")
    unit = costs.denominator << bits
    level = int(tau * unit)
    nu = [n * costs.denominator for n in nu]
    numerators = zip(proof.every, costs.numerators, strict=True)
    levels = [(cost << bits) + nu[i] + nu[j] for (i, j), cost in numerators]
    if prior.beta == 0 and prior.trace is not None:  # no pair without a limit has a positive price
        free = zip(proof.every, levels, strict=True)
        level = min([level, *(n for pair, n in free if proof.interval(pair)[1] is None)])
        tau = Fraction(level, unit)
    prices = [level - n for n in levels]
    value = least_terms(proof, prices, unit) - price
    for n in nu:
        value -= conjugate_above(prior, Fraction(n, unit))
    if prior.trace is not None:
        value += tau * prior.trace / 2
    if prior.penalty is not None:
        value -= tau**2 / (16 * prior.penalty)
    return value, PairNumbers(prices, unit)


def least_terms(proof: Proof, prices: Vector, unit: int) -> Fraction:
    """Return ``Σ min {2βw² - pw : l ≤ w ≤ u}``; where w is free above zero, it is ``-p₊²/8β``."""
    beta, squares, others = proof.prior.beta, 0, Fraction(0)
    for pair, price in zip(proof.every, prices, strict=True):
        if pair not in proof.bounds:
            squares += price * price if price > 0 and not proof.absent else 0
        else:
            p = Fraction(price, unit)
            w = best_weight(beta, p, proof.interval(pair))
            others += 2 * beta * w * w - p * w
    if squares == 0:
        return others
    if beta == 0:
        raise RefusedError("a pair without a limit has a positive price, and eta is 0.")
    return others - Fraction(squares, 8 * unit * unit) / beta


def best_weight(beta: Fraction, price: Fraction, interval: Interval) -> Fraction:
    """Return the weight at which ``2βw² - pw`` is least."""
    if beta > 0:
        return clipped(price / (4 * beta), interval)
    low, high = interval
    if price <= 0:
        return low
    if high is None:
        raise RefusedError("a pair without a limit has a positive price, and eta is 0.")
    return high


def clipped(weight: Fraction, interval: Interval) -> Fraction:
    """Return the nearest number in an interval."""
    low, high = interval
    return max(low, weight if high is None else min(weight, high))


def conjugate_above(prior: Prior, nu: Fraction) -> Fraction:
    """Return at least ``φ*(ν)``: ``ν²/4κ`` for squares, ``α log(-α/ν) - α`` for logarithms."""
    if not prior.alpha and not prior.kappa:
        if nu != 0:
            raise RefusedError("certificate.nu must be 0 where eta is 0.")
        return Fraction(0)
    if not prior.alpha:
        return nu * nu / (4 * prior.kappa)
    if nu >= 0:
        raise RefusedError("certificate.nu must be negative under a log-degree prior.")
    return prior.alpha * (log_between(-prior.alpha / nu)[1] - 1)


def moment_costs(proof: Proof) -> PairNumbers:
    """Return the costs of the second moment of the proof, after drawing it into the set."""
    kind, radius = proof.ambiguity.kind, proof.ambiguity.radius
    moment, table = proof.certificate.moment, proof.table
    if radius == 0:
        return proof.nominal
    if kind == "CombinedSet":  # Θ + Σ c(A - Θ), A in each part and c its factor
        found = proof.nominal
        for factor, part in proof.parts:
            found = found + (moment_costs(part) + proof.nominal.times(Fraction(-1))).times(factor)
        return found
    if kind == "PairBall":  # the most that every pair may cost
        scales, bits = integers(proof.ambiguity.scales)
        above, below = radius.as_integer_ratio()
        return proof.nominal + PairNumbers([above * scale for scale in scales], below << bits)
    if kind in REWEIGHING:
        return reweighed_costs(proof, moment["weights"])
    if kind == "MomentBall":
        return proof.nominal + drawn_shift(proof, moment["shift"], radius)
    if kind == "MomentUncertainty":
        return uncertain_costs(proof, moment)
    # Rows of spread are moves of signals at zero, each of weight one.
    count = len(moment["spread"])
    rows, weights = table.rows + [[0] * proof.d] * count, table.weights + [table.total] * count
    moves, bits = table_of([*moment["moves"], *moment["spread"]], proof.d)
    drawn = drawn_moves(proof, Table(moves, bits, weights, table.total), radius)
    if proof.ambiguity.coordinates is not None:  # the moves are those of y
        frame = frame_of(proof.ambiguity, proof.d)
        rows_of_x = [frame.out(row) for row in drawn.rows]
        drawn = replace(drawn, rows=rows_of_x, bits=drawn.bits + frame.bits)
    return costs_of(Table(rows, table.bits, weights, table.total).moved(drawn))


def drawn_moves(proof: Proof, moves: Table, radius: Fraction) -> Table:
    """Return moves that cost at most ``radius²``, shortened if they cost more.

    The cost is the weighted mean of their squares, each entry divided by the scale of its vertex.
    Shortened entries are rounded towards zero, which lowers the cost.
    """
    cost = Fraction(0)
    columns = zip(*moves.rows, strict=True)
    for column, scale in zip(columns, proof.ambiguity.scales, strict=True):
        square = sum(w * x * x for w, x in zip(moves.weights, column, strict=True))
        cost += Fraction(square, moves.denominator) / Fraction(scale) ** 2
    if cost <= radius**2:
        return moves
    share = share_within(radius, root_above(cost))
    return replace(moves, rows=[shortened(row, share) for row in moves.rows])


def shortened(row: Vector, share: Fraction) -> Vector:
    """Return the entries times a share, rounded towards zero."""
    above, below = share.numerator, share.denominator
    return [n * above // below if n >= 0 else -(-n * above // below) for n in row]


def drawn_shift(proof: Proof, shift: list[list[float]], radius: Fraction) -> PairNumbers:
    """Return the costs of a symmetric matrix, shortened to a norm of at most ``radius``.

    In coordinates T the matrix Δ is that of y, and the costs are those of ``TΔTᵀ``.
    """
    flat, bits = integers(value for row in shift for value in row)
    entries = iter(flat)
    rows = [list(islice(entries, proof.d - i)) for i in range(proof.d)]
    sizes = entry_sizes([row[0] for row in rows], (n for row in rows for n in row[1:]), bits)
    share = share_within(radius, norm_above(sizes, proof.ambiguity.order))
    rows = [shortened(row, share) for row in rows]
    if proof.ambiguity.coordinates is not None:
        frame, d = frame_of(proof.ambiguity, proof.d), proof.d
        whole = [[rows[min(i, j)][abs(i - j)] for j in range(d)] for i in range(d)]
        half = [frame.out(row) for row in whole]  # ΔTᵀ
        image = [frame.out(list(column)) for column in zip(*half, strict=True)]  # TΔTᵀ
        rows, bits = [row[i:] for i, row in enumerate(image)], bits + 2 * frame.bits
    costs = [rows[i][0] + rows[j][0] - 2 * rows[i][j - i] for i, j in proof.every]
    return PairNumbers(costs, 1 << bits)


def reweighed_costs(proof: Proof, offered: Sequence[float]) -> PairNumbers:
    """Return the costs of the signals with other weights, whose divergence is at most the radius.

    The divergence is convex and vanishes at the weights of the table. A mixture that takes these in
    the share 1 - s therefore has at most s times the divergence, and for chi-square s² times.
    """
    table = proof.table
    q, _ = integers(offered)
    whole = sum(q)
    if whole == 0:
        raise RefusedError("certificate.moment.weights must not all be zero.")
    # The density ratio of a row that occurs k times among N, with probability q, is Nq/k.
    ratios: Counter[Fraction] = Counter()
    for n, count in zip(q, table.weights, strict=True):
        ratios[Fraction(n * table.total, whole * count)] += count
    size, kind = Fraction(0), proof.ambiguity.kind
    chi_square = kind == "ChiSquareBall"
    for ratio, count in ratios.items():
        if chi_square:
            size += count * (ratio - 1) ** 2
        elif kind == "HellingerBall":
            size += count * hellinger_above(ratio)
        elif kind == "CVaRBall":
            size = max(size, (ratio - 1) * table.total)
        elif kind == "TotalVariationBall":
            size += count * max(ratio - 1, Fraction(0))
        elif ratio > 0:
            size += count * ratio * log_between(ratio)[1]
    size /= table.total
    share = share_within(proof.ambiguity.radius, size)
    if chi_square and share < 1:
        share = share_within(Fraction(1), root_above(size / proof.ambiguity.radius))
    above, below = share.numerator, share.denominator
    mixed = [
        above * n * table.total + (below - above) * count * whole
        for n, count in zip(q, table.weights, strict=True)
    ]
    return costs_of(Table(table.rows, table.bits, mixed, sum(mixed)))


def hellinger_above(ratio: Fraction) -> Fraction:
    """Return at least ``(√ρ - 1)² = (ρ - 1)²/(√ρ + 1)²``, for ρ ≥ 0."""
    if ratio == 0:
        return Fraction(1)
    root = ratio / root_above(ratio)  # at most √ρ
    return (ratio - 1) ** 2 / (root + 1) ** 2


def uncertain_costs(proof: Proof, moment: dict[str, Any]) -> PairNumbers:
    """Return the costs of ``Θ - μμᵀ + (μ + δ)(μ + δ)ᵀ + Σ s sᵀ + Δ``.

    The mean moves by δ and spreads by the rows s, both within its radius; Δ is within the radius of
    the covariance. ``(μ + δ)(μ + δ)ᵀ - μμᵀ`` costs ``(δ_i - δ_j)² + 2(δ_i - δ_j)(μ_i - μ_j)``.
    """
    ambiguity = proof.ambiguity
    rows, bits = table_of([moment["mean"], *moment["spread"]], proof.d)
    moves = Table(rows, bits, [1] * len(rows), 1)
    moves = drawn_moves(proof, moves, ambiguity.radius * ambiguity.mean_radius)
    mean = common_row(proof.mean)
    below, change, start = isqrt(mean.total), moves.rows[0], mean.rows[0]
    crossed = [2 * (change[i] - change[j]) * (start[i] - start[j]) for i, j in proof.every]
    found = proof.nominal + costs_of(moves) + PairNumbers(crossed, below << bits)
    reach = ambiguity.radius * ambiguity.covariance_radius
    return found + drawn_shift(proof, moment["shift"], reach)


# ------------------------------------------------------------------ edges


def certain_edges(
    proof: Proof, prices: PairNumbers, excess: Fraction
) -> tuple[list[Pair], list[Pair]]:
    """Return which edges the optimal graph has for certain, and which are undecided.

    An edge is present if its weight w in the optimal graph is at least the threshold t. Let
    ``h(w) = 2βw² - pw`` be its term in the dual function, least at v within the bounds. The
    Lagrangian at the optimal graph exceeds the dual function by ``h(w) - h(v)`` or more and is at
    most the optimum, so that ``h(w) - h(v) ≤ excess``. Since h is convex, w is at least t if
    ``v ≥ t`` and ``h(t) - h(v) ≥ excess``, and below t if ``v < t`` and ``h(t) - h(v) > excess``.
    By strong convexity ``(w - w₀)² ≤ reach·excess`` holds for the weight w₀ of the proof as well.
    """
    graph, beta = proof.graph, proof.prior.beta
    threshold, reach = proof.threshold, None if beta == 0 else edge_reach(proof) * excess
    unit = graph.scale / (1 << graph.bits)
    own = dict(zip(graph.pairs, graph.weights, strict=True))
    present: list[Pair] = []
    undecided: list[Pair] = []
    for pair, price in zip(proof.every, prices.numerators, strict=True):
        low, high = proof.interval(pair)
        p, weight = Fraction(price, prices.denominator), own.get(pair, 0) * unit
        v = best_weight(beta, p, (low, high))
        rise = 2 * beta * (threshold**2 - v**2) - p * (threshold - v)
        far = (weight - threshold) ** 2
        if low >= threshold or (v >= threshold and rise >= excess):
            present.append(pair)
        elif (high is not None and high < threshold) or (v < threshold and rise > excess):
            continue
        elif reach is not None and weight >= threshold and far >= reach:
            present.append(pair)
        elif reach is None or not (weight < threshold and far > reach):
            undecided.append(pair)
    return present, undecided


def edge_reach(proof: Proof) -> Fraction:
    """Return the square of the largest change of one weight per unit of the objective.

    The prior grows by ``2β‖x‖² + κ‖Ax‖²`` for a change x of the weights, A the incidence matrix.
    ``AᵀA`` has the eigenvalues 0, d - 2 and 2(d - 1), the last for equal changes, which a fixed
    trace excludes. The sum is over the shares of one edge in their eigenspaces.
    """
    d, prior = Fraction(proof.d), proof.prior
    shares = [
        (1 - 2 / (d - 1), Fraction(0)),
        (2 / d, d - 2),
        (Fraction(0) if prior.fixed else 2 / (d * (d - 1)), 2 * (d - 1)),
    ]
    parts = (share / (2 * prior.beta + prior.kappa * size) for share, size in shares)
    return sum(parts, Fraction(0))


# ------------------------------------------------------------------ tables with holes


def holes_error(
    table: list[list[float | None]], weights: Vector, given: Sequence[Sequence[float]],
    guess: Sequence[Sequence[float]], d: int,
) -> Fraction:  # fmt: skip
    """Return a bound of the distance from ``RᵀR`` to the moment nearest to a table with holes.

    The mean squares D of differences, over the signals that have both values, belong to the matrix
    ``A = -½JDJ`` with ``J = I - 11ᵀ/d``. The nearest second moment is the projection Π(A) onto the
    positive semidefinite matrices. Projections do not increase distances. Let ``B = RᵀR``,
    ``N = SᵀS``, ``P = Π(B - N)`` and ``Q = P - (B - N)``; then Q is positive semidefinite and
    ``⟨P, Q⟩ = 0``, so that ``‖P - B‖² = ⟨B - P, N - Q⟩ ≤ ⟨B, N⟩ = ‖RSᵀ‖²``. Hence

        ‖RᵀR - Π(A)‖ ≤ ‖A - (B - N)‖ + ‖RSᵀ‖

    in the Frobenius norm, for any guess S.
    """
    present = [[value is not None for value in row] for row in table]
    values, unit = table_of([[value or 0.0 for value in row] for row in table], d)
    rows, bits = table_of(given, d)
    rest, rest_bits = table_of(guess, d)
    fine = 2 * max(unit, bits, rest_bits) + 64
    squares = [[0] * d for _ in range(d)]  # D over 2**fine, each rounded down by less than one
    for i, j in combinations(range(d), 2):
        both = [n for n, have in enumerate(present) if have[i] and have[j]]
        total = sum(weights[n] for n in both)
        if total <= 0:
            raise RefusedError(f"columns {i} and {j} of the table have no signal in common.")
        square = sum(weights[n] * (values[n][i] - values[n][j]) ** 2 for n in both)
        squares[i][j] = squares[j][i] = (square << fine - 2 * unit) // total
    sums = [sum(row) for row in squares]
    total_error, columns, others = 0, list(zip(*rows, strict=True)), list(zip(*rest, strict=True))
    for i in range(d):
        for j in range(d):
            centred = d * d * squares[i][j] - d * (sums[i] + sums[j]) + sum(sums)
            gap = dot(columns[i], columns[j]) << fine - 2 * bits
            if others:
                gap -= dot(others[i], others[j]) << fine - 2 * rest_bits
            total_error += (2 * d * d * gap + centred) ** 2
    error = root_above(Fraction(total_error, (2 * d * d << fine) ** 2)) + Fraction(d, 1 << fine)
    products = sum(dot(row, other) ** 2 for row in rows for other in rest)
    return error + root_above(Fraction(products, 1 << 2 * (bits + rest_bits)))


# ------------------------------------------------------------------ reading


@dataclass(frozen=True)
class Given:
    """A value of the file under its name; every method returns what it asks for, or refuses it."""

    name: str
    value: Any

    def must(self, wish: str) -> NoReturn:
        """Refuse the value."""
        raise RefusedError(f"{self.name} must {wish}.")

    def one_of(self, *options: str | int | None) -> Any:
        """Return one of some values, of the same type."""
        if not any(type(self.value) is type(option) and self.value == option for option in options):
            self.must(f"be {' or '.join(map(json.dumps, options))}")
        return self.value

    def whole(self, least: int, most: int) -> int:
        """Return a whole number within limits."""
        if type(self.value) is not int or not least <= self.value <= most:
            self.must(f"be a whole number from {least} to {most}")
        return self.value

    def number(self, least: float = -inf, above: float = -inf) -> float:
        """Return a finite number that is at least ``least`` and greater than ``above``."""
        if type(self.value) not in (int, float) or not isfinite(value := float(self.value)):
            self.must("be a finite number")
        if value < least or value <= above:
            self.must(f"not be {value!r}, which is too small")
        return value

    def limit(self, **limits: float) -> Fraction | None:
        """Return a number, or None for null, which is no limit."""
        return None if self.value is None else Fraction(self.number(**limits))

    def entries(self, count: int | None = None) -> list["Given"]:
        """Return the entries of a list; if ``count`` is given, it must have so many."""
        if not isinstance(self.value, list) or count not in (None, len(self.value)):
            self.must(f"be a list{'' if count is None else f' of {count}'}")
        return [Given(self.name, entry) for entry in self.value]

    def numbers(self, count: int | None = None, **limits: float) -> list[float]:
        """Return a list of numbers."""
        return [entry.number(**limits) for entry in self.entries(count)]

    def rows(self, columns: int, count: int | None = None) -> list[list[float]]:
        """Return a list of rows of numbers."""
        return [row.numbers(columns) for row in self.entries(count)]

    def pairs(self, d: int) -> list[Pair]:
        """Return pairs ``[i, j]`` with ``i < j``, in strictly increasing order."""
        ends = [[end.whole(0, d - 1) for end in pair.entries(2)] for pair in self.entries()]
        found = [(i, j) for i, j in ends]
        if any(i >= j for i, j in found) or any(a >= b for a, b in pairwise(found)):
            self.must("be pairs i < j in strictly increasing order")
        return found

    def members(self, *names: str) -> dict[str, "Given"]:
        """Return the members of an object that has exactly these."""
        if not isinstance(self.value, dict) or set(self.value) != set(names):
            self.must(f"have exactly the members {', '.join(names)}")
        return {name: Given(f"{self.name}.{name}", self.value[name]) for name in names}

    def variant(self, **variants: str) -> tuple[str, dict[str, "Given"]]:
        """Return the kind of an object, and the members that objects of this kind have."""
        kind = self.value.get("kind") if isinstance(self.value, dict) else None
        Given(f"{self.name}.kind", kind).one_of(*variants)
        return str(kind), self.members("kind", *variants[str(kind)].split())


def read_ambiguity(given: Given, d: int) -> Ambiguity:
    """Return the ambiguity set, or the parts of a CombinedSet, which are not combined again."""
    if not isinstance(given.value, dict) or given.value.get("kind") != "CombinedSet":
        return read_part(given, d)
    members = given.members("kind", "factors", "parts")
    entries = members["parts"].entries()
    if not 1 <= len(entries) <= MOST_PARTS:
        members["parts"].must(f"have 1 to {MOST_PARTS} entries")
    factors = map(Fraction, members["factors"].numbers(len(entries), least=0.0))
    parts = [read_part(entry, d) for entry in entries]
    pairs = list(zip(factors, parts, strict=True))
    return Ambiguity("CombinedSet", Fraction(1), [], None, None, Fraction(0), Fraction(0), pairs)


def read_part(given: Given, d: int) -> Ambiguity:
    """Return a set that is not combined.

    Only a MomentBall is read in coordinates: transport in coordinates is a MetricBall, and weights
    of signals have none.
    """
    if not isinstance(given.value, dict) or given.value.get("kind") != "SetInCoordinates":
        return read_plain(given, d)
    members = given.members("kind", "set", "coordinates")
    base = read_plain(members["set"], d)
    if base.kind != "MomentBall":
        members["set"].must("be a MomentBall")
    return replace(base, coordinates=members["coordinates"].rows(d, d))


def read_plain(given: Given, d: int) -> Ambiguity:
    """Return a set that is neither combined nor in coordinates."""
    plain = ("Singleton", "GaussianBall", "WassersteinBall", *REWEIGHING)
    kind, members = given.variant(
        **dict.fromkeys(plain, "radius"),
        MahalanobisBall="radius scales",
        MetricBall="radius coordinates",
        PairBall="radius scales",
        MomentBall="radius p",
        MomentUncertainty="radius mean_radius covariance_radius",
    )
    radius = Fraction(members["radius"].number(least=0.0))
    if kind == "Singleton" and radius != 0:
        members["radius"].must("be 0 for a Singleton")
    scales = [1.0] * d
    if "scales" in members:
        count = d if kind == "MahalanobisBall" else d * (d - 1) // 2
        scales = members["scales"].numbers(count, above=0.0)
    order = members.get("p", Given("p", 2.0)).limit(least=1.0)
    mean, covariance = (
        Fraction(members[name].number(above=0.0) if name in members else 0)
        for name in ("mean_radius", "covariance_radius")
    )
    matrix = members["coordinates"].rows(d, d) if kind == "MetricBall" else None
    return Ambiguity(kind, radius, scales, matrix, order, mean, covariance)


def read_data(
    given: Given, d: int, ambiguity: Ambiguity
) -> tuple[Table, list[Fraction], Fraction | None]:
    """Return the signals, their mean, and for a table with holes the error of its rows."""
    form, members = given.variant(
        signals="table counts weights", rows="rows mean", holes="rows mean table weights rest"
    )
    rows = members["table" if form == "signals" else "rows"].rows(d)
    if not rows:
        given.must("have at least one row")
    table, bits = table_of(rows, d)
    if form == "signals":
        shares = read_shares(members, len(rows))
        below = sum(shares) << bits
        mean = [Fraction(dot(shares, column), below) for column in zip(*table, strict=True)]
    else:
        shares, mean = [1] * len(rows), list(map(Fraction, members["mean"].numbers(d)))
    if ambiguity.reweighs and (form != "signals" or members["weights"].value is not None):
        given.must(f"be signals that count alike under a {ambiguity.kind}")
    if form != "holes":
        return Table(table, bits, shares, sum(shares) if form == "signals" else 1), mean, None
    holes = [
        [None if entry.value is None else entry.number() for entry in row.entries(d)]
        for row in members["table"].entries()
    ]
    weights, rest = read_shares(members, len(holes)), members["rest"].rows(d)
    return Table(table, bits, shares, 1), mean, holes_error(holes, weights, rows, rest, d)


def read_shares(members: dict[str, Given], count: int) -> Vector:
    """Return how much every row of a table counts: alike, or by its count or its weight."""
    shares = [1] * count
    stated = [
        name
        for name in ("counts", "weights")
        if name in members and members[name].value is not None
    ]
    if len(stated) == 2:
        members["counts"].must("be null where there are weights")
    if "counts" in stated:
        shares = [entry.whole(1, 10**9) for entry in members["counts"].entries(count)]
    if "weights" in stated:
        shares, _ = integers(members["weights"].numbers(count, least=0.0))
    if not any(shares):
        members["weights"].must("not all be zero")
    return shares


def read_prior(given: Given, terms: list[Term]) -> Prior:
    """Return the prior; only with a term may eta be 0 and the trace free."""
    variants = {"frobenius": "eta trace trace_penalty", "log-degree": "alpha beta"}
    kind, members = given.variant(**variants)
    if kind == "log-degree":
        alpha, beta = (Fraction(members[name].number(above=0.0)) for name in ("alpha", "beta"))
        return Prior(beta, Fraction(0), alpha)
    if terms:
        eta, trace = Fraction(members["eta"].number(least=0.0)), members["trace"].limit(above=0.0)
    else:
        eta, trace = (Fraction(members[name].number(above=0.0)) for name in ("eta", "trace"))
    penalty = members["trace_penalty"].limit(above=0.0)
    if trace is None and penalty is not None:
        members["trace_penalty"].must("be null where the trace is free")
    return Prior(eta, eta, Fraction(0), trace, penalty)


def read_terms(given: Given | None, d: int) -> list[Term]:
    """Return the terms; a file without this member has none."""
    terms = []
    for entry in [] if given is None else given.entries():
        kinds = ("KnownEdges", "KnownGraph", "Residuals", "Stationarity")
        matrices = dict.fromkeys(kinds, "alpha matrix")
        kind, members = entry.variant(LogDet="alpha", **matrices)
        matrix = members["matrix"].rows(d, d) if "matrix" in members else []
        if any(matrix[i][j] != matrix[j][i] for i, j in combinations(range(len(matrix)), 2)):
            members["matrix"].must("be symmetric")
        terms.append(Term(kind, Fraction(members["alpha"].number(above=0.0)), matrix))
    return terms


def read_bounds(given: Given, d: int) -> tuple[dict[Pair, Interval], bool]:
    """Return the bounds of pairs, and whether all other pairs are absent."""
    if given.value is None:
        return {}, False
    members = given.members("pairs", "lower", "upper", "others")
    pairs = members["pairs"].pairs(d)
    lower = members["lower"].numbers(len(pairs), least=0.0)
    bounds: dict[Pair, Interval] = {}
    uppers = members["upper"].entries(len(pairs))
    for pair, low, upper in zip(pairs, lower, uppers, strict=True):
        bounds[pair] = (Fraction(low), upper.limit(least=low))
    return bounds, members["others"].one_of("free", "absent") == "absent"


def read_certificate(
    given: Given, ambiguity: Ambiguity, d: int, rows: int, terms: list[Term]
) -> Evidence:
    """Return the certificate; its moment is null if the set has only one."""
    own = ["parts"] if ambiguity.parts else PART
    members = given.members(*own, "nu", "tau", *(["slopes"] if terms else []))
    given_slopes = members["slopes"].entries(len(terms)) if terms else []
    slopes = [read_symmetric(slope, d) for slope in given_slopes]
    nu, tau = members["nu"].numbers(d), members["tau"].number()
    if not ambiguity.parts:
        moment, multiplier, top = read_moment(members, ambiguity, d, rows)
        return Evidence(moment, nu, tau, multiplier, top, slopes)
    parts = []
    entries = members["parts"].entries(len(ambiguity.parts))
    for (_, part), entry in zip(ambiguity.parts, entries, strict=True):
        moment, multiplier, top = read_moment(entry.members(*PART), part, d, rows)
        parts.append(Evidence(moment, nu, tau, multiplier, top))
    return Evidence({}, nu, tau, 0.0, 0.0, slopes, parts)


def read_moment(
    members: dict[str, Given], ambiguity: Ambiguity, d: int, rows: int
) -> tuple[dict[str, Any], float, float]:
    """Return a moment in the form of its set, the multiplier and the largest eigenvalue."""
    offered, kind = members["moment"], ambiguity.kind
    moment: dict[str, Any] = {}
    if kind in ("Singleton", "PairBall") or ambiguity.radius == 0:
        offered.one_of(None)
    elif kind in REWEIGHING:
        moment["weights"] = offered.members("weights")["weights"].numbers(rows, least=0.0)
    elif kind in ("MomentBall", "MomentUncertainty"):
        names = ["shift"] if kind == "MomentBall" else ["mean", "spread", "shift"]
        parts = offered.members(*names)
        triangle = parts["shift"].entries(d)
        moment["shift"] = [row.numbers(d - i) for i, row in enumerate(triangle)]
        if kind == "MomentUncertainty":
            moment |= {"mean": parts["mean"].numbers(d), "spread": parts["spread"].rows(d)}
    else:
        parts = offered.members("moves", "spread")
        moment |= {"moves": parts["moves"].rows(d, rows), "spread": parts["spread"].rows(d)}
    return moment, members["multiplier"].number(), members["top"].number()


def read_symmetric(given: Given, d: int) -> list[list[float]]:
    """Return a symmetric matrix from its upper triangle."""
    above = [row.numbers(d - i) for i, row in enumerate(given.entries(d))]
    return [[above[min(i, j)][abs(i - j)] for j in range(d)] for i in range(d)]


def read_graph(given: Given, d: int) -> Graph:
    """Return the graph, before it is scaled."""
    members = given.members("pairs", "weights")
    pairs = members["pairs"].pairs(d)
    weights, bits = integers(members["weights"].numbers(len(pairs), least=0.0))
    return Graph(d, pairs, weights, bits, Fraction(1))


def feasible(proof: Proof) -> Graph:
    """Return the graph whose value is computed, with the exact trace and within the bounds.

    Without bounds the graph is scaled to the trace. With bounds, the missing weight is added to the
    heaviest edge that has room for it.
    """
    graph, trace = proof.graph, proof.prior.trace
    bounded = proof.absent or bool(proof.bounds)
    if proof.prior.fixed and trace is not None:
        lacking = trace / 2 - Fraction(sum(graph.weights), 1 << graph.bits)
        if not any(graph.weights):
            raise RefusedError("the graph has no edge, and cannot have the trace.")
        if not bounded:
            return replace(graph, scale=1 + lacking / (trace / 2 - lacking))
        if lacking != 0:
            graph = completed(proof, lacking)
    own = dict(zip(graph.pairs, graph.weights, strict=True))
    for pair in sorted(set(own) | set(proof.bounds)):
        weight = Fraction(own.get(pair, 0), 1 << graph.bits)
        if weight != clipped(weight, proof.interval(pair)):
            raise RefusedError(f"the weight of edge {pair} is outside its bounds.")
    return graph


def completed(proof: Proof, lacking: Fraction) -> Graph:
    """Return the graph with the weight that it lacks added to one edge."""
    graph = proof.graph
    bits = max(graph.bits, lacking.denominator.bit_length() - 1)
    weights = [weight << bits - graph.bits for weight in graph.weights]
    more = int(lacking * (1 << bits))
    for k in sorted(range(len(weights)), key=lambda k: -weights[k]):
        weight = Fraction(weights[k] + more, 1 << bits)
        if weight == clipped(weight, proof.interval(graph.pairs[k])):
            weights[k] += more
            return replace(graph, weights=weights, bits=bits)
    raise RefusedError("the weights do not sum to half the trace, and no edge can make up for it.")


def read_proof(document: Any) -> Proof:
    """Return the proof in a document, with a feasible graph, or raise RefusedError."""
    for name, wanted in (("format", FORMAT), ("version", VERSION)):
        Given(name, document.get(name) if isinstance(document, dict) else None).one_of(wanted)
    names = ("format", "version", "problem", "graph", "certificate", "edges")
    members = Given("the file", document).members(*names)
    members = {name: replace(member, name=name) for name, member in members.items()}
    parts = ["vertices", "data", "ambiguity", "prior", "bounds"]
    if isinstance(members["problem"].value, dict) and "terms" in members["problem"].value:
        parts.append("terms")
    problem = members["problem"].members(*parts)
    edges = members["edges"].members("threshold", "present", "undecided")
    d = problem["vertices"].whole(2, 100_000)
    check_work(problem["data"].value, members["certificate"].value, d)
    ambiguity = read_ambiguity(problem["ambiguity"], d)
    table, mean, holes = read_data(problem["data"], d, ambiguity)
    terms = read_terms(problem.get("terms"), d)
    certificate = read_certificate(members["certificate"], ambiguity, d, len(table.rows), terms)
    threshold = Fraction(edges["threshold"].number(above=0.0))
    proof = Proof(
        d, table, mean, ambiguity, read_prior(problem["prior"], terms),
        *read_bounds(problem["bounds"], d), read_graph(members["graph"], d), certificate,
        threshold, costs_of(table), holes, terms,
    )  # fmt: skip
    return replace(proof, graph=feasible(proof))


def check_work(data: Any, certificate: Any, d: int) -> None:
    """Refuse a problem whose products of integers would take hours."""
    parts = certificate.get("parts") if isinstance(certificate, dict) else None
    holders = [certificate, *(parts if isinstance(parts, list) else [])]
    moments = [part.get("moment") for part in holders if isinstance(part, dict)]
    members = [part for part in (data, *moments) if isinstance(part, dict)]
    lists = [part.get(name) for part in members for name in ("table", "rows", "rest", "spread")]
    count = sum(len(rows) for rows in lists if isinstance(rows, list))
    if (count + d) * d * d * max(len(moments), 1) > MOST_PRODUCTS:
        raise RefusedError(f"{count} rows of {d} numbers would take hours in exact arithmetic.")


# ------------------------------------------------------------------ the whole


@dataclass(frozen=True)
class Result:
    """What a proof proves: ``bound ≤ optimum ≤ value``, and edges of the optimal graph."""

    bound: Fraction
    value: Fraction
    present: list[Pair]
    undecided: list[Pair]
    threshold: float
    vertices: int
    holes: Fraction | None
    digest: str
    title: str


def establish(document: Any) -> Result:
    """Return what a document proves, without its statements on edges, or raise RefusedError."""
    try:
        proof = read_proof(document)
        value = value_of(proof)
        bound, prices = dual_of(proof)
        if bound > value:
            raise RefusedError("the bound is above the value, which contradicts weak duality.")
        present, undecided = certain_edges(proof, prices, value - bound)
    except (ValueError, ArithmeticError) as reason:  # from infinities and numbers beyond decimals
        raise RefusedError(f"its numbers are too large or too small ({reason}).") from None
    text = json.dumps(document["problem"], sort_keys=True, separators=(",", ":"))
    # The rows of a proof are those of the table, or of a factor if the table has holes.
    table = f"{len(proof.table.rows)} rows" if proof.holes is None else "a table with holes"
    return Result(
        bound, value, present, undecided, float(proof.threshold), proof.d, proof.holes,
        hashlib.sha256(text.encode()).hexdigest(),
        f"{proof.d} vertices, {table}, {title_of(proof.ambiguity)}",
    )  # fmt: skip


def title_of(ambiguity: Ambiguity) -> str:
    """Return a set in words."""
    if ambiguity.parts:
        parts = (f"{float(factor)!r} times {title_of(part)}" for factor, part in ambiguity.parts)
        return f"CombinedSet of {', '.join(parts)}"
    where = " in coordinates" if ambiguity.kind == "MomentBall" and ambiguity.coordinates else ""
    return f"{ambiguity.kind} of radius {float(ambiguity.radius)!r}{where}"


def prove(document: Any) -> Result:
    """Carry out the proof in a document, or raise RefusedError with the reason.

    The statements of the document on edges must follow from the proof: the edges that it lists as
    present are present, and all pairs that it lists neither as present nor as undecided are absent.
    """
    result = establish(document)
    edges = Given("edges", document["edges"]).members("threshold", "present", "undecided")
    present = set(edges["present"].pairs(result.vertices))
    undecided = set(edges["undecided"].pairs(result.vertices))
    for pair in sorted(present & undecided):
        raise RefusedError(f"edge {pair} is called both present and undecided.")
    for pair in sorted(present - set(result.present)):
        raise RefusedError(f"edge {pair} is called present, which the proof does not show.")
    for pair in sorted({*result.present, *result.undecided} - present - undecided):
        raise RefusedError(f"edge {pair} is called absent, which the proof does not show.")
    return result


def read(path: str) -> Any:
    """Return the document in a proof file, after checking its digest.

    The digest is the last member of the file, and covers every byte before it.
    """
    if os.path.exists(path) and not os.path.isfile(path):
        raise RefusedError("it is not a regular file.")
    with open(path, "rb") as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise RefusedError(f"the file is larger than {MOST_BYTES >> 20} MiB.")
    end = re.search(rb'"digest": "sha256:([0-9a-f]{64})"}\s*\Z', content[-200:])
    if end is None:
        raise RefusedError("the file does not end with a digest; it is no proof, or incomplete.")
    covered = content[: max(len(content) - 200, 0) + end.start()]
    if hashlib.sha256(covered).hexdigest().encode() != end[1]:
        raise RefusedError("the digest does not belong to the file; something in it was changed.")
    hooks: dict[str, Any] = {"object_pairs_hook": unique_members, "parse_constant": no_number}
    document = json.loads(content.decode("utf-8"), **hooks)
    if isinstance(document, dict):
        document.pop("digest", None)
    return document


def unique_members(members: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of the file, unless two of its members have the same name."""
    found = dict(members)
    if len(found) < len(members):
        raise RefusedError("an object of the file has two members of the same name.")
    return found


def no_number(text: str) -> Any:
    """Refuse NaN and the infinities."""
    raise RefusedError(f"the file contains {text}, which is no number.")


def verify(path: str) -> Result:
    """Check a proof file; raise RefusedError with the reason if it proves nothing.

    If there is no such file, raise FileNotFoundError.
    """
    try:
        return prove(read(path))
    except FileNotFoundError:
        raise
    except OSError as reason:
        raise RefusedError(f"it cannot be read: {reason.strerror}.") from None
    except RecursionError:
        raise RefusedError("it is nested too deeply.") from None
    except MemoryError:
        raise RefusedError("it needs more memory than there is.") from None
    except ValueError as reason:
        raise RefusedError(f"it is no JSON in UTF-8 ({reason}).") from None


def outward(bound: Fraction, value: Fraction, digits: int = 17) -> tuple[str, str]:
    """Return both numbers in decimals, the first rounded down and the second rounded up."""
    ends = ((bound, ROUND_FLOOR), (value, ROUND_CEILING))
    first, second = (
        str(Context(digits, way, traps=[]).divide(Decimal(x.numerator), Decimal(x.denominator)))
        for x, way in ends
    )
    return first, second


def report(path: str, result: Result) -> str:
    """Return what a proof proves, in a few lines; all decimals are rounded to the safe side."""
    low, high = outward(result.bound, result.value)
    size = max(abs(result.bound), abs(result.value))
    apart = result.value - result.bound
    gap = apart / size if size else Fraction(0)
    present, undecided = len(result.present), len(result.undecided)
    absent = result.vertices * (result.vertices - 1) // 2 - present - undecided
    lines = [
        f"{path}: proved in exact arithmetic",
        f"  {low} ≤ optimum ≤ {high}",
        f"  value - bound ≤ {outward(apart, apart, 2)[1]}, which is {outward(gap, gap, 2)[1]} of "
        "the value",
        f"  optimal graph: {present} edges of weight {result.threshold!r} or more, {absent} pairs "
        f"without, {undecided} undecided",
        f"  problem: {result.title}",
        f"  sha256 of the problem: {result.digest}",
    ]
    if result.holes is not None:
        lines.append(
            f"  table with holes: its second moment is within {outward(gap, result.holes, 2)[1]} "
            "of the nearest one"
        )
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Check the files that are named; return 0 if each is a proof, else 1."""
    parser = argparse.ArgumentParser(
        prog="verify", description="Check in exact arithmetic that graphs are optimal."
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="proof files")
    if isinstance(sys.stdout, TextIOWrapper):  # names of files and ≤ may not be printable
        sys.stdout.reconfigure(errors="backslashreplace")
    failed = False
    for path in parser.parse_args(arguments).files:
        try:
            print(report(path, verify(path)))
        except FileNotFoundError:
            failed = True
            print(f"there is no file {path}", file=sys.stderr)
        except RefusedError as reason:
            failed = True
            print(f"{path}: not proved: {reason}", file=sys.stderr)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
