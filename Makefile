# Nightshift's everyday commands. Whatever needs the set-up does it first, once.
SHELL := /bin/bash
# A virtualenv that is active is used, else .venv; PYTHON=python3.13 make setup makes .venv with that.
WANTED_PYTHON := $(PYTHON)
VENV := $(if $(WANTED_PYTHON),.venv,$(or $(VIRTUAL_ENV),.venv))
override PYTHON := $(VENV)/bin/python
unexport PYTHON
SETUP := PYTHON='$(WANTED_PYTHON)' HEADED='$(HEADED)' deploy/setup.sh
MYSQL := .local/mysql-9.7/mysqld
READY := $(VENV)/.ready
ARGS ?=

.DEFAULT_GOAL := help
.PHONY: help setup lock run dashboard screenshots bench-dashboard bench-dashboard-mysql test test-mysql test-pythons test-fresh check sweep status bench bench-quick \
        bench-quick-mysql bench-pages bench-enqueue bench-enqueue-mysql bench-busy-profile bench-busy-profile-mysql bench-idle bench-strangers \
        bench-idle-mysql bench-rollups bench-rollups-mysql ledger drill drill-mysql drill-archive drill-archive-mysql drill-profiles \
        drill-profiles-mysql drill-galera drill-group test-cluster bench-id-steps \
        bench-connections bench-connections-mysql bench-scaling clean clean-queue clean-errors

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-20s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Install what is missing: Python packages, a MySQL-family server, a Chromium (HEADED=1: one with windows too)
	@$(SETUP)

# deploy/setup.sh touches the stamp when everything is in place. With another PYTHON than .venv has, it is not.
SAY_VERSION := import sys; print("%d.%d" % sys.version_info[:2])
ifneq ($(WANTED_PYTHON),)
WANTED_VERSION := $(shell { '$(WANTED_PYTHON)' -c '$(SAY_VERSION)'; } 2>/dev/null || echo none)
HAD_VERSION := $(shell { $(PYTHON) -c '$(SAY_VERSION)'; } 2>/dev/null || echo not yet)
ifneq "$(WANTED_VERSION)" "$(HAD_VERSION)"
$(READY): another-python
endif
endif
.PHONY: another-python
another-python:

$(READY): requirements.lock deploy/setup.sh
	@$(SETUP)

lock: ## Write requirements.lock anew after pyproject.toml has changed (UPGRADE=1: the newest versions)
	@deploy/lock.sh

run: $(READY) ## Set up, then run a demo queue with two browsers
	@$(PYTHON) launcher.py demo $(ARGS)

test: $(READY) ## Set up, then run the tests on the system's server (ARGS="-k name" to choose)
	@$(PYTHON) -m pytest -n 3 --dist worksteal $(ARGS)

test-mysql: $(READY) $(MYSQL) ## Fetch MySQL 9.7, then run the same tests on it
	@NIGHTSHIFT_MYSQLD=$(CURDIR)/$(MYSQL) $(PYTHON) -m pytest -n 3 --dist worksteal $(ARGS)

test-cluster: $(READY) $(MYSQL) ## Run the tests on real clusters: Galera, and a MySQL 9.7 group (as root)
	@deploy/setup-cluster.sh
	@NIGHTSHIFT_MYSQLD=$(CURDIR)/$(MYSQL) $(PYTHON) -m pytest -m cluster -n 0 $(ARGS)

test-pythons: ## Run the unit tests with each Python from 3.11 to 3.14 that is here, in clones of the last commit
	@ARGS='$(ARGS)' deploy/test-pythons.sh

test-fresh: ## Try run and test on a bare Debian 13 made for it (root; SUITE=bookworm for 12)
	@SUITE=$(SUITE) deploy/test-fresh.sh $(ARGS)

$(MYSQL): deploy/fetch-mysql.sh
	@deploy/fetch-mysql.sh
	@touch $@

check: $(READY) ## Check format, lint, types and the direction of imports
	@$(PYTHON) -m ruff format --check .
	@$(PYTHON) -m ruff check .
	@$(PYTHON) -m mypy
	@$(VENV)/bin/lint-imports

sweep: $(READY) ## Put the jobs of vanished workers right
	@$(PYTHON) launcher.py sweep $(ARGS)

status: $(READY) ## Show the queue
	@$(PYTHON) launcher.py status $(ARGS)

dashboard: $(READY) ## Show everything in a browser (ARGS="--port 8642")
	@$(PYTHON) launcher.py dashboard $(ARGS)

screenshots: $(READY) ## Draw the pictures of the dashboard in docs/ anew
	@$(PYTHON) -m bench.screenshots $(ARGS)

bench-dashboard: $(READY) ## Measure the dashboard's pages at 1,000,000 jobs and 50,000 errors
	@$(PYTHON) -m bench.dashboard $(ARGS)

bench-dashboard-mysql: $(READY) $(MYSQL) ## Do the same on MySQL 9.7
	@NIGHTSHIFT_MYSQLD=$(CURDIR)/$(MYSQL) $(PYTHON) -m bench.dashboard $(ARGS)

bench: $(READY) ## Measure every target in one run (25 minutes) and write docs/performance.md
	@$(PYTHON) -m bench.all $(ARGS)

bench-pages: $(READY) ## Measure isolated jobs against bare Playwright, a shared page and Crawlee
	@$(PYTHON) -m bench.pages $(ARGS)

bench-quick: $(READY) ## Measure claim and finish against one bare UPDATE a job (two minutes)
	@$(PYTHON) -m bench.quick $(ARGS)

bench-quick-mysql: $(READY) $(MYSQL) ## Do the same on MySQL 9.7
	@NIGHTSHIFT_MYSQLD=$(CURDIR)/$(MYSQL) $(PYTHON) -m bench.quick $(ARGS)

bench-enqueue: $(READY) ## Measure enqueue of 1,000,000 lines against raw bulk INSERT
	@$(PYTHON) -m bench.enqueue $(ARGS)

bench-enqueue-mysql: $(READY) $(MYSQL) ## Do the same on MySQL 9.7
	@NIGHTSHIFT_MYSQLD=$(CURDIR)/$(MYSQL) $(PYTHON) -m bench.enqueue $(ARGS)

bench-busy-profile: $(READY) ## Measure ordinary claims behind 10,000 jobs of one busy profile
	@$(PYTHON) -m bench.busy_profile $(ARGS)

bench-busy-profile-mysql: $(READY) $(MYSQL) ## Do the same on MySQL 9.7
	@NIGHTSHIFT_MYSQLD=$(CURDIR)/$(MYSQL) $(PYTHON) -m bench.busy_profile $(ARGS)

bench-strangers: $(READY) ## Measure what 300,000 jobs of an unknown task cost before all others
	@$(PYTHON) -m bench.strangers $(ARGS)

bench-idle: $(READY) ## Measure what six idle workers cost the server, before 300,000 jobs
	@$(PYTHON) -m bench.idle $(ARGS)

bench-rollups: $(READY) ## Measure keeping and reading the figures at 1,000,000 finished jobs
	@$(PYTHON) -m bench.rollups $(ARGS)

bench-rollups-mysql: $(READY) $(MYSQL) ## The same on MySQL 9.7
	@NIGHTSHIFT_MYSQLD=$(CURDIR)/$(MYSQL) $(PYTHON) -m bench.rollups $(ARGS)

bench-idle-mysql: $(READY) $(MYSQL) ## The same on MySQL 9.7
	@NIGHTSHIFT_MYSQLD=$(CURDIR)/$(MYSQL) $(PYTHON) -m bench.idle $(ARGS)

bench-connections: $(READY) ## Measure what 50 and 500 workers without browsers cost one server
	@$(PYTHON) -m bench.connections $(ARGS)

bench-connections-mysql: $(READY) $(MYSQL) ## Do the same on MySQL 9.7
	@NIGHTSHIFT_MYSQLD=$(CURDIR)/$(MYSQL) $(PYTHON) -m bench.connections $(ARGS)

bench-scaling: $(READY) ## Measure 500 workers whose jobs sleep; simulate the same beside it
	@$(PYTHON) -m bench.scaling $(ARGS)

bench-id-steps: $(READY) ## Measure what ids that grow by 3 or 7 cost a pool of six
	@$(PYTHON) -m bench.id_steps $(ARGS)

ledger: $(READY) ## Kill workers midway through 10,000 jobs and count every job outside the queue
	@$(PYTHON) -m bench.ledger $(ARGS)

drill: $(READY) ## Inject faults for ten minutes on a scratch database, then count every job
	@$(PYTHON) launcher.py drill $(ARGS)

drill-mysql: $(READY) $(MYSQL) ## Do the same on MySQL 9.7
	@NIGHTSHIFT_MYSQLD=$(CURDIR)/$(MYSQL) $(PYTHON) launcher.py drill $(ARGS)

drill-galera: $(READY) ## Do the same to a Galera cluster behind HAProxy, under three launchers (as root)
	@deploy/setup-cluster.sh
	@$(PYTHON) launcher.py drill --cluster galera --jobs 7000 --faults 60 $(ARGS)

drill-group: $(READY) $(MYSQL) ## Do the same to a MySQL 9.7 group (ARGS="--cluster group-multi" for several primaries)
	@deploy/setup-cluster.sh
	@NIGHTSHIFT_MYSQLD=$(CURDIR)/$(MYSQL) $(PYTHON) launcher.py drill --cluster group --jobs 7000 --faults 60 $(ARGS)

drill-archive: $(READY) ## Archive 200,000 jobs while a pool runs; compare its claims, count every job
	@$(PYTHON) -m bench.archive $(ARGS)

drill-archive-mysql: $(READY) $(MYSQL) ## Do the same on MySQL 9.7
	@NIGHTSHIFT_MYSQLD=$(CURDIR)/$(MYSQL) $(PYTHON) -m bench.archive $(ARGS)

drill-profiles: $(READY) ## Run 20,000 jobs of 500 profiles, kill workers at random, check for two holders
	@$(PYTHON) -m bench.profile_storm $(ARGS)

drill-profiles-mysql: $(READY) $(MYSQL) ## Do the same on MySQL 9.7
	@NIGHTSHIFT_MYSQLD=$(CURDIR)/$(MYSQL) $(PYTHON) -m bench.profile_storm $(ARGS)

clean: ## Remove downloads and caches; the private server's queue and the evidence stay
	@rm -rf .local/mysql-9.7 .local/tmp .local/setup.log
	@rm -rf .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	@find . -name __pycache__ -not -path './.venv/*' -prune -exec rm -rf {} +

clean-queue: ## Stop the private server and remove it WITH ALL ITS JOBS
	@if [[ -d .local/mysql && -x $(PYTHON) ]]; then $(PYTHON) launcher.py db stop; fi
	@rm -rf .local/mysql

clean-errors: ## Remove the evidence of failed jobs
	@find errors -mindepth 1 -not -name .gitkeep -delete
