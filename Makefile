# fairgauge: everything a developer runs. `make` alone prints this list.

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
# What users need comes first and is enough for `make run`; what developers need is a gigabyte more.
USERS  := $(VENV)/.installed-for-users
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable
# Flower wants other versions of the collector's web framework, so what needs it has an environment of its own.
FLOWER := .venv-flower
FLOWER_TESTS := tests/unit/flower tests/e2e/flower
# NVFlare brings a web framework and a database of its own, which nobody else here needs.
NVFLARE := .venv-nvflare

.DEFAULT_GOAL := help
.PHONY: help install run test test-flower frameworks attacks lint house vectors dist release-check bench mutants coverage docs whitepaper paper older-people clean

help:  ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

install: $(STAMP)  ## Make .venv with everything, at the versions of constraints.txt

$(USERS): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo "fairgauge needs Python 3.11 or newer. Choose one: make install PYTHON=python3.12" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
		{ echo "This Python cannot make environments. On Debian or Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	$(PIP) '.[lab,collector]'
	@touch $@

$(STAMP): $(USERS)
	$(PIP) '.[dev]'
	@touch $@

run: $(USERS)  ## Run a whole study on a simulated population whose gap is known; ARGS=--stay to look around
	$(BIN)/python examples/first-study/run.py $(ARGS)

# Every core has a worker, and threads for small matrices would only get in their way.  Programs that tests start find
# bytecode, also where the environment says that none is written; and only plugins are loaded that are needed.  Flower's
# tests wait more than they work, so they run beside the others; what they say comes last.
test: $(STAMP) $(if $(ARGS),,$(FLOWER)/.installed)  ## Run every test
	@status=0; beside=; \
	$(if $(ARGS),,$(FLOWER)/bin/python -m pytest $(FLOWER_TESTS) > $(FLOWER)/said 2>&1 & beside=$$!;) \
	OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 \
		$(BIN)/python -m pytest -p xdist -p _hypothesis_pytestplugin -n auto --dist worksteal $(ARGS) || status=$$?; \
	if [ -n "$$beside" ]; then wait $$beside || status=$$?; cat $(FLOWER)/said; fi; \
	exit $$status

test-flower: $(FLOWER)/.installed  ## Run the tests that need Flower; `make test` does, too
	$(FLOWER)/bin/python -m pytest $(or $(ARGS),$(FLOWER_TESTS))

# Most of what Flower brings is never imported here, so nothing is compiled before it is needed.
$(FLOWER)/.installed: pyproject.toml constraints-flower.txt
	$(PYTHON) -m venv --clear $(FLOWER)
	$(FLOWER)/bin/python -m pip install --quiet --no-compile --disable-pip-version-check \
		--constraint constraints-flower.txt --editable '.[flower-dev]'
	@touch $@

frameworks: $(FLOWER)/.installed $(NVFLARE)/.installed  ## Run the long tests in Flower and NVFlare; some minutes
	@failed=; \
	$(FLOWER)/bin/python -m pytest $(or $(ARGS),tests/frameworks/flower) || failed="$$failed Flower"; \
	$(if $(ARGS),,$(NVFLARE)/bin/python -m pytest tests/unit/nvflare tests/frameworks/nvflare || failed="$$failed NVFlare";) \
	if [ -n "$$failed" ]; then echo "failed:$$failed" >&2; exit 1; fi

$(NVFLARE)/.installed: pyproject.toml constraints-nvflare.txt
	$(PYTHON) -m venv --clear $(NVFLARE)
	$(NVFLARE)/bin/python -m pip install --quiet --no-compile --disable-pip-version-check \
		--constraint constraints-nvflare.txt --editable '.[nvflare-dev]'
	@touch $@

# Twenty seconds of it are in `make test`; here with 10,000 questions, which takes a quarter of an hour on busy cores.
attacks: $(STAMP)  ## Kill clients at every point, play 500 games against people, ask devices 10,000 questions
	FAIRGAUGE_CRASH=every OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal tests/e2e/test_crash.py $(ARGS)
	FAIRGAUGE_GAMES=500 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest tests/statistical/test_no_party_alone.py tests/statistical/test_diffing.py $(ARGS)
	FAIRGAUGE_QUESTIONS=10000 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal tests/e2e/test_silence.py $(ARGS)

lint: $(STAMP)  ## Check style, types and layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

house: $(STAMP)  ## Print how large the house is: modules, lines, names that repeat, cycles
	$(BIN)/python -m bench.house

vectors: $(STAMP)  ## Write test vectors, golden files, kept documents and the sessions on pages again
	$(BIN)/python -m tests.vectors.make
	$(BIN)/python docs/refresh.py --write

# The build tool of the environment, at the version of constraints.txt: nothing is fetched.
dist: $(STAMP)  ## Build the wheel and the source archive into dist
	rm -rf dist
	$(BIN)/python -m build --no-isolation --outdir dist

# It installs a gigabyte for each Python that is there; what pip has kept need not be fetched again.
release-check: $(STAMP)  ## See whether archives, extras, commands and links of the commit hold outside of a clone
	$(BIN)/python -m bench.release_check $(ARGS)

bench: $(STAMP)  ## Measure speed against peers, as ratios; ARGS="answers kills" for some topics, ARGS=--quick for a look
	$(PIP) '.[bench]'
	$(BIN)/python -m bench.run $(ARGS)

mutants: $(STAMP)  ## Break the code in small ways and see whether tests notice; ARGS=--named for those with a name
	$(BIN)/python -m bench.mutants $(ARGS)

coverage: $(STAMP)  ## Measure how often what is said is wrong, in every kind of study, and rewrite the tables in docs
	$(BIN)/python -m bench.decisions --write
	$(BIN)/python -m bench.coverage --write $(ARGS)
	$(BIN)/python -m bench.response --write
	$(BIN)/python -m bench.groups_coverage
	$(BIN)/python -m bench.sites_coverage --write
	$(BIN)/python -m bench.plans

docs: $(STAMP)  ## Build the documentation into docs/_build/html, and count its words
	$(BIN)/python docs/words.py
	$(BIN)/python -m sphinx -W --keep-going -n -q -b html docs docs/_build/html
	@echo "Open docs/_build/html/index.html"

whitepaper: $(STAMP)  ## Make the whitepaper of the pages' own text, as HTML and PDF, in docs/_build/whitepaper
	$(BIN)/python docs/whitepaper/make.py $(ARGS)

paper: $(STAMP)  ## Redo the source paper into docs/paper; DATA=... names the UCI archive
	$(BIN)/fairgauge paper --output docs/paper $(if $(DATA),--data $(DATA))

older-people: $(FLOWER)/.installed  ## Run the example with a real federation; DATA=... names the UCI archive
	$(FLOWER)/bin/python examples/older-people/main.py $(if $(DATA),--data $(DATA)) $(ARGS)

clean:  ## Remove the environment, caches and built pages
	rm -rf $(VENV) $(FLOWER) $(NVFLARE) docs/_build build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
