"""The multiplier γ by bisection: an improved version of Algorithm 1.

The paper searches ``[λmax + b, aλmax]``, which need not contain the root (docs/paper.md E6). Here
the bracket is found first. Each step costs one solve with ``γI - L``, as in the paper; the
ambiguity sets use the secular equation, which costs O(d) per step. Algorithm 1 as printed is part
of ``PrintedDescent``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from wdro_cvx import ProblemError
from wdro_cvx.validation import Array, real_number, square_matrix


def bisect_multiplier(
    second_moment: ArrayLike, laplacian: ArrayLike, radius: float, tol: float = 1e-12
) -> float:
    """Return γ > λmax with ``Tr((I - γ(γI - L)⁻¹)² Θ) = radius²``, or λmax in the hard case.

    Parameters
    ----------
    second_moment : array (d, d)
        Θ.
    laplacian : array (d, d)
    radius : float > 0
    tol : float > 0
        Width of the final bracket, relative to γ.

    Returns
    -------
    float

    Raises
    ------
    ProblemError
        If the Laplacian has no positive eigenvalue, or an argument is not valid.

    Examples
    --------
    >>> import numpy as np
    >>> from solvers import bisect_multiplier
    >>> laplacian = np.array([[1.0, -1.0], [-1.0, 1.0]])
    >>> round(bisect_multiplier(np.eye(2), laplacian, radius=0.5), 6)  # 4 / (γ - 2)² = 0.5²
    6.0
    """
    matrix = square_matrix("laplacian", laplacian, error=ProblemError)
    moment = square_matrix("second_moment", second_moment, matrix.shape[0], ProblemError)
    remedy = "With radius 0 the infimum is at γ = ∞."
    radius = real_number("radius", radius, 0.0, strict=True, remedy=remedy)
    tol = max(real_number("tol", tol, 0.0, strict=True), 4 * np.finfo(float).eps)
    top = float(np.linalg.eigvalsh(matrix)[-1])
    if top <= 0.0:
        raise ProblemError(
            "laplacian has no positive eigenvalue, so γ is not determined; pass a graph with edges."
        )
    # The root satisfies ε(γ - λmax) ≤ ‖LΘ^½‖, which bounds it from above. Halving the distance to
    # λmax then brackets it. If there is no root down to the tolerance, this is the hard case.
    width = float(np.sqrt(max(float(np.vdot(matrix @ matrix, moment)), 0.0))) / radius
    while width > tol * top and slope_in_gamma(moment, matrix, top + width / 2, radius) > 0:
        width /= 2
    if width <= tol * top:
        return top
    low, high = top + width / 2, top + width
    while high - low > tol * high:
        middle = (low + high) / 2
        if slope_in_gamma(moment, matrix, middle, radius) > 0:
            high = middle
        else:
            low = middle
    return (low + high) / 2


def slope_in_gamma(moment: Array, laplacian: Array, gamma: float, radius: float) -> float:
    """Return ``∂g/∂γ = ε² - Tr((I - γ(γI - L)⁻¹)²Θ)``, equation 30.

    It is computed from ``I - γ(γI - L)⁻¹ = -(γI - L)⁻¹L``.
    """
    shifted = gamma * np.eye(laplacian.shape[0]) - laplacian
    try:
        moved = np.linalg.solve(shifted, laplacian)
    except np.linalg.LinAlgError:  # γ equals λmax up to rounding
        return -np.inf
    return radius**2 - float(np.vdot(moved @ moment, moved))
