# One word per thing to do. A file in $(DONE) says that a step of tools/bootstrap is done.

PYTHON ?= python3
ARGS ?=

BIN := .venv/bin
DONE := .venv/done

# Dozens of processes start in a test run, and each would compile every module anew.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help up test check format prove pictures bench bench-peers lock contracts web clean browser FORCE

ifneq ($(words $(CURDIR)),1)
$(error The path "$(CURDIR)" contains blanks, which make cannot handle; move the directory)
endif

help: ## list these targets
	@awk -F ' *## *' '/^[a-z-]+:.*## / { sub(/:.*/, "", $$1); printf "make %-11s %s\n", $$1, $$2 }' Makefile

up: $(DONE)/app web/dist/done ## install what is missing, start everything; ARGS="--port 8000 ..."
	@$(BIN)/voelgoed up $(ARGS)

test: $(DONE)/dev browser web/dist/done ## every check and every test
	@tools/bootstrap parts

check: $(DONE)/dev web/node_modules/done ## format, lint, types, imports, SQL; no tests
	@tools/bootstrap parts

format: $(DONE)/dev web/node_modules/done ## rewrite the sources the way `check` wants them
	@tools/bootstrap parts

prove: $(DONE)/dev web/dist/done ## the long proofs at full length; ARGS="--minutes 30 --seed 7 races"
	@$(BIN)/python -m tests.prove $(ARGS)

pictures: $(DONE)/dev browser web/dist/done ## take the pictures of the guides anew
	@tools/bootstrap parts

bench: $(DONE)/dev browser web/dist/done ## fixed loads, measured against the limits of this machine
	@$(BIN)/python -m bench $(ARGS)

bench-peers: $(DONE)/dev ## scans here and at pretix, which is installed in var/ the first time
	@$(BIN)/python -m bench.peers

lock: $(DONE)/python ## pin the versions of pyproject.toml anew; ARGS=--upgrade for newer ones
	$(BIN)/uv $(COMPILE) --output-file requirements.lock pyproject.toml $(ARGS)
	$(BIN)/uv $(COMPILE) --extra dev --constraints requirements.lock \
		--output-file requirements-dev.lock pyproject.toml $(ARGS)

contracts: $(DONE)/dev web/node_modules/done ## write contracts/openapi.json and the types made from it
	@$(BIN)/voelgoed openapi >contracts/openapi.json.new
	@mv contracts/openapi.json.new contracts/openapi.json
	@tools/bootstrap parts

web: web/dist/done ## build the web apps

clean: ## remove whatever was installed or built; the data in var/ stays
	rm -rf .venv web/node_modules web/*/*/node_modules web/dist
	rm -rf .pytest_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

COMPILE := pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --no-annotate --no-header

# The name of a part, how many cores it keeps busy, and its command: see tools/parts.py.
define CHECKS
format  | 1 | $(BIN)/ruff format --check --output-format concise .
lint    | 1 | $(BIN)/ruff check --quiet .
types   | 1 | web/node_modules/.bin/pyright --pythonpath $(BIN)/python
web     | 1 | cd web && npm run check
imports | 1 | $(BIN)/lint-imports
sql     | 1 | $(BIN)/python -m tools.check_sql

endef

define TESTS
units   | 2 | cd web && npm test
python  | 2 | $(BIN)/pytest -n 3 --durations=15
browser | 2 | cd web && npm run e2e

endef

define FORMATS
format  | 2 | $(BIN)/ruff format --quiet .
lint    | 2 | $(BIN)/ruff check --quiet --fix .
web     | 2 | cd web && npm run format

endef
define CONTRACTS
types   | 2 | cd web && npm run generate

endef
define PICTURES
pictures | 2 | cd web && npm run pictures

endef
check: export PARTS = $(CHECKS)
test: export PARTS = $(CHECKS)$(TESTS)
format: export PARTS = $(FORMATS)
contracts: export PARTS = $(CONTRACTS)
pictures: export PARTS = $(PICTURES)

# A virtual environment is bound to its place and its Python: made anew when either has gone.
ifneq ($(file <$(DONE)/place),$(CURDIR))
$(DONE)/python: FORCE
else ifeq ($(realpath $(BIN)/python),)
$(DONE)/python: FORCE
endif

$(DONE)/python:
	@PYTHON=$(PYTHON) tools/bootstrap python
	@mkdir -p $(DONE)
	@echo $(CURDIR) >$(DONE)/place
	@touch $@

$(DONE)/app: $(DONE)/python requirements.lock pyproject.toml
	@tools/bootstrap app
	@touch $@

$(DONE)/dev: $(DONE)/app requirements-dev.lock
	@tools/bootstrap dev
	@touch $@

# After the other step that may call apt-get, which works alone.
browser: | $(DONE)/python
	@tools/bootstrap browser

web/node_modules/done: web/package.json web/package-lock.json $(wildcard web/*/*/package.json) | $(DONE)/app
	@tools/bootstrap npm
	@touch $@

# Directories too, for theirs is the time that changes when a file is removed.
WEB_SOURCES := $(shell find web/apps web/packages -name node_modules -prune -o -print) \
	$(wildcard web/*.json web/*.js web/*.ts) $(wildcard contracts/*.json)

web/dist/done: web/node_modules/done $(WEB_SOURCES)
	@tools/bootstrap web
	@touch $@
