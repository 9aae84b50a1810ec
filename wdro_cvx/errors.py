"""The errors that users see: each names the argument, its value and the remedy."""


class WdroError(Exception):
    """Any error raised on purpose by this toolkit."""


class DataError(WdroError, ValueError):
    """The signals, moments or files cannot be used as they are."""


class ProblemError(WdroError, ValueError):
    """A model, set or parameter is outside its domain."""


class SolverError(WdroError, RuntimeError):
    """A solver is unknown, not installed, or cannot take this problem."""
