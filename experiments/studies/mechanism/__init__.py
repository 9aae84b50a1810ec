"""``wdro study mechanism``: test why the Gaussian ball finds better edges from many signals.

For small radii its premium is ``2ε√E‖Lx‖²``. The study replaces the ball by this residual, computed
from the signals, from their variances alone, from shuffled signals, and from other signals.
"""
