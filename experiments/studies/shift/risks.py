"""Test a graph by the truth: its edges, its weights, its predictions and its risk under shifts.

A shift at test time is an ambiguity set around the *true* second moment. The same code therefore
computes the risk under a shift and the least risk of any graph. White noise at test time is no
shift: it adds ``σ²·Tr L = σ²·d`` to the risk of every graph.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from experiments.measuring.prediction import prediction_error
from solvers import solve
from wdro_cvx import GaussianBall, GraphProblem, MomentBall, Nominal, Singleton
from wdro_cvx.generators import scale_to_trace
from wdro_cvx.metrics import dog, mcc
from wdro_cvx.validation import Array

#: The noise of the signals, in training and in tests.
NOISE = 0.1
#: The share of the other graph under drift. The noise of a broken sensor and the distance of the
#: adversary are relative to the signal.
MIXED, BROKEN, DISTANCE = 0.3, 2.0, 0.3
#: The eta of the test risk, relative to the signal and the same for all models.
TEST_ETA = 0.3
SHIFTS = ("none", "drift", "sensor", "adversary")
#: Risks that one of the balls minimises by definition, with the name of that ball.
OWN = {"risk, sensor": "p = 1", "risk, adversary": "Gaussian"}
METRICS = ("mcc", "dog", "prediction", *(f"risk, {shift}" for shift in SHIFTS))


@dataclass(frozen=True, eq=False)
class Truth:
    """The true graph and its tests.

    Attributes
    ----------
    laplacian : array (d, d)
        Scaled to the trace of a learned graph.
    moment : array (d, d)
        The second moment of its signals.
    risks : dict
        By shift, the problem whose value is the risk, and the least risk of any graph.
    """

    laplacian: Array
    moment: Array
    risks: dict[str, tuple[GraphProblem, float]]

    @classmethod
    def of(cls, laplacian: Array, other: Array) -> Truth:
        """Return the tests of a graph that drifts towards another one."""
        d, moment = len(laplacian), second_moment(laplacian)
        drifted = (1.0 - MIXED) * laplacian + MIXED * other
        length = signal_length(moment)
        eta = TEST_ETA * length**2 / d
        here, there = (
            Nominal.from_moments(np.zeros(d), matrix) for matrix in (moment, second_moment(drifted))
        )
        problems = {
            "none": GraphProblem(here, Singleton(), eta),
            "drift": GraphProblem(there, Singleton(), eta),
            "sensor": GraphProblem(here, MomentBall(BROKEN**2 * length**2 / d, p=1.0), eta),
            "adversary": GraphProblem(here, GaussianBall(DISTANCE * length), eta),
        }
        risks = {name: (problem, solve(problem).value) for name, problem in problems.items()}
        return cls(scale_to_trace(laplacian), moment, risks)

    def score(self, laplacian: Array) -> dict[str, float]:
        """Return every metric of a learned graph; larger is better.

        Risks are the negative *regret*, the relative excess over the least risk of any graph.
        """
        found = {
            "mcc": mcc(laplacian, self.laplacian),
            "dog": -dog(laplacian, self.laplacian),
            "prediction": -prediction_error(laplacian, self.moment),
        }
        for name, (problem, best) in self.risks.items():
            found[f"risk, {name}"] = 1.0 - problem.value(laplacian) / best
        return found


def second_moment(laplacian: Array) -> Array:
    """Return the second moment of the signals of a graph, including noise."""
    noise = NOISE**2 * np.eye(len(laplacian))
    return np.asarray(np.linalg.pinv(laplacian, hermitian=True) + noise)


def signal_length(moment: Array) -> float:
    """Return the root mean squared length of signals after centring each over the vertices.

    A Laplacian depends only on centred signals, so this length is the unit of a radius.
    """
    return float(np.sqrt(np.trace(moment) - moment.mean() * len(moment)))
