"""The sample-average program (equations 8 and 9 of the paper), the baseline without robustness."""

from __future__ import annotations

from formulations.base import Formulation, Risk, register
from formulations.variables import LaplacianVariable, smoothness
from wdro_cvx import Singleton


@register
class SampleAverage(Formulation):
    """The sample-average approximation: a quadratic program.

    It states ``min ⟨Θ, L⟩ + η‖L‖²``, where Θ is the nominal second moment.

    Parameters
    ----------
    problem : GraphProblem
        A problem with a :class:`~wdro_cvx.Singleton`.
    over : {"weights", "matrix"}, optional
        The variable of the program: edge weights (the default) or the symmetric matrix.

    Raises
    ------
    ProblemError
        If the problem has another ambiguity set.

    Examples
    --------
    >>> from formulations import SampleAverage
    >>> from wdro_cvx import GraphProblem, Nominal, Singleton
    >>> nominal = Nominal.from_samples([[2.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
    >>> problem = GraphProblem(nominal, Singleton(), eta=0.1)
    >>> round(SampleAverage(problem).solve().value, 4)
    1.5833
    """

    claims = (Singleton,)

    def risk(self, laplacian: LaplacianVariable) -> Risk:
        """Return ``⟨Θ, L⟩``."""
        return Risk(smoothness(self.normalised.nominal.second_moment, laplacian))
