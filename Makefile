# Everything a checkout needs, from Python and the package registry alone. PYTHON=python3.13 picks another Python.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

.PHONY: demo test check bench clean

demo: $(READY)
	$(BIN)/inbox-loop demo

test: $(READY)
	$(BIN)/pytest -n 2

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/inbox-loop docs --check
	$(BIN)/pytest -q tests/test_layout.py

bench: $(READY)
	$(BIN)/python bench/run.py

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade 'pip>=25.1'
	$(BIN)/pip install --quiet --editable '.[embedded]' --group dev
	@touch $@

clean:
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
