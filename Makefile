# Needs python3 >= 3.11 with venv and pip, and make. Everything else is installed into .venv.
SHELL := /bin/sh
.DEFAULT_GOAL := help
.PHONY: help run demo-reset test lint texts bench campaign lock base dev

VENV := .venv
BIN := $(VENV)/bin
PYTHONS := $(PYTHON) python3 python3.14 python3.13 python3.12 python3.11

help: ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1|/p' $(MAKEFILE_LIST) | while IFS='|' read -r name text; do \
		printf '%-18s %s\n' "$$name" "$$text"; done

run: base ## Start Signoff with a demo; HOST and PORT say where (default 127.0.0.1:8000)
	@exec $(BIN)/python manage.py serve --demo

demo-reset: base ## Put the demo back to its first state
	@$(BIN)/python manage.py demo_reset

test: lint ## Run every check and every test, as CI does
	$(BIN)/python -m pytest -n 2 --dist loadfile --ignore tests/races
	$(BIN)/python -m tests.support.on_postgres \
		$(BIN)/python -m pytest -n 2 --dist loadfile tests/inbox tests/races

lint: dev ## Run the checks that need no test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python manage.py makemigrations --check --dry-run

texts: dev ## Collect the texts of pages, and compile their translations
	@$(BIN)/python -m tests.support.texts

bench: dev ## Measure the trips and streams of both shapes
	$(BIN)/python -m bench
	$(BIN)/python -m bench.journal

campaign: dev ## Run the long fault campaigns
	$(BIN)/python -m tests.campaigns
	$(BIN)/python -m tests.mutations

lock: dev ## Pin requirements/*.in anew, with hashes; UPGRADE=1 takes new versions
	cd requirements && for name in base dev; do \
		../$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
			--no-header --no-emit-index-url $(if $(UPGRADE),--upgrade) $$name.in -o $$name.txt || exit 1; \
	done

# The installed list is kept beside what it installed: only another list costs an installation.
base: $(BIN)/python
	@cmp -s requirements/base.txt $(VENV)/base.txt || { \
		echo "Installing requirements/base.txt" && \
		$(BIN)/python -m pip install --disable-pip-version-check --quiet \
			--require-hashes -r requirements/base.txt && \
		cp requirements/base.txt $(VENV)/base.txt; }

dev: base
	@cmp -s requirements/dev.txt $(VENV)/dev.txt || { \
		echo "Installing requirements/dev.txt" && \
		$(BIN)/python -m pip install --disable-pip-version-check --quiet \
			--require-hashes -r requirements/dev.txt && \
		cp requirements/dev.txt $(VENV)/dev.txt; }

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
