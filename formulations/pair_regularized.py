"""One radius per pair of vertices: the sample average with a surcharge on every edge."""

from __future__ import annotations

from formulations.base import Formulation, Risk, register
from formulations.variables import LaplacianVariable, smoothness
from wdro_cvx import PairBall


@register
class PairRegularized(Formulation):
    """The sample average plus a surcharge on every edge.

    It states ``min ⟨Θ, L⟩ + ε Σ s_ij w_ij + η‖L‖²``, where ``εs_ij`` is the radius of the pair.

    Parameters
    ----------
    problem : GraphProblem
        A problem with a :class:`~wdro_cvx.PairBall`.
    over : {"weights", "matrix"}, optional
        The variable of the program: edge weights (the default) or the symmetric matrix.

    Raises
    ------
    ProblemError
        If the problem has another ambiguity set.

    Examples
    --------
    >>> from formulations import PairRegularized
    >>> from wdro_cvx import GraphProblem, Nominal, PairBall
    >>> nominal = Nominal.from_samples([[2.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
    >>> problem = GraphProblem(nominal, PairBall(0.5), eta=0.1)
    >>> round(PairRegularized(problem).solve().value, 4)
    2.3333
    """

    claims = (PairBall,)

    def risk(self, laplacian: LaplacianVariable) -> Risk:
        """Return ``⟨Θ, L⟩ + ε Σ s_ij w_ij``."""
        ambiguity = self.normalised.ambiguity
        assert isinstance(ambiguity, PairBall)
        scales = ambiguity.scales_of(self.normalised.d)
        expression = smoothness(self.normalised.nominal.second_moment, laplacian)
        return Risk(expression + self.radius * (scales @ laplacian.weights))
