"""The control of iterations that the dense and the large solvers share."""
