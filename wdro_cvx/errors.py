"""Errors for users; each message names the argument, its value and the remedy."""

from __future__ import annotations

import sysconfig
import traceback
from pathlib import Path

#: Prefixes of files that are not the user's: libraries, this package and generated code.
_NOT_THEIRS = (sysconfig.get_paths()["stdlib"], str(Path(__file__).parent), "<frozen", "<__array")


class WdroError(Exception):
    """The base class of all errors that this toolkit raises on purpose.

    Examples
    --------
    >>> from wdro_cvx import GaussianBall, WdroError
    >>> try:
    ...     GaussianBall(-1.0)
    ... except WdroError as error:
    ...     print(type(error).__name__)
    ProblemError
    """


class DataError(WdroError, ValueError):
    """Raised if signals, moments or files cannot be used as they are.

    Examples
    --------
    >>> from wdro_cvx import Nominal
    >>> Nominal.from_samples([[1.0, float("nan")], [0.0, 1.0]])
    Traceback (most recent call last):
        ...
    wdro_cvx.errors.DataError: samples has 1 values that are NaN or infinite, ...
    """


class ProblemError(WdroError, ValueError):
    """Raised if a model, a set or a parameter is outside its domain.

    Examples
    --------
    >>> from wdro_cvx import Frobenius
    >>> Frobenius(eta=-1.0, trace=3.0)
    Traceback (most recent call last):
        ...
    wdro_cvx.errors.ProblemError: eta must be finite and ≥ 0; it is -1.
    """


class SolverError(WdroError, RuntimeError):
    """Raised if a solver is unknown, not installed, or fails on a problem.

    Examples
    --------
    >>> from wdro_cvx import SolverError, WdroError
    >>> issubclass(SolverError, WdroError) and issubclass(SolverError, RuntimeError)
    True
    """


def describe(error: Exception) -> str:
    """Return the type and text of an error, and the place unless it is a WdroError.

    The place is the last line outside the libraries and this package, such as a line of a user's
    own set.
    """
    told = f"{type(error).__name__}: {str(error).strip().removesuffix('.')}"
    frames = [] if isinstance(error, WdroError) else traceback.extract_tb(error.__traceback__)
    for frame in reversed(frames):
        if "site-packages" not in frame.filename and not frame.filename.startswith(_NOT_THEIRS):
            return f"{told} ({Path(frame.filename).name}, line {frame.lineno})"
    return told
