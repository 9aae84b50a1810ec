"""A new ambiguity set in one file: second moments within ε in the spectral norm."""

from dataclasses import dataclass
from typing import ClassVar

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
