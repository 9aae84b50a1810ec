"""A certificate: the optimum lies between two numbers that anyone can recompute."""

import numpy as np

from solvers import solve
from wdro_cvx import GraphProblem, Nominal, WassersteinBall, judge
from wdro_cvx.generators import rbf_graph, smooth_signals

rng = np.random.default_rng(0)
signals = smooth_signals(rbf_graph(30, rng), n=10, rng=rng, noise=0.1)
# Fewer samples than vertices and a large radius: the hard case, where the risk is not smooth.
problem = GraphProblem(Nominal.from_samples(signals), WassersteinBall(radius=20.0), eta=0.1)
answer = solve(problem)

alone = judge(problem, answer.laplacian)
proved = judge(problem, answer.laplacian, answer.certificate)
print(f"value {proved.value:.6f}")
print(f"bound from the graph alone        {alone.bound:.6f}  (gap {alone.gap:.0e})")
print(f"bound with the solver's certificate {proved.bound:.6f}  (gap {proved.gap:.0e})")

# The certificate is a second moment. It counts because it is in the ball, which can be checked:
distance = problem.ambiguity.distance(problem.nominal, answer.certificate.second_moment)
print(f"its distance from the data {distance:.6f}, the radius {problem.ambiguity.radius:g}")
# A forged one does not count, however good its bound would be.
forged = type(answer.certificate)(10 * answer.certificate.second_moment)
print(judge(problem, answer.laplacian, forged).notes)
