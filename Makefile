# fairgauge: everything a developer runs. `make` alone prints this list.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help install run test lint bench coverage docs paper clean

help:  ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: $(STAMP)  ## Make .venv with everything, at the versions of constraints.txt

$(STAMP): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "fairgauge needs Python 3.11 or newer. Choose one: make install PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
		{ echo "This Python cannot make environments. On Debian or Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev]'
	@touch $@

run: $(STAMP)  ## Run a whole study on a simulated population whose gap is known
	$(BIN)/python examples/first-study/run.py

test: $(STAMP)  ## Run every test
	$(BIN)/python -m pytest -n auto $(ARGS)

lint: $(STAMP)  ## Check style, types and layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

bench: $(STAMP)  ## Measure speed against peers, as ratios; ARGS=--quick for a look
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[bench]'
	$(BIN)/python -m bench.run $(ARGS)

coverage: $(STAMP)  ## Measure how often intervals hold the truth, and rewrite the table in docs/coverage.md
	$(BIN)/python -m bench.coverage --write $(ARGS)

docs: $(STAMP)  ## Build the documentation into docs/_build/html
	$(BIN)/python -m sphinx -W --keep-going -n -q -b html docs docs/_build/html
	@echo "Open docs/_build/html/index.html"

paper: $(STAMP)  ## Redo the source paper into docs/paper; DATA=... names the UCI archive
	$(BIN)/fairgauge paper --output docs/paper $(if $(DATA),--data $(DATA))

clean:  ## Remove the environment, caches and built pages
	rm -rf $(VENV) docs/_build build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
