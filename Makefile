# SPDX-License-Identifier: Apache-2.0
# The front door. The build itself is CMakeLists.txt. `make` and `make install` install no packages: they list
# what is missing. `make setup` installs it, and so does every other target that needs more.

PREFIX ?= /usr/local
SECONDS ?= 60
STRICT_SKIPS ?=
SUITES ?=

JOBS := $(shell nproc)
BUILD := build/release
CMAKE_BUILD := env -u MAKEFLAGS -u MAKELEVEL cmake --build
RUN_TESTS := python3 tests/run.py $(if $(STRICT_SKIPS),--strict-skips) $(SUITES:%=--suite %)
FORMATTED = $(shell find include src cli tests fuzz bench tools examples -name "*.[ch]")

.PHONY: all setup demo test test-quick test-long test-gpu fuzz bench bench-quick bench-contracts fatbin tour \
	install format check-format coverage clean help

all: ## build the library and the command (build/release); lists packages that are missing
	@tools/setup.sh --check build
	@cmake --preset release -DCMAKE_INSTALL_PREFIX=$(PREFIX)
	@$(CMAKE_BUILD) $(BUILD) -j $(JOBS)

setup: ## install what building and testing need: packages, as root or with sudo, and .venv
	@tools/setup.sh build test bundled python cuda format
	@tools/fetch_bundled.sh

demo: ## set up and build, then make, check, read and show a COG of a landscape
	@tools/setup.sh build
	@$(MAKE) --no-print-directory all
	@tools/demo.sh $(BUILD)/terrazzo

test: ## set up, and every suite that fits in minutes; STRICT_SKIPS=1, SUITES="unit cli"
	@tools/setup.sh build test bundled python cuda
	@tools/fetch_bundled.sh
	@$(RUN_TESTS)

test-quick: ## what one runs before a commit: the fast tests of one build, in three minutes
	@$(RUN_TESTS) --quick

test-long: ## the suites of make test and the long ones
	@tools/setup.sh build test bundled python cuda
	@tools/fetch_bundled.sh
	@$(RUN_TESTS) --long

test-gpu: ## on a host with an NVIDIA GPU: tests and throughputs there, to build/gpu/report.md
	@python3 tests/gpu/run.py

fuzz: ## run each fuzz target for SECONDS (60)
	@tools/setup.sh build fuzz
	@tools/fuzz.sh $(SECONDS)

bench: ## measure beside other libraries, most of an hour; see bench/README.md
	@tools/setup.sh build bundled python
	@tools/fetch_bundled.sh
	@python3 bench/run.py

bench-quick: ## a part of it, two minutes once its files are made
	@tools/setup.sh build bundled python
	@tools/fetch_bundled.sh
	@python3 bench/run.py --quick

bench-contracts: ## what batches of calls save a device, on a virtual clock
	@tools/setup.sh build test cuda
	@cmake --preset unit
	@$(CMAKE_BUILD) build/unit -j $(JOBS) --target bench_contracts
	@build/unit/tests/bench_contracts

fatbin: ## as make, with the kernels compiled for all CUDA architectures (build/fatbin)
	@tools/setup.sh build cuda
	@cmake --preset fatbin -DCMAKE_INSTALL_PREFIX=$(PREFIX)
	@$(CMAKE_BUILD) build/fatbin -j $(JOBS)
	@python3 tools/ptxas.py build/fatbin bench/ptxas.md

tour: ## print doc/tour.md: the files that three commands pass through
	@tools/setup.sh build test
	@python3 tools/tour.py > build/tour.md && mv build/tour.md doc/tour.md

install: all ## install into PREFIX (/usr/local); DESTDIR is respected
	@cmake --install $(BUILD) --prefix $(PREFIX)

format: ## rewrite the C sources in the project's format
	@tools/setup.sh format
	@clang-format-14 -i $(FORMATTED)

check-format: ## fail if make format would change something
	@tools/setup.sh format
	@clang-format-14 --dry-run -Werror $(FORMATTED)

coverage: ## line coverage of src/ by the C tests
	@tools/setup.sh build test
	@cmake --preset coverage
	@$(CMAKE_BUILD) build/coverage -j $(JOBS)
	@find build/coverage -name '*.gcda' -delete
	@ctest --test-dir build/coverage -j $(JOBS) --output-on-failure \
		-LE "^(cli|matrix|written|cogs|validate|device-matrix|cuda-matrix|instructions|ptxas)$$"
	@python3 tools/coverage.py build/coverage

clean: ## remove everything that was built (.venv stays)
	@rm -rf build

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
