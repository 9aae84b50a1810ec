"""
A certificate closes
====================

Every solver keeps two numbers: the value of its best graph, and a bound that no graph can beat.
The optimum lies between them. The solver stops when they meet. This example is a hard case: there
are fewer signals than vertices and the radius is large, so the risk has a kink at the optimum.
"""

import matplotlib.pyplot as plt
import numpy as np

from experiments.drawing.style import BLUE, GREEN, PAGE, VERMILION
from solvers import solve
from wdro_cvx import GraphProblem, Nominal, WassersteinBall, judge
from wdro_cvx.generators import rbf_graph, smooth_signals

rng = np.random.default_rng(0)
signals = smooth_signals(rbf_graph(30, rng), n=10, rng=rng, noise=0.1)
problem = GraphProblem(Nominal.from_samples(signals), WassersteinBall(radius=20.0), eta=0.1)
progress = []
answer = solve(problem, tol=1e-8, callback=progress.append)

alone = judge(problem, answer.laplacian)
proved = judge(problem, answer.laplacian, answer.certificate)
print(f"value {proved.value:.6f}")
print(f"bound from the graph alone        {alone.bound:.6f}  (gap {alone.gap:.0e})")
print(f"bound with the solver's certificate {proved.bound:.6f}  (gap {proved.gap:.0e})")

# %%
# The certificate is a second moment. The judge checks that it lies in the ball. It rejects a forged
# certificate, however good its bound would be.

distance = problem.ambiguity.distance(problem.nominal, answer.certificate.second_moment)
print(f"its distance from the data {distance:.6f}, the radius {problem.ambiguity.radius:g}")
forged = type(answer.certificate)(10 * answer.certificate.second_moment)
print(judge(problem, answer.laplacian, forged).notes)

# %%
# With a moderate radius the same problem is smooth and takes only a few steps.

easy_progress = []
easy = GraphProblem(problem.nominal, WassersteinBall(radius=1.0), eta=0.1)
solve(easy, tol=1e-8, callback=easy_progress.append)

figure, (left, right) = plt.subplots(1, 2, figsize=(PAGE, 2.6), layout="constrained")
steps = np.arange(1, len(progress) + 1)
values = np.array([step.value for step in progress])
bounds = np.array([step.bound for step in progress])
left.fill_between(steps, bounds, values, color=BLUE, alpha=0.12, linewidth=0)
left.plot(steps, values, color=VERMILION, label="value of the best graph")
left.plot(steps, bounds, color=BLUE, label="bound for every graph")
left.axhline(proved.value, color="black", linewidth=0.5, linestyle=":")
room = 0.15 * (values.max() - proved.value)
left.set(xlabel="step", ylabel="objective", title="the optimum is in the shaded region",
         ylim=(proved.value - 3 * room, values.max() + room))  # fmt: skip
left.legend()
for steps, colour, label in (
    (progress, GREEN, "radius 20, hard"),
    (easy_progress, BLUE, "radius 1, smooth"),
):
    gaps = [max(step.gap, 1e-12) for step in steps]
    right.plot(np.arange(1, len(gaps) + 1), gaps, color=colour, marker="o", label=label)
right.set(yscale="log", xlabel="step", ylabel="relative gap", title="how fast it closes")
right.legend()
figure.savefig("certificate.png")
