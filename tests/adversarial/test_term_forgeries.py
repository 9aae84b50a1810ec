"""Wrong slopes of terms: whatever a certificate or a proof file offers, nothing false is proved."""

import copy
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import pytest

from solvers import solve
from wdro_cvx import (
    Certificate,
    EdgeBounds,
    Frobenius,
    GraphProblem,
    KnownEdges,
    KnownGraph,
    LogDet,
    Nominal,
    ProblemError,
    Residuals,
    Singleton,
    Stationarity,
    WassersteinBall,
    judge,
)
from wdro_cvx.graphs.laplacian import complete_graph, laplacian_from_weights
from wdro_cvx.proof import proof_document
from wdro_cvx.verify import RefusedError, establish, prove

D = 6
NOMINAL = Nominal.from_samples(np.random.default_rng(1).standard_normal((25, D)))
BOUNDS = EdgeBounds.from_edges(D, absent=[(0, 1)], present=[(2, 3)], least=0.05, most=0.9)
PRIORS = {
    "eta": Frobenius(0.1, D),
    "no eta": Frobenius(0.0, None),
    "no eta, trace": Frobenius(0.0, D),
    "no eta, penalty": Frobenius(0.0, D, 2.0),
    "no eta, bounds": Frobenius(0.0, D, bounds=BOUNDS),
}


def solved(prior, ambiguity=None):
    problem = GraphProblem(
        NOMINAL, ambiguity or Singleton(), prior=PRIORS[prior], terms=(LogDet(1.0),)
    )
    answer = solve(problem, 1e-9)
    return problem, answer, judge(problem, answer)


def slopes(truth, rng):
    """Yield slopes from slightly wrong to absurd."""
    noise = rng.standard_normal((D, D))
    for share in (1 - 1e-7, 1 + 1e-7, 0.5, 0.99, 1.01, 2.0, 1e6, 0.0, -1.0, 1e-300, 1e200):
        yield share * truth
    for size in (1e-12, 1e-6, 1e-2, 1.0):
        yield truth + size * (noise + noise.T)
        yield truth + size * np.ones((D, D))  # costs no edge anything
        yield truth - size * np.ones((D, D))
    yield np.diag(np.diagonal(truth))
    yield np.ones((D, D))


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("ambiguity", [Singleton(), WassersteinBall(0.3)], ids=str)
def test_no_slope_proves_more_than_the_optimum(prior, ambiguity):
    problem, answer, verdict = solved(prior, ambiguity)
    assert verdict.solved(1e-8)
    given = answer.certificate
    for slope in slopes(given.slopes[0], np.random.default_rng(0)):
        for nu in (given.degree_multipliers, np.full(D, 0.01), np.full(D, -0.01)):
            forged = Certificate(given.moment, nu, given.trace_multiplier, (slope,))
            with np.errstate(over="ignore"):
                found = judge(problem, answer.laplacian, forged)
            assert found.bound <= verdict.value
            assert found.gap >= 0.0


def test_slopes_that_are_no_numbers_or_do_not_fit_are_refused():
    problem, answer, _ = solved("eta")
    given = answer.certificate
    with pytest.raises(ProblemError, match="NaN"):
        Certificate(given.moment, slopes=(np.full((D, D), np.nan),))
    for wrong in ((), (np.eye(D), np.eye(D)), (np.eye(D + 1),)):
        with pytest.raises(ProblemError, match="slopes must be 1 matrices"):
            judge(problem, answer.laplacian, Certificate(given.moment, slopes=wrong))
    with pytest.raises(ProblemError, match="slopes must be 0 matrices"):
        judge(problem.replace(terms=()), answer.laplacian, given)


@dataclass(frozen=True, eq=False)
class NaNTerm(LogDet):
    """A term of a careless author."""

    def value(self, laplacian):
        return np.nan

    def conjugate(self, slope):
        return np.nan


def test_a_term_that_returns_no_numbers_proves_nothing():
    problem = GraphProblem(NOMINAL, Singleton(), eta=0.1, terms=(NaNTerm(1.0),))
    verdict = judge(problem, complete_graph(D, float(D)))
    assert verdict.value == np.inf
    assert verdict.bound == -np.inf
    assert not verdict.solved(1.0)


def test_a_subclass_has_no_proof():
    problem = GraphProblem(NOMINAL, Singleton(), eta=0.1, terms=(NaNTerm(1.0),))
    answer = solve(problem.replace(terms=(LogDet(1.0),)))
    with pytest.raises(ProblemError, match="exact verifier does not know"):
        proof_document(problem, answer)


def documents():
    known = KnownEdges(0.3, complete_graph(D, float(D)))
    for prior in PRIORS:
        problem, answer, verdict = solved(prior)
        yield problem, answer, verdict
    signal = np.arange(1.0, D + 1)
    for terms in (
        (known,),
        (Stationarity(0.5, NOMINAL.second_moment), LogDet(0.5)),
        (Residuals(0.5, NOMINAL.second_moment),),
        (Residuals(0.5, np.outer(signal, signal)), LogDet(0.5)),  # of rank one
    ):
        problem = GraphProblem(NOMINAL, Singleton(), eta=0.1, terms=terms)
        if known in terms:
            import formulations

            answer = formulations.SampleAverage(problem).solve()
        else:
            answer = solve(problem, 1e-8)
        yield problem, answer, judge(problem, answer)


def test_an_altered_proof_is_refused_or_proves_less():
    for problem, answer, verdict in documents():
        document = proof_document(problem, answer)
        honest = prove(document)
        # Exact value and bound are inside the judge's, which are rounded outwards.
        assert verdict.bound <= float(honest.bound) <= float(honest.value) <= verdict.value + 1e-15
        triangle = document["certificate"]["slopes"][0]
        for change in (lambda x: 1.01 * x, lambda x: 0.99 * x, lambda x: -x, lambda x: 0.0 * x):
            forged = copy.deepcopy(document)
            forged["certificate"]["slopes"][0] = [[change(x) for x in row] for row in triangle]
            try:
                assert establish(forged).bound <= honest.value
            except RefusedError:
                continue


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("certificate", "slopes"), []),
        (("certificate", "slopes"), None),
        (("problem", "terms"), []),
        (("problem", "terms", 0, "alpha"), 0.0),
        (("problem", "terms", 0, "alpha"), -1.0),
        (("problem", "terms", 0, "kind"), "Unknown"),
        (("problem", "prior", "trace_penalty"), 1.0),
        (("certificate", "nu"), [0.1] * D),
    ],
)
def test_a_malformed_proof_is_refused(path, value):
    problem, answer, _ = solved("no eta")
    document = proof_document(problem, answer)
    place = document
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = value
    with pytest.raises(RefusedError):
        establish(document)


def test_a_term_left_out_of_a_proof_is_noticed():
    """The digest is of the problem; without its term, slopes have no place in the file."""
    problem, answer, _ = solved("eta")
    document = proof_document(problem, answer)
    del document["problem"]["terms"]
    with pytest.raises(RefusedError, match="exactly the members"):
        establish(document)


def test_a_larger_weight_of_the_term_needs_another_slope():
    problem, answer, _ = solved("eta")
    document = proof_document(problem, answer)
    document["problem"]["terms"][0]["alpha"] = 2.0
    other = solve(problem.replace(terms=(LogDet(2.0),)), 1e-9)
    found = establish(document)
    assert float(found.bound) <= other.value <= float(found.value) + 1e-9


def test_slopes_beyond_those_of_known_edges_are_drawn_back():
    """Costs outside [-α, α] would promise more than the term is worth."""
    import formulations

    term = KnownEdges(0.01, complete_graph(D, float(D)))
    problem = GraphProblem(NOMINAL, Singleton(), eta=0.01, terms=(term,))
    document = proof_document(problem, formulations.SampleAverage(problem).solve())
    honest = establish(document)
    triangle = document["certificate"]["slopes"][0]
    # Edges that the optimal graph leaves out have room below their costs.
    forged = [[2.0 * x if x > 0.0 else x for x in row] for row in triangle]
    assert forged != triangle
    document["certificate"]["slopes"][0] = forged
    assert establish(document).bound == honest.bound


def test_a_trace_missed_by_rounding_counts_in_a_steep_term():
    """The known weights missed the trace by rounding; following them cost nothing all the same."""
    for seed in range(20):
        known = np.random.default_rng(seed).random(10)
        known *= 2.5 / known.sum()
        term = KnownEdges(1e12, laplacian_from_weights(known))
        table = 1e-3 * np.random.default_rng(seed).standard_normal((9, 5))
        problem = GraphProblem(Nominal.from_samples(table), Singleton(), eta=1e-6, terms=(term,))
        least = Fraction(1e12) * abs(Fraction(2.5) - sum(map(Fraction, known.tolist())))
        assert Fraction(judge(problem, term.laplacian).value) >= least


def test_a_trace_that_no_weights_have_exactly_counts_in_a_steep_term():
    """The weight of one edge is 1e-20, below the rounding of the others."""
    bounds = EdgeBounds([1e-20, 0.1, 0.1], [1e-20, np.inf, np.inf])
    known = laplacian_from_weights(np.array([1e-20, 0.5, 0.5]))
    for term in (KnownEdges(1e30, known), KnownGraph(1e45, known)):
        problem = GraphProblem(
            Nominal.from_samples(np.eye(3)),
            Singleton(),
            prior=Frobenius(0.1, 2.0, bounds=bounds),
            terms=(term,),
        )
        # Of the squares, two weights of half of it cost least.
        least = 1e10 if isinstance(term, KnownEdges) else 1e45 * 2e-40
        assert judge(problem, known).value >= least
