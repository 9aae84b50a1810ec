"""Classes by name: how sets, formulations and solvers become known; no name stands for two."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

from wdro_cvx.errors import ProblemError

T = TypeVar("T")


class Registry(Generic[T]):
    """The subclasses of ``base`` that have been registered, under each one's name.

    The same class of the same module may come again, as it does when a notebook's cell or an
    extension's file is run twice; the later one then counts.
    """

    def __init__(self, base: Any) -> None:
        self._base = base
        self._known: dict[str, type[T]] = {}

    def add(self, cls: type[T]) -> None:
        """Register a class, or say what it lacks or who has its name."""
        if not (isinstance(cls, type) and issubclass(cls, self._base)):
            raise ProblemError(
                f"{name_of(cls)} cannot be registered: it must subclass {self._base.__name__}."
            )
        missing = sorted(getattr(cls, "__abstractmethods__", ()))
        if missing:
            raise ProblemError(
                f"{cls.__name__} cannot be registered: it must write {' and '.join(missing)}."
            )
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


def name_of(cls: object) -> str:
    """Return the name of a class, for messages, and of what should have been one."""
    return getattr(cls, "__name__", repr(cls))


def _origin(cls: type) -> tuple[str, str]:
    return cls.__module__, cls.__qualname__
