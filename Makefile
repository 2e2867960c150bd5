# Needs python3 >= 3.11 with venv and pip, and make. Everything else is installed into .venv.
SHELL := /bin/sh
ALL_EXTRAS := langgraph pydantic-ai maf genkit s3
.DEFAULT_GOAL := help
.PHONY: help run demo-reset test test-all test-release servers lint texts schema bench campaign lock base dev

VENV := .venv
BIN := $(VENV)/bin
SERVERS := $(patsubst requirements/%.in,%,$(wildcard requirements/servers/*.in))
# Files in the order of tests/conftest.py, each by one of two processes.
TWO_AT_ONCE := -n 2 --dist loadfile --no-loadscope-reorder
# What `make test` leaves to `make test-all`, and what `make test-release` runs again at every width
# and in both themes.
LONG := tests/campaigns tests/e2e/frameworks
FULL := tests/e2e/accessibility
# Tests that say nothing about PostgreSQL.
ONE_DATABASE := adapters gate properties
PYTHONS := $(PYTHON) python3 python3.14 python3.13 python3.12 python3.11

help: ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1|/p' $(MAKEFILE_LIST) | while IFS='|' read -r name text; do \
		printf '%-18s %s\n' "$$name" "$$text"; done

run: base ## Start Signoff with a demo; HOST, PORT and EXTRAS (frameworks of agents) are yours
	@exec $(BIN)/python manage.py serve --demo

demo-reset: base ## Put the demo back to its first state
	@$(BIN)/python manage.py demo_reset

test: lint ## Run the checks and the tests that a change needs
	$(BIN)/python -m pytest $(TWO_AT_ONCE) $(addprefix --ignore ,tests/races $(LONG))
	$(BIN)/python -m tests.support.on_postgres $(BIN)/python -m pytest $(TWO_AT_ONCE) \
		tests/races tests/integration $(addprefix --ignore tests/integration/,$(ONE_DATABASE))

test-all: test ## Run what CI runs: also campaigns and agents of other frameworks
	$(BIN)/python -m pytest $(TWO_AT_ONCE) $(LONG)

test-release: test-all ## Run the full accessibility matrix as well, before a release
	SIGNOFF_TEST_FULL=1 $(BIN)/python -m pytest $(TWO_AT_ONCE) $(FULL)

servers: dev ## Run against the AG-UI servers of other frameworks, which it installs in a cache
	$(BIN)/python -m pytest $(TWO_AT_ONCE) tests/e2e/frameworks

lint: dev ## Run the checks that need no test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python tools/plain_names.py
	$(BIN)/python tools/dead_code.py
	$(BIN)/python manage.py makemigrations --check --dry-run

texts: dev ## Collect the texts of pages, and compile their translations
	@$(BIN)/python -m tests.support.texts

schema: base ## Write the OpenAPI description of the API to schema.json
	@$(BIN)/python manage.py spectacular --format openapi-json --file schema.json --fail-on-warn

bench: dev ## Measure the trips and streams of both shapes
	$(BIN)/python -m bench
	$(BIN)/python -m bench.journal
	$(BIN)/python -m bench.trail

campaign: dev ## Run the long fault campaigns
	$(BIN)/python -m tests.campaigns
	$(BIN)/python -m tests.campaigns.mutations

lock: dev ## Pin requirements/*.in anew, with hashes; UPGRADE=1 takes new versions
	cd requirements && compile() { \
		../$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
			--no-header --no-emit-index-url $(if $(UPGRADE),--upgrade) "$$@"; } && \
	compile base.in -o base.txt && \
	compile dev.in ../pyproject.toml --all-extras -o dev.txt && \
	for extra in $(ALL_EXTRAS); do \
		compile ../pyproject.toml --extra $$extra -c base.txt -c dev.txt -o $$extra.txt || exit 1; \
	done && \
	for server in $(SERVERS); do compile $$server.in -o $$server.txt || exit 1; done

# The installed list is kept beside what it installed: only another list costs an installation.
install = { cmp -s requirements/$(1).txt $(VENV)/$(1).txt || { \
		echo "Installing requirements/$(1).txt" && \
		$(BIN)/python -m pip install --disable-pip-version-check --quiet \
			--require-hashes -r requirements/$(1).txt && \
		cp requirements/$(1).txt $(VENV)/$(1).txt; }; }

base: $(BIN)/python
	@$(call install,base)
	@$(foreach extra,$(EXTRAS),$(call install,$(extra)) &&) true

dev: base
	@$(call install,dev)

$(BIN)/python:
	@for candidate in $(PYTHONS); do \
		if "$$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
			echo "Making $(VENV) with $$("$$candidate" --version)"; \
			"$$candidate" -m venv --clear $(VENV) && exit 0; \
			rm -rf $(VENV); exit 1; \
		fi; \
	done; \
	echo "Signoff needs Python 3.11 or newer. None of these is: $(PYTHONS)." >&2; \
	echo "Install one, or say where it is: make run PYTHON=/path/to/python3" >&2; \
	exit 1
