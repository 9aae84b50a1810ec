"""
A set of your own
=================

Second moments within ε in the spectral norm: a new ambiguity set in one file, with a conic
program beside it. The set brings the certified solver and the judge; the program is a second
route, and both agree.
"""

from dataclasses import dataclass
from typing import ClassVar

import matplotlib.pyplot as plt
import numpy as np

from experiments.checks import check_formulation
from experiments.drawing.style import BLUE, PAGE, VERMILION
from formulations import Formulation, Risk, register, smoothness
from solvers import solve, solve_path
from wdro_cvx import (
    AmbiguitySet,
    GraphProblem,
    Nominal,
    WorstCase,
    check_ambiguity,
    register_ambiguity,
)


@register_ambiguity
@dataclass(frozen=True)
class SpectralBall(AmbiguitySet):
    """``{Θ + Δ : ‖Δ‖₂ ≤ ε}``; the worst Δ is εI."""

    radius_degree: ClassVar[int] = 2

    def worst_case(self, nominal, laplacian):
        """Return the risk ``⟨Θ, L⟩ + ε Tr L`` and the moment that attains it."""
        moment = nominal.second_moment + self.radius * np.eye(nominal.d)
        return WorstCase(float(np.vdot(moment, laplacian)), moment, float(np.trace(laplacian)))

    def distance(self, nominal, second_moment):
        """Return the spectral norm of the difference."""
        return float(np.linalg.norm(second_moment - nominal.second_moment, 2))


@register
class SpectralForm(Formulation):
    """The same risk in CVXPY."""

    claims = (SpectralBall,)

    def risk(self, laplacian):
        """State ``⟨Θ, L⟩ + ε Tr L``."""
        average = smoothness(self.normalised.nominal.second_moment, laplacian)
        return Risk(average + self.radius * laplacian.trace)


if __name__ == "__main__":
    print(check_ambiguity(SpectralBall(0.5)))
    print(check_formulation(SpectralForm))
    samples = np.random.default_rng(0).standard_normal((30, 8))
    problem = GraphProblem(Nominal.from_samples(samples), SpectralBall(0.5), eta=0.2)
    print(solve(problem).value, SpectralForm(problem).solve().value)

    # Two routes to one number, and what the set does: on graphs of one trace εI changes no graph.
    radii = np.linspace(0.0, 1.5, 7)
    ours = solve_path(problem, radii)
    program = SpectralForm(problem)
    conic = [program.at(radius=radius).solve() for radius in radii]
    figure, (left, right) = plt.subplots(1, 2, figsize=(PAGE, 2.5), layout="constrained")
    left.plot(radii, [answer.value for answer in ours], color=BLUE, label="certified solver")
    left.plot(radii, [answer.value for answer in conic], "o", color=VERMILION, label="CVXPY")
    left.set(xlabel="radius ε", ylabel="optimal worst-case objective")
    left.legend()
    values = np.array([answer.value for answer in ours])
    apart = np.abs(values - [answer.value for answer in conic]) / values
    right.semilogy(radii, np.maximum(apart, 1e-16), "o-", color=VERMILION, label="|difference|")
    right.semilogy(
        radii, [max(a.gap, 1e-16) for a in ours], "s-", color=BLUE, label="certified gap"
    )
    right.set(xlabel="radius ε", ylabel="relative to the value", ylim=(1e-17, 1e-5))
    right.legend()
    figure.savefig("new_variant.png")
