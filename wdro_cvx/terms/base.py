"""The interface of terms: convex functions of the Laplacian beside the worst-case risk.

For a convex ``g`` and any matrix Y, ``g(L) ≥ ⟨Y, L⟩ - g*(Y)`` for all L, with equality if Y is the
gradient at L. A lower bound for the problem without the term therefore becomes one for the problem
with it: ``M + Y`` replaces the second moment M, and ``g*(Y)`` is subtracted.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from wdro_cvx.errors import ProblemError
from wdro_cvx.graphs.laplacian import edge_index
from wdro_cvx.priors import DegreePrior
from wdro_cvx.registry import Registry
from wdro_cvx.validation import Array, real_number, square_matrix

EPS = float(np.finfo(float).eps)


@dataclass(frozen=True, eq=False)
class Term(ABC):
    """A convex function ``α·h(L)`` of the Laplacian; the base class of all terms.

    To write a new term, subclass this with the parameters of ``h`` as further dataclass fields and
    implement :meth:`value`, :meth:`gradient`, :meth:`conjugate` and :meth:`expression`
    (docs/terms.md). Without a conjugate the judge has no lower bound.

    Parameters
    ----------
    alpha : float > 0
        The weight of the term, in the unit of the objective.

    Raises
    ------
    ProblemError
        If alpha is not positive and finite.

    Examples
    --------
    A term that keeps the trace near 4, ``α(Tr L - 4)²``. Its conjugate is finite only for multiples
    of the identity; other matrices prove nothing.

    >>> from dataclasses import dataclass
    >>> import numpy as np
    >>> from wdro_cvx import Term, check_term
    >>> @dataclass(frozen=True, eq=False)
    ... class NearTrace(Term):
    ...     def value(self, laplacian):
    ...         return self.alpha * (np.trace(laplacian) - 4.0) ** 2
    ...     def gradient(self, laplacian):
    ...         return 2 * self.alpha * (np.trace(laplacian) - 4.0) * np.eye(len(laplacian))
    ...     def conjugate(self, slope):
    ...         y = slope[0, 0]
    ...         if not np.array_equal(slope, y * np.eye(len(slope))):
    ...             return np.inf
    ...         return (4.0 * y + y**2 / (4 * self.alpha)) * (1 + 1e-15 * np.sign(y))
    ...     def expression(self, laplacian, cp):
    ...         return self.alpha * cp.square(laplacian.trace - 4.0)
    >>> print(check_term(NearTrace(0.5)).failures)
    ()
    """

    alpha: float

    #: Whether a problem with this term may have a free trace: it keeps the graph from vanishing.
    sets_scale: ClassVar[bool] = False
    #: Whether a problem with this term may have eta = 0: its solution is unique all the same.
    replaces_eta: ClassVar[bool] = False
    #: Whether it has a gradient everywhere in its domain; otherwise only formulations solve it.
    smooth: ClassVar[bool] = True

    def __post_init__(self) -> None:
        alpha = real_number("alpha", self.alpha, 0.0, strict=True, sized=True)
        object.__setattr__(self, "alpha", alpha)

    @abstractmethod
    def value(self, laplacian: Array) -> float:
        """Return ``g(L)``, rounded upwards; infinite outside the domain.

        The weights of the Laplacian are exact; its diagonal and trace may have rounding errors.
        """

    @abstractmethod
    def gradient(self, laplacian: Array) -> Array:
        """Return a subgradient at a Laplacian in the domain, as a symmetric matrix."""

    def slope_near(self, laplacian: Array, wanted: Array) -> Array:
        """Return the subgradient Y at a Laplacian with ``𝒯*Y`` nearest to the wanted edge costs.

        A smooth term, which has only one subgradient, need not override it.
        """
        return self.gradient(laplacian)

    def conjugate(self, slope: Array) -> float:
        """Return at least ``g*(Y) = sup ⟨Y, L⟩ - g(L)``; infinite outside its domain.

        It must never be too small: the judge's lower bound rests on it. A term whose conjugate is
        finite only on a subspace, which rounding leaves, overrides :meth:`minorant` instead.

        Parameters
        ----------
        slope : array (d, d)
            Y, symmetric.
        """
        return np.inf

    def minorant(self, slope: Array) -> tuple[Array, float]:
        """Return edge costs c and a price p with ``cᵀw - p ≤ g(L)`` for all weights ``w ≥ 0``.

        By default these are ``𝒯*Y``, rounded down, and the conjugate of the slope Y.
        """
        return costs_below(slope, np.zeros_like(slope)), self.conjugate(slope)

    @abstractmethod
    def expression(self, laplacian: Any, cp: Any) -> Any:
        """Return the term as a convex CVXPY expression.

        Parameters
        ----------
        laplacian : formulations.LaplacianVariable
            With ``matrix``, ``degrees``, ``weights`` and ``trace``.
        cp : module
            ``cvxpy``, which this package does not import.
        """

    def conjugate_expression(self, slope: Any, cp: Any) -> Any:
        """Return the conjugate as a convex CVXPY expression of Y, for dual programs.

        Raises
        ------
        ProblemError
            If the term does not offer it.
        """
        raise ProblemError(
            f"{type(self).__name__} has no conjugate_expression, which dual programs need; choose "
            "another formulation."
        )

    def check_fits(self, d: int, prior: DegreePrior) -> None:
        """Raise ProblemError if the term does not fit d vertices or the prior."""
        return

    def floor(self, d: int) -> float:
        """Return the size to which gaps are relative if values may be close to zero."""
        return 0.0

    def scaled(self, factor: float) -> Self:
        """Return the term for objectives multiplied by factor."""
        return replace(self, alpha=self.alpha * factor)

    @classmethod
    def example(cls, alpha: float, d: int) -> Self:
        """Return a term of this kind for d vertices, for comparisons and checks.

        Override it if there are parameters without defaults.
        """
        return cls(alpha)

    def __repr__(self) -> str:
        """Return the weight."""
        return f"{type(self).__name__}(alpha={self.alpha:g})"


def costs_below(matrix: Array, error: Array) -> Array:
    """Return the edge costs ``𝒯*Y``, rounded down, of a Y that is within ``error`` of a matrix."""
    heads, tails = edge_index(len(matrix))
    own, unsure = np.diagonal(matrix), np.diagonal(error)
    entries, doubt = matrix[heads, tails], error[heads, tails]
    sizes = np.abs(own)[heads] + np.abs(own)[tails] + 2 * np.abs(entries)
    costs = own[heads] + own[tails] - 2 * entries
    return costs - (unsure[heads] + unsure[tails] + 2 * doubt + 8 * EPS * sizes)


def symmetric_parameter(name: str, value: Any) -> Array:
    """Return a read-only symmetric matrix, or raise ProblemError."""
    matrix = square_matrix(name, value, error=ProblemError)
    scale = float(np.abs(matrix).max())
    if not scale <= 1e100:
        raise ProblemError(f"{name} has entries of size {scale:.3g}; scale it down.")
    if float(np.abs(matrix - matrix.T).max()) > 1e-9 * scale:
        raise ProblemError(f"{name} must be symmetric; pass ({name} + {name}.T) / 2.")
    matrix = (matrix + matrix.T) / 2
    matrix.flags.writeable = False
    return matrix


T = TypeVar("T", bound=type[Term])
_REGISTRY: Registry[Term] = Registry(Term)


def register_term(cls: T) -> T:
    """Register a term under its class name, so that the conformance checks include it.

    Parameters
    ----------
    cls : Term subclass
        Parameters other than alpha need defaults, or :meth:`Term.example` must be overridden.

    Returns
    -------
    Term subclass
        The same class, so that this works as a decorator.

    Raises
    ------
    ProblemError
        If the class is abstract or not a Term, or if another class has its name.

    Examples
    --------
    >>> from wdro_cvx import LogDet, register_term, registered_terms
    >>> register_term(LogDet) is registered_terms()["LogDet"]  # already there
    True
    """
    _REGISTRY.add(cls)
    return cls


def registered_terms() -> dict[str, type[Term]]:
    """Return all registered terms by class name.

    Returns
    -------
    dict of str to Term subclass

    Examples
    --------
    >>> from wdro_cvx import registered_terms
    >>> registered_terms()["LogDet"].example(alpha=2.0, d=4)
    LogDet(alpha=2)
    """
    return _REGISTRY.all()
