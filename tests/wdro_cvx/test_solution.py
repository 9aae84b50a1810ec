"""The adjacency matrix and network of a solution; names of the sets."""

import networkx as nx
import numpy as np
import pytest
from scipy import sparse

from wdro_cvx import MomentBall, ProblemError, Solution, Status, registered_ambiguities
from wdro_cvx.ambiguity import ambiguity_names, named_ambiguity

LAPLACIAN = np.array([[3.0, -2.0, -1.0], [-2.0, 2.0, 0.0], [-1.0, 0.0, 1.0]])


@pytest.mark.parametrize("convert", [np.array, sparse.csr_array])
def test_adjacency_and_network(convert):
    answer = Solution(convert(LAPLACIAN), 1.0, Status.SOLVED)
    weights = sparse.csr_array(answer.adjacency).toarray()
    np.testing.assert_array_equal(weights, [[0, 2, 1], [2, 0, 0], [1, 0, 0]])
    network = answer.to_networkx()
    np.testing.assert_array_equal(nx.to_numpy_array(network), weights)
    named = answer.to_networkx(["a", "b", "c"], threshold=1.5)
    assert list(named) == ["a", "b", "c"]
    assert list(named.edges(data="weight")) == [("a", "b", 2.0)]
    with pytest.raises(ProblemError, match="3 different names"):
        answer.to_networkx(["a", "b", "b"])


def test_every_set_has_a_short_name():
    names = ambiguity_names()
    assert len(names) == len(registered_ambiguities())
    assert {"wasserstein", "gaussian", "moment", "kl", "chi-square", "mahalanobis", "singleton",
            "moment-uncertainty"} <= set(names)  # fmt: skip
    assert named_ambiguity("moment", {"p": 1.0}) == MomentBall(0.0, p=1.0)
    assert named_ambiguity("MomentBall") == MomentBall(0.0)


@pytest.mark.parametrize(
    ("name", "parameters", "message"),
    [
        ("ball", {}, "must be one of .*wasserstein.*; it is 'ball'"),
        ("moment", {"q": 1.0}, "no parameter 'q'; it has p, alpha"),
        ("kl", {"radius": 1.0}, "no parameter 'radius'; it has none"),
        ("moment-uncertainty", {"mean_radius": 1.0}, "needs covariance_radius"),
    ],
)
def test_bad_names_and_parameters(name, parameters, message):
    with pytest.raises(ProblemError, match=message):
        named_ambiguity(name, parameters)
