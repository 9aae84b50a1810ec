"""A new ambiguity set in one file: second moments within ε in the nuclear norm."""

from dataclasses import dataclass
from typing import ClassVar

import cvxpy as cp
import numpy as np

from experiments.checks import check_formulation
from formulations import Formulation, Risk, register, smoothness
from solvers import solve
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
class NuclearBall(AmbiguitySet):
    """``{Θ + Δ : ‖Δ‖_* ≤ ε}``; the worst Δ is ε times a top eigenvector of L, both ways."""

    radius_degree: ClassVar[int] = 2  # a radius of second moments grows like the data squared

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
