"""The number of random examples for a property, by the profile of hypothesis."""

from __future__ import annotations

from hypothesis import settings

#: Examples per property by profile: `make test` has "quick", `make test-all` has "full".
PROFILES = {"quick": 12, "full": 50}
_LEAST = 5


def tries(number: int) -> int:
    """Return the number of tries for something that the full profile tries ``number`` times."""
    share = min(settings.default.max_examples / PROFILES["full"], 1.0)
    return max(_LEAST, round(share * number))


def examples(number: int) -> settings:
    """Return settings with this many examples in the full profile, and a share in the others."""
    return settings(max_examples=tries(number))
