"""The cases of a test with several parameters that ``make test`` runs."""

import itertools

import pytest
from products import covering, values_of


def test_every_value_occurs_in_few_cases():
    axes = {"a": 4, "b": 3, "c": 2}
    cases = [
        set(zip(axes, values, strict=True))
        for values in itertools.product(*(range(size) for size in axes.values()))
    ]
    kept = covering(cases)
    assert set().union(*(cases[number] for number in kept)) == set().union(*cases)
    assert len(kept) == 4


def test_cases_of_one_parameter_all_remain():
    assert covering([{("a", 0)}, {("a", 1)}, {("a", 2)}]) == {0, 1, 2}


@pytest.mark.parametrize("first", [1, 2, 3])
@pytest.mark.parametrize(("second", "third"), [("a", 0.5), ("b", 0.5)])
def test_values_of_this_very_test(first, second, third, request):
    """Two parameters, one of which sets two names."""
    assert len(set(values_of(request.node))) == 2
    cases = [
        item for item in request.session.items if item.originalname == request.node.originalname
    ]
    seen = [item.callspec.params for item in cases]
    assert {params["first"] for params in seen} >= {first}
    assert len(cases) in (1, 3, 6)  # asked for alone, by make test, by make test-all
