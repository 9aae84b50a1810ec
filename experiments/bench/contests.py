"""Define the contests: a kind of problem, a judged gap, and the methods with their sizes."""

from __future__ import annotations

from dataclasses import dataclass, replace

from experiments.measuring.campaign import Planned
from experiments.measuring.instances import Instance
from experiments.measuring.measurement import Cell
from experiments.measuring.outcome import Limits

_RADIUS, _ETA = 0.5, 0.3


@dataclass(frozen=True)
class Contest:
    """One kind of problem and the sizes for each method, with our method first."""

    title: str
    instance: Instance
    sizes: dict[str, tuple[int, ...]]
    target: float = 1e-6

    @property
    def ours(self) -> str:
        """Our method, with which the others are compared."""
        return next(iter(self.sizes))

    def plan(self, limits: Limits) -> list[Planned]:
        """Return the measurements."""
        return [
            Planned(self.title, Cell(self._at(d), method, self.target), limits)
            for method, sizes in self.sizes.items()
            for d in sizes
        ]

    def _at(self, d: int) -> Instance:
        """Return the instance with d vertices, and 2d samples unless their number is fixed."""
        return replace(self.instance, d=d, n=self.instance.n or 2 * d)


_AVERAGE = Instance("average", 0, 0, 0.0, _ETA, seed=0)
_GAUSSIAN = Instance("gaussian", 0, 0, _RADIUS, _ETA, seed=0)
_MOMENT = Instance("moment", 0, 0, _RADIUS, _ETA, seed=0)
_HARD = Instance("wasserstein", 0, 5, 10.0, _ETA, seed=0)
_TO_100 = (10, 20, 40, 60, 100)
_TO_40 = (10, 20, 30, 40)
_TO_150 = (20, 40, 60, 100, 150)
_TO_SDP = (*_TO_150, 200)
_TO_200 = (20, 50, 100, 200)
_TO_500 = (*_TO_200, 500)
_TO_1000 = (*_TO_500, 1000)


def _beyond(name: str, radius: float, samples: int, form: str, most: int) -> Contest:
    """Return a contest on few samples for a set beyond the paper, against its conic form."""
    sizes = (10, 30, 60)
    clarabel = tuple(d for d in sizes if d <= most)
    return Contest(
        f"{name}, radius {radius:g}, N = {samples}, gap ≤ 1e-6",
        Instance(name, 0, samples, radius, _ETA, seed=0),
        {"CertifiedSolver": sizes, f"{form}:CLARABEL": clarabel, f"{form}:SCS": sizes},
    )


#: ``wdro bench``.
CONTESTS: tuple[Contest, ...] = (
    Contest("sample average, gap ≤ 1e-9", _AVERAGE, {
        "CertifiedSolver": (*_TO_1000, 2000), "ProjectedGradient": _TO_1000,
        # Called directly.
        "PIQP": _TO_1000, "CLARABEL": _TO_1000, "OSQP": _TO_500, "SCS": _TO_500,
        "HIGHS": (20, 50, 100), "PROXQP": (20, 50, 100),
        # Through CVXPY, which adds its own time.
        "SampleAverage:PIQP": _TO_200, "SampleAverage:CLARABEL": _TO_200,
        "SampleAverage:OSQP": _TO_200, "SampleAverage:QOCO": _TO_200,
        "SampleAverage:ECOS": _TO_200,
    }, target=1e-9),
    Contest("Gaussian/Wasserstein, gap ≤ 1e-6", _GAUSSIAN, {
        "CertifiedSolver": (*_TO_SDP, 500, 1000, 2000),
        "LowRank": (*_TO_SDP, 500, 1000, 2000),
        "ProjectedGradient": (*_TO_SDP, 500, 1000, 2000), "BlockDescent": _TO_SDP,
        "RobustPremium:SCS": _TO_150, "GaussianSDP:SCS": _TO_150, "GaussianDual:SCS": _TO_150,
        "RobustPremium:CLARABEL": _TO_40, "GaussianSDP:CLARABEL": _TO_40,
        "GaussianDual:CLARABEL": _TO_40, "RobustPremium:CVXOPT": _TO_40,
        "GaussianSDP:CVXOPT": _TO_40, "GaussianSDP:SDPA": _TO_40,
    }),
    Contest("general p = 2, gap ≤ 1e-6", _MOMENT, {
        "MomentNewton": _TO_1000, "ProjectedGradient": _TO_500,
        "GeneralRegularized:CLARABEL": _TO_200, "GeneralRegularized:ECOS": _TO_200,
        "GeneralRegularized:QOCO": (20, 50), "GeneralRegularized:SCS": _TO_200,
    }),
    Contest("hard case: Wasserstein, N = 5, radius 10, gap ≤ 1e-6", _HARD, {
        "CertifiedSolver": _TO_100, "ProjectedGradient": _TO_100, "BlockDescent": _TO_100,
        "LowRank": _TO_100, "RobustPremium:SCS": _TO_100, "RobustPremium:CLARABEL": (10, 20, 40),
    }),
    _beyond("MahalanobisBall", 3.0, 10, "MahalanobisPremium", 30),
    _beyond("MomentUncertainty", 3.0, 10, "MomentPremium", 30),
    _beyond("KLBall", 0.5, 30, "KLDual", 60),
    _beyond("ChiSquareBall", 0.5, 30, "ChiSquarePremium", 60),
)  # fmt: skip

_LOG_SIZES = (20, 60, 100, 200, 500, 1000)
_RIVALS = ("PrimalDual", "FDPG", "RestartedFDPG", "LocalFDPG")


def _log_degree(shape: float) -> Contest:
    """Return the sample average under the log-degree prior, against published methods for it."""
    return Contest(f"log-degree, αβ = {shape:g}, gap ≤ 1e-6", replace(_AVERAGE, shape=shape), {
        "CertifiedSolver": (*_LOG_SIZES, 2000), **dict.fromkeys(_RIVALS, _LOG_SIZES),
        "SampleAverage:CLARABEL": _LOG_SIZES[:-1],
    })  # fmt: skip


def _gaussian(title: str, shape: float | None) -> Contest:
    """Return the Gaussian ball under one prior; comparing the contests compares the priors."""
    sizes = {"CertifiedSolver": _LOG_SIZES, "RobustPremium:CLARABEL": (20, 30)}
    return Contest(f"Gaussian ball, {title}, gap ≤ 1e-6", replace(_GAUSSIAN, shape=shape), sizes)


#: ``wdro bench --log-degree``.
LOG_DEGREE = (
    _log_degree(0.1),
    _log_degree(0.01),
    _gaussian(f"Frobenius, η = {_ETA:g}", None),
    _gaussian("log-degree, αβ = 0.1", 0.1),
    _gaussian("log-degree, αβ = 0.01", 0.01),
)
