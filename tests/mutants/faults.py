"""Faults to plant: for each file the tests that must notice, and texts with their faulty forms.

Each fault is a plausible mistake: a wrong sign, a missing factor, rounding in the wrong direction,
a check left out. Every text occurs exactly once in its file.
"""

_JUDGE = (
    "tests/wdro_cvx/test_judge.py tests/wdro_cvx/test_dual_bound.py "
    "tests/wdro_cvx/test_edge_costs.py "
    "tests/adversarial/test_binding_bounds.py tests/adversarial/test_forgeries.py "
    "tests/adversarial/test_structured.py tests/adversarial"
)
_SETS = "tests/wdro_cvx/ambiguity tests/conformance/test_sets.py"
_VERIFY = (
    "tests/wdro_cvx/test_verify.py tests/wdro_cvx/test_verify_combined.py "
    "tests/adversarial/test_altered_proofs.py"
)
_FORMS = "tests/formulations tests/conformance/test_formulations.py"
_PRIORS = "tests/wdro_cvx/priors tests/solvers/test_log_degree.py tests/solvers/test_bounds.py"
_LARGE = "tests/wdro_cvx/judging tests/solvers/large"

FAULTS: dict[str, tuple[str, list[tuple[str, str]]]] = {
    # The judge
    "wdro_cvx/judging/dual_bound.py": (
        _JUDGE,
        [
            ("levels *= -4 * _EPS", "levels *= 4 * _EPS"),
            (" - kept - _SUM * size", " - kept"),
            ("(axis=-1) / (8 * prior.beta)", "(axis=-1) / (8.001 * prior.beta)"),
            ("np.square(nu).sum(axis=-1) / (4 *", "np.square(nu).sum(axis=-1) / (8 *"),
        ],
    ),
    "wdro_cvx/judging/edge_costs.py": (
        f"{_JUDGE} {_SETS}",
        [
            ("return costs - slack, slack", "return costs, slack"),
            ("double = 2 * (mean[heads]", "double = 1 * (mean[heads]"),
            ("error = 2 * (len(matrix) + 4) * _EPS * (size", "error = 0.0 * (size"),
            ("doubt = (frame.matrix.shape[0] + 8) * _EPS", "doubt = 0.0"),
        ],
    ),
    "wdro_cvx/judging/court.py": (
        _JUDGE,
        [
            ("if distance <= radius:", "if distance <= 1.01 * radius:"),
            ("cost + rounding * size + max(", "cost + max("),
        ],
    ),
    "wdro_cvx/judging/dense.py": (
        _JUDGE,
        [
            ("value = risk + rounding", "value = risk - rounding"),
        ],
    ),
    "wdro_cvx/judging/offered_value.py": (
        "tests/wdro_cvx/judging/test_offered_value.py",
        [
            ("+ start + left + loss", "+ start + left"),
        ],
    ),
    "wdro_cvx/judging/edges.py": (
        f"tests/wdro_cvx/graphs {_JUDGE}",
        [
            ("around = 2 * (excess", "around = 1 * (excess"),
        ],
    ),
    "wdro_cvx/judge.py": (
        _JUDGE,
        [
            ("and 0.0 <= gap <= tol", "and gap <= tol"),
            ("and oracle_error <= ORACLE_TOLERANCE", "and oracle_error >= 0.0"),
        ],
    ),
    "wdro_cvx/judging/sparse/prices.py": (
        f"{_LARGE} tests/adversarial",
        [
            ("levels -= 1.01 * (np.square(moved)", "levels += 1.01 * (np.square(moved)"),
        ],
    ),
    "wdro_cvx/judging/sparse/shift.py": (
        _LARGE,
        [
            ("ordered) - self.radius)", "ordered) - 2 * self.radius)"),
            ("min(self.radius / total, 1.0) * _DOWN", "min(self.radius / total, 1.0) / _DOWN"),
            ("return (1.0 - 4 * EPS) / self", "return (1.0 + 4 * EPS) / self"),
            (
                "found -= self.surcharge.least + 4 * EPS * found",
                "found -= self.surcharge.least / 2",
            ),
            ("Surcharge(4 * radius)", "Surcharge(2 * radius)"),
            ("return Raise(raised), nu - raised", "return Raise(raised), nu"),
        ],
    ),
    "wdro_cvx/judging/sparse/reweighed.py": (
        _LARGE,
        [
            ("np.square(difference)", "np.abs(difference)"),
            ("risk = max(float(", "risk = min(0.999 * float("),
        ],
    ),
    # Sets and moments
    "wdro_cvx/ambiguity/secular.py": (
        _SETS,
        [
            ("radius**2 - spent)", "radius**2)"),
            ("total**0.5 / radius - mean", "total**0.5 / radius"),
        ],
    ),
    "wdro_cvx/ambiguity/transport.py": (
        f"{_SETS} tests/adversarial",
        [
            ("root.multiplier * radius**2 + dot", "root.multiplier * radius + dot"),
            ("np.vstack([moves, moment.spread])", "moves"),
        ],
    ),
    "wdro_cvx/ambiguity/membership.py": (
        f"tests/adversarial/test_composed_sets.py {_SETS}",
        [
            ("return 0.0 if distance == 0.0 else np.inf", "return 0.0"),
        ],
    ),
    "wdro_cvx/ambiguity/reweighting.py": (
        f"tests/adversarial/test_composed_sets.py {_SETS}",
        [
            ("(-1.0, 1.0)]", "(-1.0, -1.0)]"),
        ],
    ),
    "wdro_cvx/ambiguity/kl.py": (
        _SETS,
        [
            ("multiplier * (radius + np", "multiplier * (np"),
            ("1.0 / sharpness", "sharpness"),
        ],
    ),
    "wdro_cvx/ambiguity/tilting.py": (
        _SETS,
        [
            ("if spent < self.radius else", "if spent > self.radius else"),
        ],
    ),
    "wdro_cvx/ambiguity/chi_square.py": (
        _SETS,
        [
            ("level + slope * dev", "level - slope * dev"),
        ],
    ),
    "wdro_cvx/ambiguity/moment.py": (
        _SETS,
        [
            ("total ** (1.0 / q - 1.0)", "total ** (1.0 / q)"),
        ],
    ),
    "wdro_cvx/ambiguity/structure.py": (
        _SETS,
        [
            ("radius ** (self.alpha - 1.0)", "radius**self.alpha"),
        ],
    ),
    "wdro_cvx/terms/residuals.py": (
        "tests/conformance/test_terms.py",
        [
            ("price = self.alpha * float", "price = 0.5 * self.alpha * float"),
        ],
    ),
    "wdro_cvx/ambiguity/pairs.py": (
        _SETS,
        [
            ("(self.radius / 2 * scales)", "(self.radius * scales)"),
        ],
    ),
    "wdro_cvx/ambiguity/mahalanobis.py": (
        _SETS,
        [
            ("moment.spread * scales", "moment.spread"),
        ],
    ),
    "wdro_cvx/ambiguity/moment_uncertainty.py": (
        _SETS,
        [
            ("shift = reach * aligned", "shift = size * aligned"),
        ],
    ),
    "wdro_cvx/moments/points.py": (
        f"tests/wdro_cvx/test_moments.py {_SETS}",
        [
            ("centre.moved + share * (self.moved - centre.moved)", "share * self.moved"),
            ("self.mean + self.change / 2", "self.mean + self.change"),
        ],
    ),
    # Priors and graphs
    "wdro_cvx/priors/base.py": (
        f"{_PRIORS} {_JUDGE}",
        [
            ("slope - column(self.alpha) / deg", "slope + column(self.alpha) / deg"),
            ("(2.0 / d, d - 2.0)", "(1.0 / d, d - 2.0)"),
        ],
    ),
    "wdro_cvx/priors/trace.py": (
        f"{_PRIORS} {_JUDGE}",
        [
            ("(16.0 * self.stiff", "(8.0 * self.stiff"),
        ],
    ),
    "wdro_cvx/graphs/laplacian.py": (
        "tests/wdro_cvx/graphs",
        [
            ("- matrix[heads, tails] - matrix[tails, heads]", "- 2 * matrix[heads, tails]"),
            ("np.repeat([-1.0, 1.0], 2 * m)", "np.repeat([1.0, -1.0], 2 * m)"),
        ],
    ),
    # The verifier
    "wdro_cvx/verify.py": (
        _VERIFY,
        [
            ("log_between(unit * degree)[0]", "log_between(unit * degree)[1]"),
            (" / (gamma - top)", " / gamma"),
            ("counts[abs(entry)] += 2", "counts[abs(entry)] += 1"),
            ("(risk_of(part) - average)", "(risk_of(part) - average) / 2"),
            ("image = [frame.out(list(column))", "image = [list(column)"),
            (
                "log_between(total / proof.table.total)[1]",
                "log_between(total / proof.table.total)[0]",
            ),
        ],
    ),
    # Solvers
    "solvers/qp/ascent.py": (
        "tests/solvers/norm tests/solvers/transport",
        [
            ("pivot += share * cross**2", "pivot -= share * cross**2"),
        ],
    ),
    "solvers/qp/dense.py": (
        "tests/solvers/qp tests/solvers/test_log_degree.py",
        [
            ("cost**2 + 8 * logs * bend", "cost**2 + 4 * logs * bend"),
            (
                "paid = dot(self.nu, self.degrees) + self.square / 2",
                "paid = dot(self.nu, self.degrees) + self.square",
            ),
        ],
    ),
    "solvers/control/spectral.py": (
        "tests/solvers/control tests/solvers/generic",
        [
            ("max(2 * self.rho, self.beta)", "max(self.rho / 2, self.beta)"),
            ("self.rho > _NEGLIGIBLE * self.beta", "self.rho < _NEGLIGIBLE * self.beta"),
        ],
    ),
    "solvers/transport/quadratic.py": (
        "tests/solvers/transport",
        [
            ("value -= qp.coupling", "value += qp.coupling"),
        ],
    ),
    "solvers/transport/lmi.py": (
        "tests/solvers/transport tests/conformance/test_sets.py",
        [
            ("factor=form.frame.inside(centred)", "factor=form.frame.outside(centred)"),
        ],
    ),
    "solvers/qp/saddle_system.py": (
        "tests/solvers/atoms tests/solvers/generic",
        [
            ("block_diag(-at.soft", "block_diag(at.soft"),
            ("0, :]) + at.slack", "0, :]) - at.slack"),
        ],
    ),
    "solvers/qp/saddle_stack.py": (
        "tests/solvers/atoms",
        [
            ("moved.tau.tolist(), moved.theta", "moved.theta.tolist(), moved.tau"),
            ("model.spread.count > _MOST", "model.spread.count > 10**9"),
        ],
    ),
    "wdro_cvx/judge_many.py": (
        "tests/wdro_cvx/test_judge_many.py tests/adversarial/test_many_attacks.py",
        [
            ("self.sure &= usable", "pass"),
            ("risk + rounding + SUM * np.abs(risk)", "0.999 * risk"),
        ],
    ),
    "solvers/norm/dual.py": (
        "tests/solvers/norm",
        [
            ("if excess <= -40 * _EPS:", "if excess <= 4e6 * _EPS:"),
            ("self.nu - shift[:d], self.tau", "self.nu + shift[:d], self.tau"),
        ],
    ),
    "solvers/large/pricing.py": (
        "tests/solvers/large",
        [
            ("= levels + allowed", "= levels - 9 * allowed"),
            ("prices -= charges.of(head, tail)", "prices -= charges.least"),
        ],
    ),
    "solvers/large/reweighed.py": (
        "tests/solvers/large/test_reweighed.py",
        [
            ("change = d_tau - costs", "change = d_tau + costs"),
            ("sides -= ends @ costs", "sides += ends @ costs"),
        ],
    ),
    "solvers/qp/share_model.py": (
        "tests/solvers/large/test_reweighed.py",
        [
            ("(slope - bend @ centre)", "(slope + bend @ centre)"),
            ("- ball.divergence(q) - s", "- s"),
        ],
    ),
    "solvers/large/charges.py": (
        "tests/solvers/large",
        [
            ("surcharge.least if fixed else 0.0", "surcharge.least"),
            ("= self.order[rows], self.order[columns]", "= rows, columns"),
        ],
    ),
    "solvers/large/worst_case.py": (
        "tests/solvers/large",
        [
            (" + form + rest /", " + form - rest /"),
        ],
    ),
    "solvers/large/sparse_qp.py": (
        "tests/solvers/large",
        [
            ("rest - square + self", "rest + square + self"),
        ],
    ),
    "solvers/paper/spectral.py": (
        "tests/solvers/paper",
        [
            ("/ (8 * problem.prior", "/ (80 * problem.prior"),
        ],
    ),
    "solvers/paper/block_descent.py": (
        "tests/solvers/paper",
        [
            ("descent.subgradient + adjoint(new_moment - old_moment)", "descent.subgradient"),
        ],
    ),
    "solvers/paper/bisection.py": (
        "tests/solvers/paper",
        [
            ("return radius**2 - float(", "return radius - float("),
        ],
    ),
    "solvers/selection/edges.py": (
        "tests/solvers/selection/test_edges.py",
        [
            ("2.0 * pilot + mean", "2.0 * pilot - mean"),
            ("np.sqrt(np.cumsum(precision))", "np.cumsum(precision)"),
            ("return cut(own, pilot, many if few else None)", "return cut(own, pilot)"),
            ("score / np.sqrt(enlarged)", "score * 1.0"),
        ],
    ),
    "solvers/selection/refit.py": (
        "tests/solvers/selection/test_refit.py",
        [
            ("if gap > tol", "if gap > 100 * tol"),
            ("-costs / 2", "-costs"),
        ],
    ),
    "solvers/selection/structure.py": (
        "tests/solvers/selection/test_edges.py tests/solvers/test_awkward_tables.py",
        [
            ("_EVIDENT = 2.0", "_EVIDENT = -2.0"),
            ("pairs / np.arange(1", "len(levels) / np.arange(1"),
        ],
    ),
    "solvers/selection/partial.py": (
        "tests/solvers/selection/test_partial.py",
        [
            ("_ROWS = 4", "_ROWS = 3"),
            ("_LEVEL = 0.5", "_LEVEL = 0.1"),
            ("return np.asarray(np.arctanh(bounded)", "return np.asarray(bounded"),
            ("variance / (1.0 + partial[part] ** 2)", "np.ones_like(variance)"),
        ],
    ),
    "solvers/selection/preparation.py": (
        "tests/solvers/test_views.py tests/solvers/test_awkward_tables.py",
        [
            ("UNLIKE = 0.35, 10.0**0.5", "UNLIKE = 0.35, 1e9"),
            ("UNLIKE = 0.35, 10.0**0.5", "UNLIKE = 1e9, 10.0**0.5"),
            ("_HEAVY = 1.1", "_HEAVY = 1e9"),
            ("_PASSES = 3", "_PASSES = 1"),
            ("table / self.scale + self.centre", "table * self.scale + self.centre"),
        ],
    ),
    "solvers/learned/imputation.py": (
        "tests/solvers/test_views.py",
        [
            ("right = -(matrix", "right = (matrix"),
        ],
    ),
    "solvers/selection/bootstrap.py": (
        "tests/solvers/selection",
        [
            ("return distance / unit if", "return distance if"),
            ("(ambiguity.radius_degree / 2)", "(-ambiguity.radius_degree / 2)"),
        ],
    ),
    # Formulations
    "formulations/base.py": (
        _FORMS,
        [
            ("scaled(self._unit**0.5)", "scaled(self._unit)"),
        ],
    ),
    "formulations/lmi.py": (
        _FORMS,
        [
            ("- cross - cross.T", "+ cross + cross.T"),
        ],
    ),
    "formulations/gaussian_sdp.py": (
        _FORMS,
        [
            ("[0] for term in terms]", "[0] for term in terms[1:]]"),
        ],
    ),
    "formulations/general_regularized.py": (
        _FORMS,
        [
            ("2 ** (1 / ambiguity.q)", "2.0"),
        ],
    ),
    "formulations/chi_square_premium.py": (
        _FORMS,
        [
            ("(4 * unit * losses", "(2 * unit * losses"),
        ],
    ),
    "formulations/reweighting.py": (
        _FORMS,
        [
            ("multiplier * self._unit", "multiplier"),
        ],
    ),
    "formulations/moment_premium.py": (
        _FORMS,
        [
            ("ambiguity.mean_radius**2", "ambiguity.mean_radius"),
        ],
    ),
    "formulations/priors.py": (
        _FORMS,
        [
            (".append(laplacian.weights >= prior", ".append(laplacian.weights <= 1e9 + prior"),
        ],
    ),
    # Experiments
    "experiments/measuring/digest.py": (
        "tests/experiments/test_digest.py",
        [
            ("node.body = node.body[1:] or [ast.Pass()]", "pass"),
            ('"numpy", "scipy", "cvxpy"', '"numpy", "cvxpy"'),
            (" and not _parsed(name).draws]", "]"),
            ("found += [file for", "[file for"),
        ],
    ),
    "experiments/measuring/extensions.py": (
        "tests/experiments/test_variants.py",
        [
            ("beside[name] = sys.modules.pop(name)", "beside[name] = sys.modules[name]"),
        ],
    ),
    "wdro_cvx/ambiguity/fits.py": (
        "tests/wdro_cvx/testing/test_ambiguity_checks.py",
        [
            ("_raised(kind.example(radius, nominal.d), nominal) is None", "False"),
            ("if parameters and not own:", "if parameters:"),
        ],
    ),
    "experiments/measuring/store.py": (
        "tests/experiments/test_store.py",
        [
            ("return row if belongs else None", "return row"),
        ],
    ),
    "experiments/compare/crosscheck.py": (
        "tests/experiments/test_compare.py",
        [
            ("np.sqrt(2 * done[", "np.sqrt(200 * done["),
            ('done["bound"].max()', 'done["bound"].min()'),
        ],
    ),
}
