# Needs python3 >= 3.11 with venv and pip, and make. Everything else is installed into .venv.
SHELL := /bin/sh
ALL_EXTRAS := langgraph pydantic-ai maf genkit s3 otel
.DEFAULT_GOAL := help
.PHONY: help run demo-reset test test-all test-release servers clients client-typescript lint screens texts schema \
	references sbom bench campaign lock base dev

VENV := .venv
BIN := $(VENV)/bin
SERVERS := $(patsubst requirements/%.in,%,$(wildcard requirements/servers/*.in))
# Files in the order of tests/conftest.py, each by one of two processes.
TWO_AT_ONCE := -n 2 --dist loadfile --no-loadscope-reorder
# What `make test` leaves to `make test-all`: of the running product it tests the pages only, and of
# those what most changes touch.
LONG := tests/campaigns/mutations $(addprefix tests/e2e/,accessibility agui_server mcp_server \
	operations python_client security $(addprefix browser/,notifications \
	$(addprefix test_,account.py admin.py audit.py first_decision.py keyboard.py oidc.py page_weight.py policy_walk.py \
		scrolling.py values.py) \
	$(addprefix decisions/test_,ask_back.py collaboration.py drafts.py focus_and_places.py \
	input_sequences.py keys_per_task.py lists_and_commands.py live_updates.py questions_stay.py \
	spec_examples.py touch.py undo.py upload_fields.py walks.py))) tests/web/admin/test_admin_access.py
# Only `make test-release` runs these: faults, load and limits, upgrades, deployments, monitoring, the
# viewer of the API documentation, and packages of others. The races of grants hold on SQLite, too.
RELEASE := $(wildcard tests/campaigns/test_*.py) $(addprefix tests/e2e/,authors clients coding_agents \
	deployment directories framework_snippets frameworks monitoring recovery typescript_client upgrades \
	browser/test_api_docs.py $(addprefix agui_server/limits/test_,rate_limits.py stream_limits.py) \
	operations/workers/test_fair_workers.py $(addprefix operations/test_,bench.py broker_failures.py \
	database_away.py start_retries.py support_processes.py upgrades.py uploads.py)) \
	tests/races/policies/test_grant_races.py
# Sends each call as each caller; `make test` leaves it out.
EACH_CALL := tests/api/base/test_any_request.py
# Tests that generate their input: `make test` takes fewer examples than `make test-all`.
GENERATED := tests/integration/properties tests/unit/forms/test_form_properties.py \
	tests/unit/policies/test_policy_properties.py tests/unit/policies/test_implication.py \
	tests/unit/policies/test_slots.py $(EACH_CALL)
# What `make test-release` runs again: at every width and in both themes, at every latency.
FULL := tests/e2e/accessibility tests/e2e/browser/decisions/test_input_sequences.py
# Folders of tests/integration whose outcome depends on the database: constraints, searches, triggers,
# SQL. `make test-all` runs them on PostgreSQL, too, and `make test-release` the others.
DATABASE := audit decisions platform runs webhooks
OTHERS := $(filter-out $(DATABASE),$(notdir $(wildcard tests/integration/[a-z]*)))
ON_POSTGRES := $(BIN)/python -m tests.support.on_postgres $(BIN)/python -m pytest
PYTHONS := $(PYTHON) python3 python3.14 python3.13 python3.12 python3.11
# Where this is set, as in many images, each process would compile the product anew.
unexport PYTHONDONTWRITEBYTECODE

help: ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1|/p' $(MAKEFILE_LIST) | while IFS='|' read -r name text; do \
		printf '%-18s %s\n' "$$name" "$$text"; done

run: base ## Start Signoff with a demo; HOST, PORT and EXTRAS (frameworks of agents) are yours
	@exec $(BIN)/python manage.py serve --demo

demo-reset: base ## Put the demo back to its first state
	@$(BIN)/python manage.py demo_reset

test: lint ## Run the checks and the tests that a change needs
	$(BIN)/python -m pytest $(TWO_AT_ONCE) $(addprefix --ignore ,tests/races $(EACH_CALL) $(LONG) $(RELEASE))
	$(ON_POSTGRES) $(TWO_AT_ONCE) tests/races

test-all: test ## Run what CI runs: also servers, accessibility, generated tests in full
	$(ON_POSTGRES) $(TWO_AT_ONCE) $(addprefix tests/integration/,$(DATABASE))
	$(BIN)/python -m pytest $(TWO_AT_ONCE) $(LONG) $(addprefix --ignore ,$(RELEASE))
	SIGNOFF_TEST_FULL=1 $(BIN)/python -m pytest $(TWO_AT_ONCE) $(GENERATED)

test-release: test-all ## Run everything, each night and before a release: faults, clients
	$(BIN)/python -m pytest $(TWO_AT_ONCE) $(RELEASE)
	SIGNOFF_TEST_FULL=1 $(BIN)/python -m pytest $(TWO_AT_ONCE) $(FULL)
	$(ON_POSTGRES) $(TWO_AT_ONCE) $(addprefix tests/integration/,$(OTHERS))

servers: dev ## Run servers and clients of others, and write docs/frameworks.md; NEWEST=1 takes new versions
	$(if $(NEWEST),SIGNOFF_TEST_NEWEST=1) $(BIN)/python -m pytest $(TWO_AT_ONCE) \
		-p tests.support.agents.framework_results tests/e2e/frameworks \
		tests/e2e/clients/test_official_client.py; \
		status=$$?; $(BIN)/python -m tests.e2e.frameworks.record && \
		$(MAKE) --no-print-directory references && exit $$status

clients: dev ## Build the clients, install them into empty environments, and run them
	$(BIN)/python -m pytest $(TWO_AT_ONCE) tests/e2e/clients/installed tests/e2e/typescript_client

client-typescript: dev ## Build the TypeScript client, install it into an empty project, and run it
	$(BIN)/python -m pytest tests/e2e/typescript_client

lint: dev ## Run the checks that need no test
	@$(MAKE) --no-print-directory --jobs 2 $(addprefix --,$(filter output-sync,$(.FEATURES))) $(LINT)

LINT := $(addprefix lint-,types client-types style scripts templates imports names dead-code migrations)
.PHONY: $(LINT)

lint-style:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
lint-scripts:
	$(BIN)/oxlint --deny-warnings static/js
	$(BIN)/oxfmt --check static
lint-templates:
	$(BIN)/djangofmt --quiet --custom-blocks field --check templates
	$(BIN)/djangofmt --quiet check --custom-blocks field templates
lint-types:
	$(BIN)/mypy
lint-client-types:
	$(BIN)/mypy --cache-dir .mypy_cache/client --config-file clients/python/pyproject.toml
lint-imports:
	PYTHONPATH=clients/python/src $(BIN)/lint-imports
lint-names:
	$(BIN)/python tools/plain_names.py
lint-dead-code:
	$(BIN)/python tools/dead_code.py
lint-migrations:
	$(BIN)/python manage.py makemigrations --check --dry-run

screens: dev ## Make the pictures of the documentation from the running demo
	@$(BIN)/python -m tests.support.browser.screens

texts: dev ## Collect the texts of pages, and compile their translations
	@$(BIN)/python -m tests.support.texts

references: dev ## Write docs/reference from the code
	@$(BIN)/python -m tools.write_references

schema: base ## Write the OpenAPI description of the API to schema.json
	@$(BIN)/python manage.py spectacular --format openapi-json --file schema.json --fail-on-warn

sbom: dev ## Write the bill of materials of the image (CycloneDX) to sbom.json
	@$(BIN)/cyclonedx-py requirements requirements/base.txt --output-reproducible \
		--output-format JSON --output-file sbom.json

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
			--no-header --no-emit-index-url --excludes excluded.txt $(if $(UPGRADE),--upgrade) "$$@"; } && \
	compile base.in -o base.txt && \
	compile dev.in ../pyproject.toml --all-extras -o dev.txt && \
	for extra in $(ALL_EXTRAS); do \
		compile ../pyproject.toml --extra $$extra -c base.txt -c dev.txt -o $$extra.txt || exit 1; \
	done && \
	for server in $(SERVERS); do \
		compile $$(sed -n 's/^# uv: //p' $$server.in) $$server.in -o $$server.txt || exit 1; done

# The installed list is kept beside what it installed: only another list costs an installation.
install = { cmp -s requirements/$(1).txt $(VENV)/$(1).txt || { \
		$(BIN)/python tools/install_requirements.py requirements/$(1).txt && \
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
