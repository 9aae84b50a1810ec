"""What is timed: kinds of work, who does it, at which sizes, to which judged gap."""

from __future__ import annotations

from dataclasses import dataclass, replace

from experiments.measuring.campaign import Planned
from experiments.measuring.instances import Instance
from experiments.measuring.measurement import Cell
from experiments.measuring.outcome import Limits

_RADIUS, _ETA = 0.5, 0.3


@dataclass(frozen=True)
class Contest:
    """One kind of work: who does it, at which sizes, to which judged gap, and who is to win."""

    title: str
    instance: Instance
    ours: str
    target: float
    sizes: dict[str, tuple[int, ...]]

    def plan(self, limits: Limits) -> list[Planned]:
        """Return the measurements."""
        return [
            Planned(self.title, Cell(self._at(d), method, self.target), limits)
            for method, sizes in self.sizes.items()
            for d in sizes
        ]

    def _at(self, d: int) -> Instance:
        """Return the instance of d vertices, with two samples for each where it does not say."""
        return replace(self.instance, d=d, n=self.instance.n or 2 * d)


_AVERAGE = Instance("average", 0, 0, 0.0, _ETA, seed=0)
_GAUSSIAN = Instance("gaussian", 0, 0, _RADIUS, _ETA, seed=0)
_MOMENT = Instance("moment", 0, 0, _RADIUS, _ETA, seed=0)


def _set(name: str, radius: float, samples: int, form: str) -> Contest:
    """Return one of the sets beyond the paper, few samples, against its conic form."""
    return Contest(
        f"{name}, radius {radius:g}, N = {samples}, gap ≤ 1e-6",
        Instance(name, 0, samples, radius, _ETA, seed=0),
        "CertifiedSolver",
        1e-6,
        {
            "CertifiedSolver": (10, 30, 60),
            f"{form}:CLARABEL": (10, 30, 60)
            if form in ("KLDual", "ChiSquarePremium")
            else (10, 30),
            f"{form}:SCS": (10, 30, 60),
        },
    )


#: ``wdro bench``.
CONTESTS: tuple[Contest, ...] = (
    Contest(
        "sample average, gap ≤ 1e-9",
        _AVERAGE,
        "CertifiedSolver",
        1e-9,
        {
            "CertifiedSolver": (20, 50, 100, 200, 500, 1000, 2000),
            "PIQP": (20, 50, 100, 200, 500, 1000),
            "ProjectedGradient": (20, 50, 100, 200, 500, 1000),
            "SampleAverage:CLARABEL": (20, 50, 100, 200),
        },
    ),
    Contest(
        "Gaussian/Wasserstein, gap ≤ 1e-6",
        _GAUSSIAN,
        "CertifiedSolver",
        1e-6,
        {
            "CertifiedSolver": (20, 40, 60, 100, 150, 200, 500, 1000, 2000),
            "ProjectedGradient": (20, 40, 60, 100, 150, 200, 500, 1000, 2000),
            "BlockDescent": (20, 40, 60, 100, 150, 200),
            "RobustPremium:SCS": (20, 40, 60, 100, 150),
            "GaussianSDP:SCS": (20, 40, 60, 100, 150),
            "RobustPremium:CLARABEL": (10, 20, 30, 40),
            "GaussianSDP:CLARABEL": (10, 20, 30, 40),
        },
    ),
    Contest(
        "general p = 2, gap ≤ 1e-6",
        _MOMENT,
        "MomentNewton",
        1e-6,
        {
            "MomentNewton": (20, 50, 100, 200, 500, 1000),
            "ProjectedGradient": (20, 50, 100, 200, 500),
            "GeneralRegularized:CLARABEL": (20, 50, 100, 200),
        },
    ),
    Contest(
        "hard case: Wasserstein, N = 5, radius 10, gap ≤ 1e-6",
        Instance("wasserstein", 0, 5, 10.0, _ETA, seed=0),
        "CertifiedSolver",
        1e-6,
        {
            "CertifiedSolver": (10, 20, 40, 60, 100),
            "ProjectedGradient": (10, 20, 40, 60, 100),
            "BlockDescent": (10, 20, 40, 60, 100),
            "RobustPremium:SCS": (10, 20, 40, 60, 100),
            "RobustPremium:CLARABEL": (10, 20, 40),
        },
    ),
    _set("MahalanobisBall", 3.0, 10, "MahalanobisPremium"),
    _set("MomentUncertainty", 3.0, 10, "MomentPremium"),
    _set("KLBall", 0.5, 30, "KLDual"),
    _set("ChiSquareBall", 0.5, 30, "ChiSquarePremium"),
)


def _log_degree(shape: float, sizes: tuple[int, ...]) -> Contest:
    """Return the sample average under the log-degree prior, where the field has its own methods."""
    rivals = ("PrimalDual", "FDPG", "RestartedFDPG", "LocalFDPG")
    return Contest(
        f"log-degree, αβ = {shape:g}, gap ≤ 1e-6",
        Instance("average", 0, 0, 0.0, _ETA, seed=0, shape=shape),
        "CertifiedSolver",
        1e-6,
        {
            "CertifiedSolver": (*sizes, 2000),
            **dict.fromkeys(rivals, sizes),
            "SampleAverage:CLARABEL": (20, 60, 100, 200, 500),
        },
    )


def _gaussian(title: str, shape: float | None) -> Contest:
    """Return the Gaussian ball under one of the priors, to compare what the two cost."""
    sizes = (20, 60, 100, 200, 500, 1000)
    return Contest(
        f"Gaussian ball, {title}, gap ≤ 1e-6",
        replace(_GAUSSIAN, shape=shape),
        "CertifiedSolver",
        1e-6,
        {"CertifiedSolver": sizes, "RobustPremium:CLARABEL": (20, 30)},
    )


#: ``wdro bench --log-degree``.
LOG_DEGREE = (
    *(_log_degree(shape, (20, 60, 100, 200, 500, 1000)) for shape in (0.1, 0.01)),
    _gaussian(f"Frobenius, η = {_ETA:g}", None),
    _gaussian("log-degree, αβ = 0.1", 0.1),
    _gaussian("log-degree, αβ = 0.01", 0.01),
)
