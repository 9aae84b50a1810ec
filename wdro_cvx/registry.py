"""Classes by name: how sets, formulations and solvers become known; no name stands for two."""

from __future__ import annotations

from typing import Generic, TypeVar

from wdro_cvx.errors import ProblemError

T = TypeVar("T")


class Registry(Generic[T]):
    """What has been registered under each class's name.

    The same class of the same module may come again, as it does when a notebook's cell or an
    extension's file is run twice; the later one then counts.
    """

    def __init__(self) -> None:
        self._known: dict[str, type[T]] = {}

    def add(self, cls: type[T]) -> None:
        """Register a class, or say who has its name."""
        known = self._known.get(cls.__name__)
        if known is not None and _origin(known) != _origin(cls):
            raise ProblemError(
                f"{cls.__name__} is registered already, as {'.'.join(_origin(known))}; give "
                f"{'.'.join(_origin(cls))} another name."
            )
        self._known[cls.__name__] = cls

    def forget(self, name: str) -> None:
        """Take a name out again, if it is known."""
        self._known.pop(name, None)

    def all(self) -> dict[str, type[T]]:
        """Return all registered classes by name."""
        return dict(self._known)


def _origin(cls: type) -> tuple[str, str]:
    return cls.__module__, cls.__qualname__
