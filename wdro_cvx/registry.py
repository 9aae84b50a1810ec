"""Registries of classes by name, for sets, formulations and solvers."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from wdro_cvx.errors import ProblemError

T = TypeVar("T")


class Registry(Generic[T]):
    """The registered subclasses of ``base`` by name.

    A class with the same module and name may be registered again, as happens when a notebook cell
    runs twice; it replaces the earlier one.
    """

    def __init__(self, base: Any) -> None:
        self._base = base
        self._known: dict[str, type[T]] = {}

    def add(self, cls: type[T]) -> None:
        """Register a class, or raise ProblemError if it is abstract or its name is taken."""
        if not (isinstance(cls, type) and issubclass(cls, self._base)):
            raise ProblemError(
                f"{name_of(cls)} cannot be registered: it must subclass {self._base.__name__}."
            )
        missing = sorted(getattr(cls, "__abstractmethods__", ()))
        if missing:
            raise ProblemError(
                f"{cls.__name__} cannot be registered: it must implement {' and '.join(missing)}."
            )
        known = self._known.get(cls.__name__)
        if known is not None and _origin(known) != _origin(cls):
            raise ProblemError(
                f"{cls.__name__} is registered already, as {'.'.join(_origin(known))}; give "
                f"{'.'.join(_origin(cls))} another name."
            )
        self._known[cls.__name__] = cls

    def forget(self, name: str) -> None:
        """Remove a name if it is registered."""
        self._known.pop(name, None)

    def all(self) -> dict[str, type[T]]:
        """Return all registered classes by name."""
        return dict(self._known)


def name_of(cls: object) -> str:
    """Return the name of a class, or the repr of anything else, for messages."""
    return getattr(cls, "__name__", repr(cls))


def _origin(cls: type) -> tuple[str, str]:
    return cls.__module__, cls.__qualname__
