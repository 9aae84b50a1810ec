"""
What the adversary does
=======================

An ambiguity set says what may be wrong with the data. The pictures show the worst cases of six sets
for signals on three vertices. The risk of a graph does not depend on the level of a signal, so each
signal is drawn as a point in a plane. The ellipses are lines of equal smoothness over the path
1 – 2 – 3: rougher signals are further out.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Ellipse

from experiments.drawing.style import BLUE, GREY, PAGE, VERMILION
from wdro_cvx import (
    ChiSquareBall,
    GaussianBall,
    KLBall,
    MahalanobisBall,
    MomentUncertainty,
    Nominal,
    WassersteinBall,
)

laplacian = np.array([[1.0, -1.0, 0.0], [-1.0, 2.0, -1.0], [0.0, -1.0, 1.0]])
plane = np.array([[1.0, 0.0, -1.0], [1.0, -2.0, 1.0]]) / np.sqrt([[2.0], [6.0]])
rng = np.random.default_rng(5)
nominal = Nominal.from_samples(rng.standard_normal((22, 2)) * (0.8, 0.45) @ plane + 0.4 * plane[0])

sets = {
    "WassersteinBall: signals move": WassersteinBall(0.5),
    "MahalanobisBall: vertex 1 is noisy": MahalanobisBall(0.25, scales=(4.0, 1.0, 1.0)),
    "GaussianBall: the Gaussian moves": GaussianBall(0.5),
    "KLBall: weights tilt": KLBall(0.5),
    "ChiSquareBall: some weights are zero": ChiSquareBall(1.0),
    "MomentUncertainty: two error bars": MomentUncertainty(1.0, 0.5, 0.3),
}


def ellipse(axes, mean, covariance, colour, scale=2.0, **style):
    """Draw the ellipse of two standard deviations."""
    values, vectors = np.linalg.eigh(plane @ covariance @ plane.T)
    width, height = 2 * scale * np.sqrt(np.maximum(values, 0.0))
    angle = np.degrees(np.arctan2(vectors[1, 0], vectors[0, 0]))
    axes.add_patch(
        Ellipse(plane @ mean, width, height, angle=angle, edgecolor=colour, fill=False, **style)
    )


def smoothness_lines(axes):
    """Draw lines of equal smoothness."""
    grid = np.linspace(-3, 3, 80)
    points = np.stack(np.meshgrid(grid, grid), axis=-1) @ plane
    smoothness = np.einsum("abi,ij,abj->ab", points, laplacian, points)
    axes.contour(
        grid, grid, smoothness, levels=np.arange(1, 9) ** 2 / 2, colors="#DDDDDD", linewidths=0.6
    )


# %%
# The Wasserstein ball moves every signal x to :math:`\gamma(\gamma I - L)^{-1}x`, outwards and
# along the rough direction. The KL and the chi-square ball move no signal but give rough signals
# more weight. ``MomentUncertainty`` changes mean and covariance separately.

figure, panels = plt.subplots(
    2, 3, figsize=(PAGE, 4.4), layout="constrained", sharex=True, sharey=True
)
samples = nominal.samples
for axes, (title, ambiguity) in zip(panels.flat, sets.items(), strict=True):
    worst = ambiguity.worst_case(nominal, laplacian)
    average = np.vdot(nominal.second_moment, laplacian)
    print(f"{title:40} average {average:.3f}, worst case {worst.risk:.3f}")
    smoothness_lines(axes)
    x, y = plane @ samples.T
    if isinstance(ambiguity, (WassersteinBall, MahalanobisBall)):
        moved = plane @ worst.distribution.points.T
        axes.quiver(x, y, *(moved - [x, y]), angles="xy", scale_units="xy", scale=1, width=0.006,
                    color=VERMILION)  # fmt: skip
        axes.scatter(x, y, s=9, color=BLUE, zorder=3)
    elif isinstance(ambiguity, (KLBall, ChiSquareBall)):
        weights = worst.distribution.weights * len(samples)
        axes.scatter(x, y, s=6, color=BLUE, zorder=3)
        axes.scatter(x, y, s=30 * weights, facecolors="none", edgecolors=VERMILION, linewidths=1.0)
    else:
        axes.scatter(x, y, s=4, color=GREY)
        ellipse(axes, nominal.mean, nominal.covariance, BLUE, linewidth=1.2)
        if isinstance(ambiguity, GaussianBall):
            mean, covariance = worst.distribution.mean, worst.distribution.covariance
        else:
            mean = nominal.mean + worst.moment.change
            covariance = nominal.covariance + worst.moment.shift
        ellipse(axes, mean, covariance, VERMILION, linewidth=1.2)
        axes.plot(*(plane @ nominal.mean), "+", color=BLUE)
        axes.plot(*(plane @ mean), "+", color=VERMILION)
    axes.set_title(title)
    axes.set(xlim=(-2.6, 2.9), ylim=(-2.2, 2.2), aspect="equal")
for axes in panels[1]:
    axes.set_xlabel("vertex 1 against vertex 3")
for axes in panels[:, 0]:
    axes.set_ylabel("vertex 2 against both")
figure.savefig("worst_case.png")
