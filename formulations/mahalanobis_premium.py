"""The robust premium for a transport cost with a scale per vertex.

The congruence ``x = Sy`` turns ``γI - SLS`` into ``γS⁻² - L``: the Euclidean form with ``S⁻²`` in
place of the identity.
"""

from __future__ import annotations

import numpy as np

from formulations.base import register
from formulations.robust_premium import RobustPremium
from wdro_cvx import MahalanobisBall
from wdro_cvx.validation import Array


@register
class MahalanobisPremium(RobustPremium):
    """The robust premium for a transport cost with a scale per vertex.

    It states ``min ⟨Θ, L⟩ + γε² + Tr(L(γS⁻² - L)⁻¹LΘ) + η‖L‖²`` over L and γ, where S holds the
    scales.

    Parameters
    ----------
    problem : GraphProblem
        A problem with a :class:`~wdro_cvx.MahalanobisBall`.
    over : {"weights", "matrix"}, optional
        The variable of the program: edge weights (the default) or the symmetric matrix.

    Raises
    ------
    ProblemError
        If the problem has another ambiguity set.

    Examples
    --------
    >>> from formulations import MahalanobisPremium
    >>> from wdro_cvx import GraphProblem, MahalanobisBall, Nominal
    >>> nominal = Nominal.from_samples([[2.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
    >>> problem = GraphProblem(nominal, MahalanobisBall(0.5, (1.0, 2.0, 1.0)), eta=0.1)
    >>> round(MahalanobisPremium(problem).solve().value, 4)
    4.4109
    """

    claims = (MahalanobisBall,)

    def metric(self) -> Array:
        """Return the diagonal of ``S⁻²``."""
        ambiguity = self.normalised.ambiguity
        assert isinstance(ambiguity, MahalanobisBall)
        return np.array(ambiguity.scales) ** -2.0
