# `make` shows what there is. `make demo` and `make test` need nothing but Python 3.11+ (and install Java where they may).

PYTHON ?= python3
BENCH ?= all
ORACLE ?=
VENV := .venv
RUN := $(VENV)/bin/python

.DEFAULT_GOAL := help
.PHONY: help setup demo test lint format types contracts check bench oracle dist clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Make .venv and check Java (the other targets do this themselves)
	@command -v $(PYTHON) >/dev/null 2>&1 || { \
		echo "There is no '$(PYTHON)' on this machine. Install Python 3.11 or newer (https://www.python.org/downloads/)"; \
		echo "or name one: make $(firstword $(MAKECMDGOALS)) PYTHON=/path/to/python3.11"; exit 1; }
	@$(PYTHON) scripts/setup.py --venv $(VENV)

demo: setup ## Run the demo
	@$(RUN) examples/demo.py

test: setup ## Run every test
	@$(RUN) -m pytest

lint: setup ## Check style and formatting (ruff)
	@$(RUN) -m ruff check .
	@$(RUN) -m ruff format --check .

format: setup ## Format the code and fix what can be fixed (ruff)
	@$(RUN) -m ruff format .
	@$(RUN) -m ruff check --fix .

types: setup ## Check types (mypy --strict)
	@$(RUN) -m mypy

contracts: setup ## Check who imports whom (import-linter)
	@$(VENV)/bin/lint-imports --no-cache

check: lint types contracts ## lint, types and contracts

bench: setup ## Run benchmarks beside their peers (all of them; or BENCH="keyed-count --peers loop")
	@$(RUN) -m bench $(BENCH)

oracle: setup ## Record what the programs in tests/oracle give on the real PyFlink (all; or ORACLE="name name")
	@$(RUN) -m tests.oracle.record $(ORACLE)

dist: setup ## Build the source distribution and the wheel into dist/
	@$(RUN) -m pip install --quiet --upgrade build
	@rm -rf dist
	@$(RUN) -m build

clean: ## Remove environments, caches and benchmark data
	@rm -rf $(VENV) .bench dist build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@rm -rf metastore_db spark-warehouse artifacts derby.log
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
