"""The robust premium for a transport cost with a full-matrix metric.

In the coordinates ``T⁻¹x`` the cost is Euclidean, and the Laplacian becomes ``TᵀLT``.
"""

from __future__ import annotations

from formulations.base import Formulation, Risk, register
from formulations.lmi import transport_premium
from formulations.variables import LaplacianVariable, smoothness
from wdro_cvx import MetricBall


@register
class MetricPremium(Formulation):
    """The robust premium for a transport cost with a full-matrix metric.

    It states ``min ⟨Θ, L⟩ + γε² + Tr(K(γI - K)⁻¹KΨ) + η‖L‖²`` over L and γ, where ``K = TᵀLT`` and
    ``Θ = TΨTᵀ``.

    Parameters
    ----------
    problem : GraphProblem
        A problem with a :class:`~wdro_cvx.MetricBall`.
    over : {"weights", "matrix"}, optional
        The variable of the program: edge weights (the default) or the symmetric matrix.

    Raises
    ------
    ProblemError
        If the problem has another ambiguity set.

    Examples
    --------
    >>> from formulations import MetricPremium
    >>> from wdro_cvx import GraphProblem, MetricBall, Nominal
    >>> nominal = Nominal.from_samples([[2.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
    >>> diagonal = MetricBall(0.5, ((1.0, 0.0, 0.0), (0.0, 2.0, 0.0), (0.0, 0.0, 1.0)))
    >>> round(MetricPremium(GraphProblem(nominal, diagonal, eta=0.1)).solve().value, 4)
    4.4109
    """

    claims = (MetricBall,)

    def risk(self, laplacian: LaplacianVariable) -> Risk:
        """Return the risk, with the premium in the coordinates ``T⁻¹x``."""
        nominal, ambiguity = self.normalised.nominal, self.normalised.ambiguity
        assert isinstance(ambiguity, MetricBall)
        frame = ambiguity.frame
        premium = transport_premium(
            frame.matrix.T @ laplacian.matrix @ frame.matrix,
            frame.inside(nominal.factor),
            self.radius_squared,
            self.multiplier_unit(),
        )
        return Risk(
            smoothness(nominal.second_moment, laplacian) + premium.value,
            [premium.constraint],
            premium.multiplier,
            lambda: nominal.second_moment + frame.moment(premium.shift()),
        )
