# SPDX-License-Identifier: Apache-2.0
# tracemill: all the verbs.  `make help` lists them.
#
#   BUILD=DIR       where everything goes                     (build)
#   ALLOC=NAME      jemalloc or libc                          (jemalloc)
#   WERROR=1        warnings are errors                       (0)
#   OPT=FLAGS       optimization and debugging                (-O2 -g1: lines, no variables)
#   SANITIZE=FLAGS  -fsanitize=..., for compiler and linker   ()
#   PORTABLE=1      what POSIX has instead of what Linux has  (0 on Linux)
#   V=1             show the commands
#   PREFIX, DESTDIR for `make install`                        (/usr/local)
.DEFAULT_GOAL := all
SHELL := /bin/bash
.DELETE_ON_ERROR:

BUILD ?= build
CC := $(if $(filter default,$(origin CC)),gcc,$(CC))
ALLOC ?= jemalloc
WERROR ?= 0
OPT ?= -O2 -g1
SANITIZE ?=
PREFIX ?= /usr/local
DESTDIR ?=

WARNINGS := -Wall -Wextra -Wconversion -Wshadow -Wvla -Wcast-qual -Wundef -Wformat=2 -Wstrict-prototypes \
	-Wmissing-prototypes -Wwrite-strings -Wpointer-arith -Wno-sign-conversion
ifeq ($(WERROR),1)
WARNINGS += -Werror
endif
# The fortified string functions hide errors from the address sanitizer and need optimization.
FORTIFY := $(if $(SANITIZE)$(filter -O0,$(OPT)),,-D_FORTIFY_SOURCE=2)
# Those that the compiler has for this machine: large frames touch each page of theirs, and jumps and returns lead only
# where the code says (Intel CET; on ARM, branch protection).
compiler_has = $(if $(shell $(CC) -Werror $(1) -x c -c /dev/null -o /dev/null 2>/dev/null && echo yes),$(1))
HARDENING := -fstack-protector-strong $(FORTIFY) -fPIE $(call compiler_has,-fstack-clash-protection) \
	$(call compiler_has,-fcf-protection=full) $(call compiler_has,-mbranch-protection=standard)
CPPFLAGS += -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -I. -I$(BUILD)/gen
# The program is the same wherever it is built.
ifneq ($(filter /%,$(BUILD)),)
CPPFLAGS += -ffile-prefix-map=$(BUILD)=build
endif
# What watches memory sees the borders of blocks that come from the heap, and of no others.
CPPFLAGS += $(if $(SANITIZE),-DTM_HEAP_BLOCKS)
# No fused multiply-add, which arm64 has and x86-64 has not by default: figures are the same on every machine.
CFLAGS += -std=c11 -ffp-contract=off $(OPT) $(WARNINGS) $(HARDENING) $(SANITIZE) -MMD -MP
# Another system than Linux, or one that is to be like it (PORTABLE=1): pipeline/platform.h.
SYSTEM := $(shell uname -s)
PORTABLE ?= $(if $(filter Linux,$(SYSTEM)),0,1)
ifeq ($(PORTABLE),1)
CPPFLAGS += -DTM_PORTABLE -include pipeline/platform.h
endif
LDFLAGS += -pie $(if $(filter Linux,$(SYSTEM)),-z relro -z now -z noexecstack) $(SANITIZE)

have = $(shell pkg-config --exists $(1) 2>/dev/null && echo yes)
# The shared libarchive brings libxml2, ICU and libstdc++ with it, and the shared jemalloc libstdc++: 2 of the 5 ms and 2.5 of
# the 8.5 MB that a start takes.  So their archives are linked where they are installed.
linked = $(if $(shell echo 'int main(void) { return 0; }' | $(CC) -x c - -o /dev/null $(1) 2>/dev/null && echo yes),$(1),$(2))
# libs LIBARCHIVE, JEMALLOC
libs = -lz -lzstd $(1) -lprotobuf-c -lcjson -lhpdf -lxxhash -lsqlite3 -lm $(ISAL_LIBS) $(2)
ifneq ($(ISAL),0)
ifeq ($(call have,libisal),yes)
CPPFLAGS += -DTM_HAVE_ISAL
ISAL_LIBS := -lisal
endif
endif
ifeq ($(ALLOC),jemalloc)
CPPFLAGS += -DTM_HAVE_JEMALLOC
JEMALLOC := -ljemalloc
endif
LIBS := $(call libs,$(call linked,-l:libarchive.a -lnettle -llzma -lbz2,-larchive),$(if $(JEMALLOC),$(call linked,-l:libjemalloc_pic.a,$(JEMALLOC))))
# For tests, which write archives as well, and some of which put another allocator in place of the program's.
SHARED_LIBS := $(call libs,-larchive,$(JEMALLOC))

SOURCES := $(sort $(wildcard pipeline/*.c pipeline/*/*.c stages/*/*.c stages/*/*/*.c reports/*/*.c))
GENERATED := $(patsubst schemas/%.proto,$(BUILD)/gen/%.pb-c.c,$(wildcard schemas/*.proto))
# Files that become C (schemas, thresholds, the page's parts): each embed.mk adds its C files to GENERATED
# and holds the rules that make them.
-include schemas/embed.mk reports/html/embed.mk reports/pdf/embed.mk

OBJECTS := $(patsubst %.c,$(BUILD)/obj/%.o,$(filter-out pipeline/main.c,$(SOURCES))) \
	$(patsubst $(BUILD)/gen/%.c,$(BUILD)/obj/gen/%.o,$(GENERATED))
LIBRARY := $(BUILD)/libtracemill.a
UNIT_TESTS := $(patsubst tests/unit/%.c,$(BUILD)/unit/%,$(sort $(wildcard tests/unit/test_*.c)))
UNIT_OBJECTS := $(UNIT_TESTS:$(BUILD)/unit/%=$(BUILD)/obj/tests/unit/%.o)
SUPPORT_OBJECTS := $(patsubst %.c,$(BUILD)/obj/%.o,$(sort $(wildcard tests/support/*.c)))
# A library, so that a test is linked with what it uses, and not with all of the program: 0.3 of 2.2 GB.
SUPPORT := $(BUILD)/libsupport.a
BENCH_TOOLS := $(BUILD)/bench/decode $(BUILD)/bench/measure $(BUILD)/bench/units
FUZZERS := $(patsubst tests/fuzz/%.c,$(BUILD)/fuzz/%,$(sort $(wildcard tests/fuzz/fuzz_*.c)))
REPLAYS := $(patsubst $(BUILD)/fuzz/%,$(BUILD)/replay/%,$(FUZZERS))

.PHONY: all help deps demo test check unit golden accept property damage bombs faults faults-full soak test-slurm peers evals truth-full asan tsan valgrind fuzz \
	lint format check-format bench install uninstall dist clean
all: $(BUILD)/tracemill ## build build/tracemill

help: ## print this list
	@echo 'make VERB [BUILD=DIR] [WERROR=1] [ALLOC=jemalloc|libc]'
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' Makefile scripts/package.mk | expand -t 16

Q := $(if $(V),,@)
say = @$(if $(V),:,printf '  %-5s %s\n' $(1) $@)

# --- building -------------------------------------------------------------------------------------------
# A build folder holds objects of one set of flags.  WERROR is not among them: it changes no byte of code.
FLAGS := $(CC) | $(CPPFLAGS) | $(filter-out -Werror,$(CFLAGS)) | $(LDFLAGS) | $(LIBS)
$(BUILD)/flags: .FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(FLAGS)' | cmp -s - $@ || printf '%s\n' '$(FLAGS)' >$@
.PHONY: .FORCE
.FORCE:

# Names missing packages before the compiler stumbles over a header.
$(BUILD)/.deps-checked: scripts/install-deps.sh
	@mkdir -p $(@D)
	@scripts/install-deps.sh --check build
	@touch $@

# Of the objects, not of the library: of two functions of one name, a library gives the first without a word.
$(BUILD)/tracemill: $(BUILD)/obj/pipeline/main.o $(OBJECTS)
	$(call say,link)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(LIBS)

$(LIBRARY): $(OBJECTS)
$(SUPPORT): $(SUPPORT_OBJECTS)
$(LIBRARY) $(SUPPORT):
	@rm -f $@
	$(call say,ar)
	$(Q)$(AR) rcs $@ $^

$(BUILD)/gen/%.pb-c.c $(BUILD)/gen/%.pb-c.h: schemas/%.proto | $(BUILD)/.deps-checked
	@mkdir -p $(@D)
	$(call say,proto)
	$(Q)protoc-c -Ischemas --c_out=$(BUILD)/gen $<

$(OBJECTS) $(BUILD)/obj/pipeline/main.o $(SUPPORT_OBJECTS) $(UNIT_OBJECTS): | $(GENERATED) $(BUILD)/.deps-checked
$(OBJECTS) $(BUILD)/obj/pipeline/main.o $(SUPPORT_OBJECTS) $(UNIT_OBJECTS) $(BENCH_TOOLS): $(BUILD)/flags

# The program runs on a stack of 256 KiB (tests/faults/test_every_verb.py), of which no function takes more than an
# eighth.  Sanitizers and code that is not optimised take more of it.
$(OBJECTS) $(BUILD)/obj/pipeline/main.o: private CFLAGS += \
	$(if $(SANITIZE)$(filter -O0 -Og,$(OPT)),,-Wframe-larger-than=32768)

# A test calls what is optimized, and its own code runs once: it compiles in a third of the time.  No sanitizer build: that
# sets OPT.
$(UNIT_OBJECTS): private CFLAGS += $(if $(filter -O2,$(OPT)),-O0 -U_FORTIFY_SOURCE)

# Code that runs once for each command, and not for each event, is compiled for size: released programs have a limit.
ONCE := $(addprefix pipeline/,commands doc nightly) \
	$(addprefix reports/,brief compare content findings gates history html markdown query scaling show text)
$(filter $(ONCE:%=$(BUILD)/obj/%/%),$(OBJECTS)): private CFLAGS += $(if $(filter -O2,$(OPT)),-Os)

$(BUILD)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(call say,cc)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<

$(BUILD)/obj/gen/%.o: $(BUILD)/gen/%.c
	@mkdir -p $(@D)
	$(call say,cc)
	$(Q)$(CC) $(CPPFLAGS) -std=c11 $(OPT) $(HARDENING) $(SANITIZE) -w -MMD -MP -c -o $@ $<

$(UNIT_TESTS): $(BUILD)/unit/%: $(BUILD)/obj/tests/unit/%.o $(SUPPORT) $(LIBRARY)
	@mkdir -p $(@D)
	$(call say,link)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $< $(SUPPORT) $(LIBRARY) $(SHARED_LIBS) -lcmocka

# Libraries that tests preload.
PRELOADED := $(patsubst tests/faults/%.c,$(BUILD)/tests/%.so,$(sort $(wildcard tests/faults/*.c)))
$(PRELOADED): $(BUILD)/tests/%.so: tests/faults/%.c
	@mkdir -p $(@D)
	$(call say,link)
	$(Q)$(CC) -D_GNU_SOURCE -std=c11 -O2 $(WARNINGS) -fPIC -shared -o $@ $<

# The program with the shared allocator: a library that is preloaded can take its place.
$(BUILD)/tests/shared/tracemill: $(BUILD)/obj/pipeline/main.o $(OBJECTS)
	@mkdir -p $(@D)
	$(call say,link)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ $(SHARED_LIBS)
PRELOADED += $(BUILD)/tests/shared/tracemill

# Programs that tests run.
TEST_PROGRAMS := $(patsubst tests/programs/%.c,$(BUILD)/tests/%,$(sort $(wildcard tests/programs/*.c)))
$(TEST_PROGRAMS): $(BUILD)/flags
$(BUILD)/tests/%: tests/programs/%.c $(SUPPORT) $(LIBRARY)
	@mkdir -p $(@D)
	$(call say,link)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $< $(SUPPORT) $(LIBRARY) $(LIBS)

clean: ## remove the build folder
	rm -rf $(BUILD)

# --- first use ------------------------------------------------------------------------------------------
# These two install what is missing.  What was installed changes what the Makefile finds, hence a second make.
DEMO_IN := tests/data/demo
DEMO_OUT ?= $(BUILD)/demo
demo: ## install what is missing, build, make the report and the trace of the recorded demo profile
	@scripts/install-deps.sh build
	@$(MAKE) --no-print-directory all
	$(BUILD)/tracemill report $(DEMO_IN) -o $(DEMO_OUT) --format html,pdf,json,text,perfetto
	@cat $(DEMO_OUT)/report.txt
	@echo
	@echo 'open $(DEMO_OUT)/report.html or $(DEMO_OUT)/report.pdf, and drop $(DEMO_OUT)/trace.pftrace onto https://ui.perfetto.dev'

test: ## install what is missing, build, run every test
	@scripts/install-deps.sh build test
	@$(MAKE) --no-print-directory check

deps: ## install the packages for building and testing
	@scripts/install-deps.sh build test

# --- what is made from tables and committed --------------------------------------------------------------
# schemas/NAME.schema.json and schemas/NAME.md, out of the fields of the documents (pipeline/doc/doc_fields.h).
SCHEMAS := summary comparison scaling check night brief show query history split result
schemas: $(BUILD)/tests/print_schema ## write the schemas and their pages from pipeline/doc/*_fields.c
	@for name in $(SCHEMAS); do \
		$< $$name json >$(BUILD)/schema.part && mv $(BUILD)/schema.part schemas/$$name.schema.json && \
		$< $$name page >$(BUILD)/schema.part && mv $(BUILD)/schema.part schemas/$$(echo $$name | tr a-z A-Z).md || exit 1; \
	done
.PHONY: schemas

# --- tests ----------------------------------------------------------------------------------------------
PYTHON := $(BUILD)/venv/bin/python
# tests/run.py keeps the bytecode of what is imported: a small part of the packages.
$(BUILD)/venv/.made: tests/requirements.txt
	@mkdir -p $(@D)
	$(call say,venv)
	$(Q)python3 -m venv $(BUILD)/venv
	$(Q)$(PYTHON) -m pip install --quiet --disable-pip-version-check --no-compile --only-binary :all: -r $<
	@touch $@

RUN_TESTS = $(PYTHON) tests/run.py --build $(BUILD)
NEEDS := $(BUILD)/tracemill $(BUILD)/venv/.made $(TEST_PROGRAMS) $(PRELOADED) $(REPLAYS)
build-tests: $(NEEDS) $(UNIT_TESTS) ## what the tests run, where everything is installed
check: build-tests # what `test` runs, where everything is installed
	@$(RUN_TESTS)
.PHONY: build-tests
unit: $(BUILD)/venv/.made $(UNIT_TESTS) ## the unit tests (cmocka)
	@$(RUN_TESTS) unit
golden: $(NEEDS) ## outputs, byte by byte, against tests/golden
	@$(RUN_TESTS) golden
accept: $(NEEDS) ## rewrite the expected files of tests/golden: review the difference
	@BUILD=$(BUILD) $(PYTHON) tests/golden/run.py --accept
property: $(NEEDS) ## the same result for any memory, twice; exact small profiles
	@$(RUN_TESTS) property
faults: $(NEEDS) ## damaged and missing input, outputs that cannot be written
	@$(RUN_TESTS) faults
test-slurm: ## batches on a real Slurm of two emulated nodes, GNU parallel, Kubernetes' variables
	@scripts/install-deps.sh build test slurm
	@$(MAKE) --no-print-directory run-test-slurm
.PHONY: run-test-slurm
run-test-slurm: $(NEEDS)
	@$(RUN_TESTS) slurm
damage: $(NEEDS) ## files of every kind cut at every byte, 100,000 bytes changed (half an hour)
	@BUILD=$(BUILD) $(PYTHON) tests/faults/test_damage.py --full
bombs: $(NEEDS) ## files that claim far more than they are, in full size: gigabytes, ten million tracks (some minutes)
	@BUILD=$(BUILD) $(PYTHON) tests/faults/test_bombs.py --full
faults-full: $(NEEDS) ## each allocation and each call of each verb fails once, signals, no room, changing input (two hours)
	@status=0; for part in failing_calls signals no_room changing_input; do \
		BUILD=$(BUILD) $(PYTHON) tests/faults/test_$$part.py --full || status=1; done; exit $$status
soak: $(NEEDS) ## 10,000 reports in one process, and a batch of 10,000 items: nothing grows (ten minutes)
	@BUILD=$(BUILD) $(PYTHON) tests/faults/test_soak.py --reports 10000 --items 10000 --show
evals: $(NEEDS) ## questions about runs (needs TM_SHARED, else skipped)
	@$(RUN_TESTS) evals

peers: $(NEEDS) ## exact truth, and what xprof says (needs TM_SHARED, else skipped)
	@$(RUN_TESTS) peers
truth-full: $(NEEDS) ## the whole matrix of generated profiles with exact truth (an hour)
	@BUILD=$(BUILD) $(PYTHON) tests/peers/truth.py --full

# Less optimization sees less, and the compiler's guesses about truncation with it: not errors here.
ASAN := BUILD=$(BUILD)/asan WERROR=0 ALLOC=libc OPT='-O1 -g -fno-omit-frame-pointer' \
	SANITIZE='-fsanitize=address,undefined -fno-sanitize-recover=undefined'
asan: $(BUILD)/venv/.made ## every test under the address and undefined-behavior sanitizers
	@mkdir -p $(BUILD)/asan && ln -sfn ../venv $(BUILD)/asan/venv
	@$(MAKE) --no-print-directory $(ASAN) check-asan
.PHONY: check-asan
check-asan: $(BUILD)/tracemill $(UNIT_TESTS) $(TEST_PROGRAMS) $(REPLAYS)
	@$(RUN_TESTS) --sanitized

# What threads share, under the sanitizer that sees it.
TSAN := BUILD=$(BUILD)/tsan WERROR=0 ALLOC=libc OPT='-O1 -g1 -fno-omit-frame-pointer' SANITIZE='-fsanitize=thread'
tsan: build-tsan $(BUILD)/venv/.made $(BUILD)/tracemill ## files that threads read, under the thread sanitizer
	@ln -sfn ../venv $(BUILD)/tsan/venv
	@$(MAKE) --no-print-directory $(TSAN) check-tsan
build-tsan:
	@$(MAKE) --no-print-directory $(TSAN) $(BUILD)/tsan/tracemill
.PHONY: build-tsan check-tsan
check-tsan: $(BUILD)/tracemill
	@$(RUN_TESTS) --sanitized --only 'property/test_threads*' property

# Blocks of megabytes come from the heap there: valgrind 3.19 takes what mremap adds to a block for memory that nobody has,
# in the same message in which it calls it 'a rw- anonymous segment'; and so it sees their borders.
valgrind: $(BUILD)/venv/.made ## unit tests, goldens and every verb under valgrind: errors and leaks
	@scripts/install-deps.sh valgrind
	@mkdir -p $(BUILD)/libc && ln -sfn ../venv $(BUILD)/libc/venv
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/libc WERROR=0 ALLOC=libc OPT='-O1 -g -DTM_HEAP_BLOCKS' check-valgrind
.PHONY: check-valgrind
check-valgrind: $(BUILD)/tracemill $(UNIT_TESTS)
	@$(RUN_TESTS) --valgrind unit golden
	@$(RUN_TESTS) --valgrind --only faults/test_every_verb faults

ifneq ($(FUZZERS),)
# FUZZ_TARGETS='fuzz_hlo fuzz_pprof': only these.  FUZZ_TOTAL=120: all of them together so many seconds.  FUZZ_LEVEL=-O0:
# compiled in a third of the time, and two thirds of the executions in the same time.
FUZZ_SECONDS ?= 60
FUZZ_LEVEL ?= -O1
FUZZ_TARGETS ?= $(notdir $(FUZZERS))
FUZZ_BUILD = $(MAKE) --no-print-directory BUILD=$(BUILD)/fuzz WERROR=0 CC=clang-14 ALLOC=libc \
	OPT='$(FUZZ_LEVEL) -gline-tables-only' SANITIZE='-fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=undefined'
fuzz: ## the fuzz targets, FUZZ_SECONDS each (60) or FUZZ_TOTAL together, from seeds that are made
	@scripts/install-deps.sh build fuzz
	+@$(FUZZ_BUILD) run-fuzz FUZZ_HOW='$(if $(FUZZ_TOTAL),--total $(FUZZ_TOTAL),--seconds $(FUZZ_SECONDS))'
build-fuzz:
	@scripts/install-deps.sh build fuzz
	+@$(FUZZ_BUILD) link-fuzz
# The parsers of bytes from anywhere, and the others.
FUZZ_PARSERS := fuzz_archive fuzz_chrome fuzz_pftrace fuzz_xspace
fuzz-full: ## 30 minutes of CPU for each parser of foreign bytes, 5 for each other target (hours)
	@scripts/install-deps.sh build fuzz
	+@$(FUZZ_BUILD) run-fuzz FUZZ_HOW='--cpu 1800' FUZZ_TARGETS='$(FUZZ_PARSERS)'
	+@$(FUZZ_BUILD) run-fuzz FUZZ_HOW='--cpu 300' FUZZ_TARGETS='$(filter-out $(FUZZ_PARSERS),$(notdir $(FUZZERS)))'
# What the corpora of the last runs reach, in the files that read what comes from outside.
fuzz-coverage: ## lines, regions and branches of the readers that the corpora of `fuzz` reach
	@scripts/install-deps.sh build fuzz
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/cover WERROR=0 CC=clang-14 ALLOC=libc OPT='-O1 -gline-tables-only' \
		SANITIZE='-fprofile-instr-generate -fcoverage-mapping' FUZZ_CORPORA=$(BUILD)/fuzz/fuzz run-fuzz-coverage
.PHONY: build-fuzz link-fuzz run-fuzz fuzz-full fuzz-coverage run-fuzz-coverage
link-fuzz: $(addprefix $(BUILD)/fuzz/,$(FUZZ_TARGETS))
run-fuzz: $(addprefix $(BUILD)/fuzz/,$(FUZZ_TARGETS))
	@python3 tests/fuzz/run.py $(FUZZ_HOW) $^
run-fuzz-coverage: $(REPLAYS)
	@python3 tests/fuzz/coverage.py $(FUZZ_CORPORA) $(REPLAYS)
$(BUILD)/fuzz/%: tests/fuzz/%.c $(SUPPORT) $(LIBRARY)
	@mkdir -p $(@D)
	$(call say,link)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -fsanitize=fuzzer -o $@ $< $(SUPPORT) $(LIBRARY) $(SHARED_LIBS) -lcmocka
# The same targets without the fuzzer: for inputs that are there.
$(BUILD)/replay/%: tests/fuzz/%.c tests/fuzz/replay_main.c $(SUPPORT) $(LIBRARY)
	@mkdir -p $(@D)
	$(call say,link)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $< tests/fuzz/replay_main.c $(SUPPORT) $(LIBRARY) $(SHARED_LIBS) -lcmocka
endif

# --- reading the code -----------------------------------------------------------------------------------
lint: ## includes, banned functions, headers alone, cppcheck, clang-tidy, shellcheck, codespell
	@scripts/install-deps.sh build lint
	@$(MAKE) --no-print-directory run-lint
.PHONY: run-lint
run-lint: $(BUILD)/tracemill
	@BUILD=$(BUILD) CPPFLAGS='$(CPPFLAGS)' scripts/lint.sh

format: ## clang-format over the C files (review the difference)
	@scripts/install-deps.sh format
	find pipeline stages reports tests -name '*.[ch]' -exec clang-format-14 -i {} +
check-format: ## whether `format` would change anything
	@scripts/install-deps.sh format
	@find pipeline stages reports tests -name '*.[ch]' -exec clang-format-14 --dry-run -Werror {} +

# Baselines that are missing are shown as such: no reason to stop.
BENCH ?=
TRIAL ?=
bench: ## time and memory beside igzip, gzip, zstd and Python's json; BENCH='--quick --json FILE'
	@scripts/install-deps.sh bench || true
	@$(MAKE) --no-print-directory run-bench
.PHONY: run-bench
run-bench: $(NEEDS) $(BENCH_TOOLS) zlib-only
	@BUILD=$(BUILD) $(PYTHON) tests/bench/run.py $(BENCH)
# The same program without ISA-L, in a folder of its own: what it costs where only zlib is installed.
.PHONY: zlib-only
zlib-only:
	@$(MAKE) --no-print-directory BUILD=$(BUILD)/zlib ISAL=0 $(BUILD)/zlib/tracemill
bench-check: ## instructions of the inner loops against tests/bench/instructions.json: fails on 5 % growth
	@scripts/install-deps.sh build test valgrind
	@$(MAKE) --no-print-directory run-bench-check
trial-compare: $(NEEDS) ## 1,000 pairs of generated runs compared: false alarms, changes missed; TRIAL='--pairs 40'
	@BUILD=$(BUILD) $(PYTHON) tests/bench/compare_trial.py $(TRIAL)
trial-kills: $(NEEDS) ## a batch killed at random moments, again and again, and completed; TRIAL='--kills 200'
	@BUILD=$(BUILD) $(PYTHON) tests/property/test_batch_resume.py $(TRIAL)
.PHONY: bench-check run-bench-check bench-peers trial-compare trial-kills
run-bench-check: $(BUILD)/venv/.made $(BUILD)/bench/units
	@BUILD=$(BUILD) $(PYTHON) tests/bench/check.py $(BENCH)
bench-peers: $(BUILD)/bench/peers/.made ## install xprof, pandas and HolisticTraceAnalysis for BENCH='--only peers'
$(BUILD)/bench/peers/.made: tests/bench/peers/requirements.txt
	@mkdir -p $(@D)
	python3 -m venv $(@D)
	$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --only-binary :all: -r $<
	@touch $@
$(BUILD)/bench/decode $(BUILD)/bench/units: $(BUILD)/bench/%: tests/bench/%.c $(LIBRARY)
	@mkdir -p $(@D)
	$(call say,link)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $< $(LIBRARY) $(LIBS)
$(BUILD)/bench/measure: tests/bench/measure.c
	@mkdir -p $(@D)
	$(call say,link)
	$(Q)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $<

pictures: $(NEEDS) ## make the pictures of docs/ anew (chromium, pdftoppm, node); PICTURES='report night': only these
	@BUILD=$(BUILD) $(PYTHON) scripts/make-pictures.py $(PICTURES)
.PHONY: pictures

# --- handing out ----------------------------------------------------------------------------------------
include scripts/package.mk

-include $(OBJECTS:.o=.d) $(BUILD)/obj/pipeline/main.d $(SUPPORT_OBJECTS:.o=.d) $(UNIT_OBJECTS:.o=.d) \
	$(TEST_PROGRAMS:=.d) $(BENCH_TOOLS:=.d) $(FUZZERS:=.d) $(REPLAYS:=.d)
