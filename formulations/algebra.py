"""Programs of combined sets, derived from the programs of their parts.

Premiums of a sum add. The risk of an intersection is the infimal convolution of the parts' risks:
the smallest sum of them over all ways to split the losses, or the matrix, between the parts.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence

import cvxpy as cp
import numpy as np

from formulations.base import Formulation, Risk, register, registered
from formulations.reweighting import Reweighting
from formulations.robust_premium import RobustPremium
from formulations.variables import LaplacianVariable, smoothness
from wdro_cvx import AmbiguitySet, CombinedSet, MomentBall, ProblemError, SetInCoordinates
from wdro_cvx.ambiguity import Norm, ShiftIntersection, WeightsIntersection
from wdro_cvx.moments.composite import MappedMoment, SumMoment
from wdro_cvx.moments.points import DenseMoment, Moment, TransportedMoment, as_moment
from wdro_cvx.validation import Array


def program_for(ambiguity: AmbiguitySet) -> type[Formulation]:
    """Return a registered formulation that states the risk of a set."""
    if isinstance(ambiguity, RobustPremium.claims):
        return RobustPremium
    for kind in registered().values():
        if isinstance(ambiguity, kind.claims):
            return kind
    raise ProblemError(
        f"no registered formulation claims {type(ambiguity).__name__}, a part of this set. "
        "Register one with formulations.register."
    )


class _Derived(Formulation):
    """A program made of the programs of parts."""

    _programs: list[Formulation]

    @abstractmethod
    def parts(self) -> Sequence[AmbiguitySet]:
        """Return the parts, in the units of the problem and with their present radii."""

    def _set_parameters(self) -> None:
        super()._set_parameters()
        for program, part in zip(getattr(self, "_programs", []), self.parts(), strict=False):
            program.resize(self.problem.replace(ambiguity=part))


@register
class CombinedProgram(_Derived):
    """The sum of sets: the sample average plus the premium of every part.

    Each part is stated by a registered formulation.

    Parameters
    ----------
    problem : GraphProblem
        A problem with a :class:`~wdro_cvx.CombinedSet`.
    over : {"weights", "matrix"}, optional
        The variable of the program: edge weights (the default) or the symmetric matrix.

    Raises
    ------
    ProblemError
        If the problem has another ambiguity set, or no formulation states one of its parts.

    Examples
    --------
    >>> from formulations import CombinedProgram
    >>> from wdro_cvx import GraphProblem, MomentBall, Nominal, WassersteinBall
    >>> nominal = Nominal.from_samples([[2.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
    >>> problem = GraphProblem(nominal, WassersteinBall(0.5) + MomentBall(0.1), eta=0.1)
    >>> round(CombinedProgram(problem).solve().value, 4)
    3.257
    """

    claims = (CombinedSet,)

    def parts(self) -> Sequence[AmbiguitySet]:
        """Return the parts of the sum."""
        assert isinstance(self.problem.ambiguity, CombinedSet)
        return self.problem.ambiguity.sized_parts

    def risk(self, laplacian: LaplacianVariable) -> Risk:
        """Return the sum of the premiums; every part reads its own worst moment."""
        ambiguity = self.problem.ambiguity
        assert isinstance(ambiguity, CombinedSet)
        theta = self.normalised.nominal.second_moment
        expression = smoothness(theta, laplacian) * (1.0 - sum(ambiguity.factors))
        constraints: list[cp.Constraint] = []
        self._programs, risks = [], []
        for factor, part in zip(ambiguity.factors, self.parts(), strict=True):
            program = program_for(part).part_of(self, part)
            stated = (
                program.risk(laplacian) if part.radius > 0.0 else Risk(smoothness(theta, laplacian))
            )
            if not isinstance(stated, Risk):
                raise ProblemError(
                    f"{type(program).__name__}.risk returns a MomentSet, and a part of a combined "
                    "set needs a Risk. Register a formulation of that part that returns one."
                )
            self._programs.append(program)
            risks.append(stated)
            expression = expression + factor * stated.expression
            constraints += stated.constraints

        def worst_moment() -> SumMoment:
            terms = zip(ambiguity.factors, self._programs, risks, strict=True)
            return SumMoment(
                theta, tuple(_worst_of(*term, laplacian) for term in terms), ambiguity.factors
            )

        return Risk(expression, constraints, worst_moment=worst_moment)


def _worst_of(
    factor: float, program: Formulation, stated: Risk, laplacian: LaplacianVariable
) -> Moment:
    """Return the worst moment of a part: from its duals, or else from the graph.

    The factor of a premium multiplies its duals. Some parts normalise what they read from them, so
    the factor drops out; for other parts it has to be divided out. The right reading attains the
    part's risk.
    """
    problem = program.normalised
    matrix = np.asarray(laplacian.matrix.value)
    if stated.worst_moment is None or problem.ambiguity.radius == 0.0 or factor == 0.0:
        return problem.ambiguity.worst_case(problem.nominal, (matrix + matrix.T) / 2).moment
    read, theta = as_moment(stated.worst_moment()), problem.nominal.second_moment
    if factor == 1.0:
        return read
    divided = DenseMoment(theta + (read.second_moment - theta) / factor)
    risk = float(np.asarray(stated.expression.value).item())
    return min(
        (read, divided), key=lambda one: abs(float(np.vdot(one.second_moment, matrix)) - risk)
    )


@register
class WeightsIntersectionProgram(_Derived, Reweighting):
    """The intersection of sets of weights: the losses are split between the parts.

    Parameters
    ----------
    problem : GraphProblem
        A problem with a :class:`~wdro_cvx.ambiguity.WeightsIntersection`, such as
        ``KLBall(0.3) & CVaRBall(1.0)``, whose nominal has samples.
    over : {"weights", "matrix"}, optional
        The variable of the program: edge weights (the default) or the symmetric matrix.

    Raises
    ------
    ProblemError
        If the problem has another ambiguity set, or its nominal has no samples.

    Examples
    --------
    >>> from formulations import WeightsIntersectionProgram
    >>> from wdro_cvx import CVaRBall, GraphProblem, KLBall, Nominal
    >>> nominal = Nominal.from_samples([[2.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
    >>> problem = GraphProblem(nominal, KLBall(0.5) & CVaRBall(0.1), eta=0.1)
    >>> round(WeightsIntersectionProgram(problem).solve().value, 4)
    1.6406
    """

    claims = (WeightsIntersection,)

    def parts(self) -> Sequence[AmbiguitySet]:
        """Return the parts of the intersection."""
        assert isinstance(self.problem.ambiguity, WeightsIntersection)
        return self.problem.ambiguity.sized_parts

    def risk(self, laplacian: LaplacianVariable) -> Risk:
        """Return the smallest sum of the parts' risks; one equation splits the losses."""
        total, definition = self.losses(laplacian)
        shares = [cp.Variable(total.size, name="losses") for _ in self.parts()]
        split = sum(shares[1:], shares[0]) == total
        expression: cp.Expression = cp.Constant(0.0)
        constraints = [definition, split]
        self._programs = []
        for share, part in zip(shares, self.parts(), strict=True):
            program = program_for(part).part_of(self, part)
            assert isinstance(program, Reweighting)
            program.split = share, split
            stated = program.risk(laplacian)
            assert isinstance(stated, Risk)
            self._programs.append(program)
            expression = expression + stated.expression
            constraints += [one for one in stated.constraints if one is not split]
        return Risk(expression, constraints, worst_moment=lambda: self.reweighed(definition))


@register
class ShiftIntersectionProgram(Formulation):
    """The intersection of norm balls of second moments: the Laplacian is split between the norms.

    It states ``min ⟨Θ, L⟩ + Σ ε_k‖vec K_k‖_q + η‖L‖²`` over L and ``K_k`` with ``Σ K_k = L``.

    Parameters
    ----------
    problem : GraphProblem
        A problem with a :class:`~wdro_cvx.ambiguity.ShiftIntersection`, such as
        ``MomentBall(1.0) & MomentBall(0.1, p=np.inf)``.
    over : {"weights", "matrix"}, optional
        The variable of the program: edge weights (the default) or the symmetric matrix.

    Raises
    ------
    ProblemError
        If the problem has another ambiguity set.

    Examples
    --------
    >>> import numpy as np
    >>> from formulations import ShiftIntersectionProgram
    >>> from wdro_cvx import GraphProblem, MomentBall, Nominal
    >>> nominal = Nominal.from_samples([[2.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
    >>> both = MomentBall(0.5) & MomentBall(0.1, p=np.inf)
    >>> round(ShiftIntersectionProgram(GraphProblem(nominal, both, eta=0.1)).solve().value, 4)
    2.1833
    """

    claims = (ShiftIntersection,)

    def risk(self, laplacian: LaplacianVariable) -> Risk:
        """Return the smallest sum of dual norms; the dual of the split is the worst shift."""
        ambiguity, theta = self.normalised.ambiguity, self.normalised.nominal.second_moment
        assert isinstance(ambiguity, ShiftIntersection)
        d, premium = self.problem.d, cp.Constant(0.0)
        shares = [cp.Variable((d, d), name="share", symmetric=True) for _ in ambiguity.parts]
        split = sum(shares[1:], shares[0]) == laplacian.matrix
        for share, part in zip(shares, ambiguity.parts, strict=True):
            premium = premium + part.radius * cp.pnorm(cp.vec(share, order="F"), part.q)
        return Risk(
            smoothness(theta, laplacian) + self.radius * premium,
            [split],
            worst_moment=lambda: theta + _aligned(split, laplacian),
        )


@register
class CoordinatesProgram(Formulation):
    """The moment ball in coordinates: the sample average plus a norm of ``TᵀLT``.

    Parameters
    ----------
    problem : GraphProblem
        A problem with ``MomentBall(...).in_coordinates(T)``.
    over : {"weights", "matrix"}, optional
        The variable of the program: edge weights (the default) or the symmetric matrix.

    Raises
    ------
    ProblemError
        If the problem has another ambiguity set, or another set in coordinates.

    Examples
    --------
    >>> import numpy as np
    >>> from formulations import CoordinatesProgram
    >>> from wdro_cvx import GraphProblem, MomentBall, Nominal
    >>> nominal = Nominal.from_samples([[2.0, 1.0, 0.0], [0.0, 1.0, 1.0]])
    >>> ball = MomentBall(0.5, p=1.5).in_coordinates(np.eye(3))
    >>> round(CoordinatesProgram(GraphProblem(nominal, ball, eta=0.1)).solve().value, 4)
    2.542
    """

    claims = (SetInCoordinates,)

    def risk(self, laplacian: LaplacianVariable) -> Risk:
        """Return the risk; the dual of ``K = TᵀLT`` is the worst shift in the coordinates."""
        ambiguity, theta = self.normalised.ambiguity, self.normalised.nominal.second_moment
        assert isinstance(ambiguity, SetInCoordinates)
        if not isinstance(ambiguity.base, MomentBall):
            raise ProblemError(
                f"CoordinatesProgram states MomentBall in coordinates; this is "
                f"{type(ambiguity.base).__name__} in coordinates. State it with a formulation of "
                "its own."
            )
        frame, d = ambiguity.frame, self.problem.d
        inside = cp.Variable((d, d), name="inside", symmetric=True)
        equal = inside == frame.matrix.T @ laplacian.matrix @ frame.matrix
        norm = cp.pnorm(cp.vec(inside, order="F"), Norm(ambiguity.base.p).dual_order)

        def worst_moment() -> Moment:
            found = np.asarray(frame.form(np.asarray(laplacian.matrix.value)))
            nominal = ambiguity.inner_nominal(self.normalised.nominal)
            shift = _oriented(np.asarray(equal.dual_value), found)
            return MappedMoment(TransportedMoment(nominal.rows, shift=shift), frame.matrix)

        return Risk(
            smoothness(theta, laplacian) + self.radius * norm, [equal], worst_moment=worst_moment
        )


def _aligned(split: cp.Constraint, laplacian: LaplacianVariable) -> Array:
    return _oriented(np.asarray(split.dual_value), np.asarray(laplacian.matrix.value))


def _oriented(dual: Array, matrix: Array) -> Array:
    """Return a dual as a symmetric shift that raises the risk of a matrix."""
    shift = (dual + dual.T) / 2
    return np.asarray(shift if float(np.vdot(shift, matrix)) >= 0.0 else -shift)
