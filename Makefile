# Everything runs in .venv, which the first target makes. `make help` lists the targets.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PRESET ?= quick
EXAMPLES ?= 3000
SEARCH ?= 4
GRAPHS ?= 8
KILLS ?= 100
CASES ?= 1000

.DEFAULT_GOAL := help
.PHONY: help setup test test-all fuzz faults mutants attacks compare propositions figures explain shift temperature \
  bench robustness validate docs stale reference wheel-test check clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

setup: $(READY)  ## create the virtual environment (the other targets do so if needed)

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "wdro-cvx needs Python 3.11 or newer; name one with: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
	  --constraint constraints.txt --editable '.[dev]'
	@touch $@

test: $(READY)  ## run the test suite
	$(BIN)/python -m pytest -n 2

test-all: $(READY)  ## run the whole test suite, with every combination and slow tests
	$(BIN)/python -m pytest -n 2 -m "slow or not slow" --hypothesis-profile full

fuzz: $(READY)  ## try many random tables, command lines and calls (EXAMPLES=3000 of each)
	FUZZ_EXAMPLES=$(EXAMPLES) OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest tests/fuzz -n 2 \
	  --hypothesis-show-statistics

faults: $(READY)  ## kill runs at random moments and examine what is left (KILLS=100)
	$(BIN)/python tests/faults/kill_campaign.py --kills $(KILLS)

mutants: $(READY)  ## plant known faults one by one and check that the tests notice each
	$(BIN)/python tests/mutants/plant.py

attacks: $(READY)  ## attack the judge with hostile problems and forged certificates (CASES=1000)
	$(BIN)/python tests/adversarial/campaign.py --cases $(CASES)

compare: $(READY)  ## cross-check and time every formulation and solver (PRESET=quick or paper)
	$(BIN)/wdro compare --preset $(PRESET)

propositions: $(READY)  ## test every statement of the paper
	$(BIN)/wdro propositions

figures: $(READY)  ## repeat the paper's experiments (PRESET=quick or paper)
	$(BIN)/wdro figures --preset $(PRESET)

explain: $(READY)  ## search the settings that the paper leaves open, and test its statements (SEARCH=4 GRAPHS=8)
	$(BIN)/wdro study explain --search $(SEARCH) --graphs $(GRAPHS)

shift: $(READY)  ## does robustness pay? tune all models alike, then shift the data (SEARCH=4 GRAPHS=8)
	$(BIN)/wdro study shift --tuned $(SEARCH) --graphs $(GRAPHS)

temperature: $(READY)  ## learn graphs of weather stations and draw maps
	$(BIN)/wdro study temperature

bench: $(READY)  ## time the certified solver against the strongest opponents
	$(BIN)/wdro bench

robustness: $(READY)  ## solve extreme problems and judge every answer (wdro stress)
	$(BIN)/wdro stress

validate: $(READY)  ## learn known graphs with our methods and with others
	$(BIN)/wdro study validate

wheel-test: $(READY)  ## build wheel and source distribution, check them, and use the wheel in a new environment
	$(BIN)/python tests/wheel/try_wheel.py

stale: $(READY)  ## list the committed results whose code has changed since
	@$(BIN)/python -m experiments.measuring.provenance

reference: $(READY)  ## make all stale committed results again (hours; the machine should do nothing else)
	$(BIN)/python -m experiments.measuring.reference

# Pages of modules that were moved or removed would stay, with links that lead nowhere.
docs: $(READY)  ## build the documentation site, with its gallery, in build/site
	@rm -rf build/site
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m sphinx -c docs --builder html --fail-on-warning \
	  --keep-going --quiet . build/site
	@echo "open build/site/index.html"

check: $(READY)  ## run the linters: ruff, mypy, import-linter
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

clean:  ## remove the virtual environment, the site and caches
	rm -rf $(VENV) build docs/gallery docs/api/commands.md .mypy_cache .ruff_cache .pytest_cache .import_linter_cache *.egg-info
