"""The robust-premium form: the sample-average risk plus the premium that robustness costs.

It rewrites Theorem 1 with ``γ²(γI - L)⁻¹ - γI = L + L(γI - L)⁻¹L``. It has one LMI where
Proposition 2 has two, and no large terms cancel when the radius is small. It is not in the paper.
"""

from __future__ import annotations

from typing import ClassVar

from formulations.base import Formulation, Risk, register
from formulations.lmi import transport_premium
from formulations.variables import LaplacianVariable, smoothness
from wdro_cvx import AmbiguitySet, GaussianBall, WassersteinBall
from wdro_cvx.validation import Array


@register
class RobustPremium(Formulation):
    """The sample average plus a premium: the smallest SDP of both scenarios.

    It states ``min ⟨Θ, L⟩ + γε² + Tr(L(γI - L)⁻¹LΘ) + η‖L‖²`` over L and γ, with one LMI.
    Its value equals those of Theorem 1 and of Propositions 2 and 3.

    Parameters
    ----------
    problem : GraphProblem
        A problem with a :class:`~wdro_cvx.GaussianBall` or a :class:`~wdro_cvx.WassersteinBall`.
    over : {"weights", "matrix"}, optional
        The variable of the program: edge weights (the default) or the symmetric matrix.

    Raises
    ------
    ProblemError
        If the problem has another ambiguity set.

    Examples
    --------
    >>> from formulations import RobustPremium
    >>> from wdro_cvx import GaussianBall, GraphProblem, Nominal
    >>> nominal = Nominal.from_samples([[2.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
    >>> problem = GraphProblem(nominal, GaussianBall(0.5), eta=0.1)
    >>> round(RobustPremium(problem).solve().value, 4)
    3.0168
    """

    claims: ClassVar[tuple[type[AmbiguitySet], ...]] = (GaussianBall, WassersteinBall)

    def risk(self, laplacian: LaplacianVariable) -> Risk:
        """Return the risk, stated with the factor of Θ, which is thin for few samples."""
        nominal = self.normalised.nominal
        unit = self.multiplier_unit()
        premium = transport_premium(
            laplacian.matrix, nominal.factor, self.radius_squared, unit, self.metric()
        )
        return Risk(
            smoothness(nominal.second_moment, laplacian) + premium.value,
            [premium.constraint],
            premium.multiplier,
            lambda: nominal.second_moment + premium.shift(),
        )

    def metric(self) -> Array | None:
        """Return the diagonal of the ground cost, or None for the Euclidean cost."""
        return None
