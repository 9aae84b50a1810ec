import os

# Two test workers share two cores; more BLAS threads than that only get in each other's way.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from hypothesis import HealthCheck, settings

settings.register_profile(
    "suite",
    deadline=None,  # a loaded machine is not a failure
    derandomize=True,  # the same examples on every run
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("suite")
