"""The order of the gallery: from a first graph to a set of one's own."""

_ORDER = (
    "quick_start", "learned_map", "worst_case", "radius_path", "choose_radius", "certificate",
    "certified_edges", "edge_confidence", "communities", "priors", "large_graph", "new_variant",
)  # fmt: skip


def place(file_name: str) -> int:
    """Return where an example stands; an example without a place is an error."""
    return _ORDER.index(file_name.removesuffix(".py"))
