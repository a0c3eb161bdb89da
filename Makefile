# Heddle's usual work, one word each. `make help` lists it.
.DEFAULT_GOAL := build
.PHONY: help build configure run test test-gpu conformance bench bench-cpu bench-steps bench-mesh bench-schedules bench-python bench-arrays wheel jax-tests jax-env lint lint-part format docs asan tsan sanitized beside fuzz fuzz-readers clean \
        packages-test packages-docs packages-lint packages-fuzz packages-bench python-env environments

JOBS ?= $(shell nproc)
FUZZ_SECONDS ?= 20
SOURCES = $(wildcard $(shell git ls-files --cached --others --exclude-standard '*.cpp' '*.h'))

help:  ## this list
	@awk -F ':.*## ' '/^[a-z -]+:.*## / { printf "make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: build/release/build.ninja  ## the release build: build/release/heddle
	cmake --build --preset release --parallel $(JOBS)

build/%/build.ninja:
	cmake --preset $*

# The Python package is built where the environment has what it needs.
configure: python-env
	@cmake --preset release >/dev/null

run: packages-test build/release/build.ninja  ## install what is missing, build, show it
	cmake --build --preset release --parallel $(JOBS) --target heddle heddle_mpi_modules
	scripts/run_demo.sh build/release/heddle

test: FUZZ_SECONDS = 6
test: FUZZ_SAME = 1 10000
test: packages-test packages-lint beside configure build jax-env fuzz-readers lint-part  ## install what is missing, build, fuzz briefly, run all tests
	ctest --preset release --no-label-summary

test-gpu: packages-test configure build  ## the tests that need a CUDA device
	@if ! ls /dev/nvidia[0-9]* >/dev/null 2>&1; then \
	  echo "test-gpu: skipped, this machine has no NVIDIA GPU"; \
	else \
	  ctest --preset release -L cuda -j 8 && tests/conformance/programs --device cuda; \
	fi

conformance: build  ## StableHLO's own tests by op family; fails on a regression
	tests/conformance/table

# What is expected to differ, with reasons: tests/jax_suite/known.txt.
jax-tests: packages-test configure build jax-env  ## JAX's own tests on Heddle's backend and on JAX's; ARGS="lax_test.py --jobs 2"
	tests/jax_suite/run.py $(ARGS)

bench: packages-test build  ## all benchmarks
	cmake --build --preset release --parallel $(JOBS) --target benchmarks
	scripts/bench.sh build/release

# The libraries to compare with are large; only this target has them.
bench-cpu: packages-bench build/release/build.ninja  ## beside JAX, torch, NumPy; ARGS="softmax --quick"
	cmake --build --preset release --parallel $(JOBS) --target heddle
	scripts/python_env.sh bench/cpu/requirements.txt build/bench-venv
	build/bench-venv/bin/python bench/cpu/bench_cpu.py $(ARGS)

bench-steps: packages-bench build/release/build.ninja  ## whole training steps beside JAX and torch; ARGS="gpt2 --no-torch"
	cmake --build --preset release --parallel $(JOBS) --target heddle
	scripts/python_env.sh bench/cpu/requirements.txt build/bench-venv
	build/bench-venv/bin/python bench/cpu/steps.py $(ARGS)

bench-mesh: packages-test  ## collectives against MPI's own, time to deal programs out, a GPT step on two devices, work beside a collective; ARGS="--ranks 2 --most 1000000"
	cmake --preset release >/dev/null
	cmake --build --preset release --parallel $(JOBS) --target heddle_bench_mesh
	scripts/bench_mesh.sh build/release $(ARGS)
	cmake --build --preset release --parallel $(JOBS) --target heddle
	bench/mesh/partition.py
	bench/mesh/gpt_step.py
	bench/mesh/overlap.py

bench-schedules: packages-test  ## schedules on two ranks: communication that work hides over an emulated link, optimisers inside of a collective
	cmake --preset release >/dev/null
	cmake --build --preset release --parallel $(JOBS) --target heddle heddle_time_schedule
	bench/schedules/run.py $(ARGS)

bench-python: packages-test configure build jax-env  ## JAX programs from Python beside JAX's own backend; ARGS="--quick"
	bench/python/bench_python.py $(ARGS)
	PYTHONPATH=build/release/python build/venv/bin/python bench/python/ways.py

bench-arrays: packages-test configure build  ## recorded arrays beside NumPy, cuPyNumeric, JAX and PETSc; ARGS="--largest 1e7"
	scripts/python_env.sh bench/arrays/requirements.txt build/arrays-venv
	bench/arrays/run.py $(ARGS)

bench-gpu: packages-test configure  ## memory-bound programs on a CUDA device beside JAX's; ARGS="softmax --runs 10"
	cmake --build --preset release --parallel $(JOBS) --target heddle_time_program
	bench/h200/run.py $(ARGS)

wheel: packages-test build  ## a wheel with all that it needs, in build/wheels; PYTHONS="python3.12"
	scripts/make_wheel.sh build/release $(PYTHONS)

lint: lint-part configure  ## formatting, clang-tidy and mypy; fails on any finding
	cd python && ../build/venv/bin/python -m mypy --strict --no-error-summary --cache-dir ../build/mypy -p heddle
	cmake --preset lint >/dev/null
	scripts/tidy.sh build/lint

# The part of it that `make test` has time for.
lint-part: packages-lint
	@echo $(SOURCES) | xargs -n 50 -P $(JOBS) clang-format-19 --dry-run -Werror

format: packages-lint  ## bring all sources into shape
	@clang-format-19 -i $(SOURCES)

docs: packages-docs  ## check the documentation
	python3 scripts/check_docs.py

asan tsan: packages-test  ## all tests under a sanitizer
	cmake --preset $@
	cmake --build --preset $@ --parallel $(JOBS)
	ctest --preset $@ --no-label-summary

# Fuzzers, whose readers have address and undefined behaviour sanitizers, and the test of the release build that is
# called tsan.*, whose few threads need no optimisation.
sanitized: packages-fuzz build/release/build.ninja
	cmake --preset fuzz-readers >/dev/null
	cmake --build --preset release --parallel $(JOBS) --target heddle_schedule
	cmake --build --preset fuzz-readers --parallel $(JOBS) --target fuzzers
	cmake --preset tsan -DHEDDLE_PYTHON=OFF -DCMAKE_CXX_FLAGS_RELWITHDEBINFO="-O0 -g1" >/dev/null
	cmake --build --preset tsan --parallel $(JOBS) --target sanitized_tests

# What needs no Python is compiled while pip fetches and unpacks.
beside: packages-fuzz
	@$(MAKE) --no-print-directory -j2 environments sanitized

fuzz: packages-fuzz  ## each fuzzer for FUZZ_SECONDS=20
	cmake --preset fuzz >/dev/null
	cmake --build --preset fuzz --parallel $(JOBS) --target fuzzers
	scripts/fuzz.sh build/fuzz $(FUZZ_SECONDS) $(FUZZ_SAME)

# The part of it that `make test` has time for: `make fuzz` has sanitizers in what works on the programs read as well.
fuzz-readers: packages-fuzz build/release/build.ninja build/fuzz-readers/build.ninja
	cmake --build --preset release --parallel $(JOBS) --target heddle_schedule
	cmake --build --preset fuzz-readers --parallel $(JOBS) --target fuzzers
	scripts/fuzz.sh build/fuzz-readers $(FUZZ_SECONDS) $(FUZZ_SAME)

clean:  ## remove all that was built
	rm -rf build

packages-test:
	@scripts/install_packages.sh build test
packages-docs:
	@scripts/install_packages.sh docs
packages-lint:
	@scripts/install_packages.sh build test lint
packages-bench:
	@scripts/install_packages.sh build test bench
packages-fuzz:
	@scripts/install_packages.sh build test fuzz
python-env:
	@scripts/python_env.sh
environments: python-env
	@scripts/jax_env.sh packages
jax-env: python-env
	@scripts/jax_env.sh $(JOBS)
