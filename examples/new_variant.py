"""
A set of your own
=================

This file defines a new ambiguity set, the second moments within ε in the nuclear norm, and a conic
program for it. The certified solver and the judge need only the set. The program is a second way to
compute the optimum. Both agree, also where the risk has a kink.
"""

from dataclasses import dataclass
from typing import ClassVar

import cvxpy as cp
import matplotlib.pyplot as plt
import numpy as np

from experiments.drawing.style import BLUE, PAGE, VERMILION
from formulations import Formulation, Risk, register, smoothness
from solvers import solve, solve_path
from wdro_cvx import (
    AmbiguitySet,
    GraphProblem,
    Nominal,
    WorstCase,
    check_ambiguity,
    check_formulation,
    register_ambiguity,
)


@register_ambiguity
@dataclass(frozen=True)
class NuclearBall(AmbiguitySet):
    """``{Θ + Δ : ‖Δ‖_* ≤ ε}``; the worst Δ is εvvᵀ with a top eigenvector v of L."""

    radius_degree: ClassVar[int] = 2  # a radius of second moments scales like the data squared

    def worst_case(self, nominal, laplacian):
        """Return the risk ``⟨Θ, L⟩ + ελmax(L)`` and a moment that attains it."""
        values, vectors = np.linalg.eigh(laplacian)
        top = vectors[:, -1]
        moment = nominal.second_moment + self.radius * np.outer(top, top)
        risk = float(np.vdot(nominal.second_moment, laplacian)) + self.radius * float(values[-1])
        return WorstCase(risk, moment, float(values[-1]))

    def distance(self, nominal, second_moment):
        """Return the nuclear norm of the difference."""
        return float(np.linalg.norm(second_moment - nominal.second_moment, "nuc"))


@register
class NuclearForm(Formulation):
    """The same risk in CVXPY."""

    claims = (NuclearBall,)

    def risk(self, laplacian):
        """State ``⟨Θ, L⟩ + εt`` with ``tI ⪰ L``; the dual of the LMI is the worst Δ."""
        moment = self.normalised.nominal.second_moment
        top = cp.Variable(name="top")
        above = top * np.eye(self.problem.d) - laplacian.matrix >> 0

        def worst_moment():
            dual = np.asarray(above.dual_value)
            return moment + (dual + dual.T) / 2

        expression = smoothness(moment, laplacian) + self.radius * top
        return Risk(expression, [above], multiplier=top, worst_moment=worst_moment)


if __name__ == "__main__":
    print(check_ambiguity(NuclearBall(0.5)))
    print(check_formulation(NuclearForm))
    samples = np.random.default_rng(0).standard_normal((30, 8))
    problem = GraphProblem(Nominal.from_samples(samples), NuclearBall(3.0), eta=0.2)
    answer = solve(problem)
    print(answer.value, NuclearForm(problem).solve().value, np.linalg.eigvalsh(answer.laplacian))

    # Both routes give the same value. A larger radius lowers the top eigenvalue of the graph.
    radii = np.linspace(0.0, 6.0, 9)
    ours = solve_path(problem, radii)
    program = NuclearForm(problem)
    conic = [program.at(radius=radius).solve() for radius in radii]
    figure, (left, right) = plt.subplots(1, 2, figsize=(PAGE, 2.5), layout="constrained")
    left.plot(radii, [answer.value for answer in ours], color=BLUE, label="certified solver")
    left.plot(radii, [answer.value for answer in conic], "o", color=VERMILION, label="CVXPY")
    left.set(xlabel="radius ε", ylabel="optimal worst-case objective")
    left.legend()
    right.plot(radii, [np.linalg.eigvalsh(answer.laplacian) for answer in ours], color=BLUE)
    right.set(xlabel="radius ε", ylabel="eigenvalues of the optimal graph")
    figure.savefig("new_variant.png")
