"""The order of the gallery: from a first map to a set of one's own."""

_ORDER = (
    "learned_map", "quick_start", "worst_case", "radius_path", "choose_radius", "certificate",
    "certified_edges", "edge_confidence", "communities", "priors", "large_graph", "new_variant",
)  # fmt: skip


def place(file_name: str) -> int:
    """Return where an example stands; an example without a place is an error."""
    return _ORDER.index(file_name.removesuffix(".py"))
