# SPDX-License-Identifier: Apache-2.0
# What is handed out: the static program, the packages, a release.  Included by the Makefile, whose objects it links.
VERSION = $(shell sed -n 's/^.define TM_VERSION "\(.*\)"/\1/p' pipeline/*.h)

# --- the static program ------------------------------------------------------------------------------------
# The objects are those of `all`; only the libraries differ.  What Debian has no archive of, scripts/static-libs.sh builds.
STATIC := $(BUILD)/static
MACHINE := $(shell $(CC) -dumpmachine | cut -d- -f1)
OBJCOPY ?= objcopy
STATIC_LIBS := -L$(STATIC)/lib/debian -larchive $(STATIC)/lib/libstatic.a -lprotobuf-c -lxxhash -lbz2 -llzma -lnettle -lz -lm
# Relative relocations are packed: half a megabyte.
STATIC_LDFLAGS := -L$(STATIC)/lib/compiler -static-pie -Wl,-z,relro,-z,now,-z,noexecstack,-z,pack-relative-relocs -Wl,--gc-sections -Wl,--build-id=none
static: ## build/static/tracemill: one file that needs no library (installs what is missing)
	@scripts/install-deps.sh build static
	@$(MAKE) --no-print-directory $(STATIC)/tracemill
.PHONY: static
# The same program for arm64, from any machine.
ARM64 = $(MAKE) --no-print-directory BUILD=$(BUILD)/arm64 CC=aarch64-linux-gnu-gcc AR=aarch64-linux-gnu-ar \
	OBJCOPY=aarch64-linux-gnu-objcopy DIST=$(DIST)
static-arm64: ## build/arm64/static/tracemill: the static program for arm64, built on any machine
	@scripts/install-deps.sh build static arm64
	+@$(ARM64) $(BUILD)/arm64/static/tracemill
.PHONY: static-arm64
# Unit tests of readers with code for one architecture; tests/packaging/test_static.py runs those for arm64.
SCANNER_TESTS := $(patsubst tests/unit/%.c,$(STATIC)/unit/%,$(sort $(wildcard $(addprefix tests/unit/test_,arguments.c \
	chrome_arguments.c chrome_reader.c chrome_scan.c chrome_steps.c chrome_template.c hash.c unzstd.c utf8.c xspace*.c))))
.PHONY: build-unit-foreign
build-unit-foreign: $(SCANNER_TESTS)
$(SCANNER_TESTS): $(STATIC)/unit/%: $(BUILD)/obj/tests/unit/%.o $(SUPPORT) $(LIBRARY) $(STATIC)/lib/libstatic.a
	@mkdir -p $(@D)
	$(call say,link)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $< $(SUPPORT) $(LIBRARY) $(STATIC_LIBS) -L$(STATIC)/lib/cmocka -lcmocka \
		-Wl,-rpath,$(abspath $(STATIC)/lib/cmocka)
$(STATIC)/lib/libstatic.a: scripts/static-libs.sh
	$(call say,libs)
	$(Q)CC='$(CC)' AR='$(AR)' OBJCOPY='$(OBJCOPY)' scripts/static-libs.sh $(STATIC)/lib $(MACHINE)
# Nothing unwinds the stack of the program: its tables would be a third of a megabyte with those of the libraries.
$(STATIC)/program.a: $(BUILD)/obj/pipeline/main.o $(OBJECTS)
	@rm -f $@ $@.part && mkdir -p $(@D)
	$(call say,ar)
	$(Q)$(AR) rcsD $@.part $^
	$(Q)$(OBJCOPY) -D -R .eh_frame -R .rela.eh_frame $@.part $@ && rm $@.part
$(STATIC)/tracemill: $(STATIC)/program.a $(STATIC)/lib/libstatic.a scripts/package.mk
	$(call say,link)
	$(Q)$(CC) $(STATIC_LDFLAGS) -s -Wl,-Map=$(STATIC)/map -o $@ -Wl,--whole-archive $< -Wl,--no-whole-archive $(STATIC_LIBS)
	$(Q)$(OBJCOPY) -R .comment $@

# --- installing --------------------------------------------------------------------------------------------
install: $(BUILD)/tracemill ## copy program, man page and completions to $(DESTDIR)$(PREFIX)
	install -D -m 755 $(BUILD)/tracemill $(DESTDIR)$(PREFIX)/bin/tracemill
	@PREFIX='$(DESTDIR)$(PREFIX)' scripts/install-extras.sh $(BUILD)/tracemill

uninstall: ## remove what `install` copied
	rm -f $(DESTDIR)$(PREFIX)/bin/tracemill
	@PREFIX='$(DESTDIR)$(PREFIX)' scripts/install-extras.sh --remove

# --- archives ----------------------------------------------------------------------------------------------
# Archives are dated by the last commit, or by SOURCE_DATE_EPOCH: the same commit gives the same bytes.
DIST := $(BUILD)/dist
EPOCH = $(or $(SOURCE_DATE_EPOCH),$(shell git log -1 --format=%ct 2>/dev/null || echo 0))
archive = tar --sort=name --mtime=@$(EPOCH) --owner=0 --group=0 --numeric-owner -C $(dir $(1)) -cf - $(notdir $(1)) | gzip -n9
# What goes beside the static program wherever it goes: licences, and what it is made of.
$(STATIC)/tracemill.spdx.json: $(STATIC)/tracemill scripts/packaging/sbom.py
	$(Q)SOURCE_DATE_EPOCH=$(EPOCH) python3 scripts/packaging/sbom.py --map $(STATIC)/map --versions $(STATIC)/lib/versions \
		--program $< --release $(VERSION) -o $(STATIC)

dist: ## source archive (an sdist as well), and the static program with its SBOM and licences, in build/dist
	@scripts/install-deps.sh build static
	@$(MAKE) --no-print-directory run-dist
.PHONY: run-dist
SOURCE_NAME = tracemill-$(VERSION)
STATIC_NAME = tracemill-$(VERSION)-linux-$(MACHINE)
run-dist: $(STATIC)/tracemill.spdx.json
	@mkdir -p $(DIST) && rm -rf $(STATIC)/$(STATIC_NAME)
	@SOURCE_DATE_EPOCH=$(EPOCH) python3 -B scripts/python/tracemill_build.py sdist $(DIST) >/dev/null
	@install -D -m 755 $(STATIC)/tracemill $(STATIC)/$(STATIC_NAME)/bin/tracemill
	@PREFIX=$(STATIC)/$(STATIC_NAME) scripts/install-extras.sh $(STATIC)/tracemill >/dev/null
	@cp -r LICENSE NOTICE $(STATIC)/licenses $(STATIC)/tracemill.spdx.json $(STATIC)/$(STATIC_NAME)/
	@$(call archive,$(STATIC)/$(STATIC_NAME)) >$(DIST)/$(STATIC_NAME).tar.gz
	@cp $(STATIC)/tracemill.spdx.json $(DIST)/$(STATIC_NAME).spdx.json
	@ls -l $(DIST)/$(SOURCE_NAME).tar.gz $(DIST)/$(STATIC_NAME).tar.gz $(DIST)/$(STATIC_NAME).spdx.json

# --- the Python package ------------------------------------------------------------------------------------
wheel: ## build/dist/tracemill-VERSION-*.whl: the static program and the Python package
	@scripts/install-deps.sh build static
	@$(MAKE) --no-print-directory run-wheel
.PHONY: wheel run-wheel
run-wheel: $(STATIC)/tracemill.spdx.json
	@mkdir -p $(DIST)
	@SOURCE_DATE_EPOCH=$(EPOCH) python3 -B scripts/python/tracemill_build.py wheel $(DIST) $(STATIC)/tracemill $(MACHINE) >/dev/null
	@ls -l $(DIST)/*.whl

# --- packages ----------------------------------------------------------------------------------------------
deb: ## build/dist/tracemill_VERSION_ARCH.deb: the static program, man page, completions
	@scripts/install-deps.sh build static deb
	@$(MAKE) --no-print-directory run-deb
.PHONY: deb run-deb
run-deb: $(STATIC)/tracemill.spdx.json
	@SOURCE_DATE_EPOCH=$(EPOCH) scripts/packaging/deb.sh $(VERSION) $(STATIC) $(DIST) \
		$(shell dpkg-architecture -t$$($(CC) -dumpmachine) -qDEB_HOST_ARCH 2>/dev/null)
	@ls -l $(DIST)/*.deb
# Recipes of others, with the version and the hashes of this release in them.
run-recipes:
	@python3 scripts/packaging/recipes.py --release $(VERSION) --dist $(DIST) -o $(DIST)/recipes
.PHONY: run-recipes

# --- a release ---------------------------------------------------------------------------------------------
release: ## everything that is handed out, in build/dist with SHA256SUMS; wants a clean tree and CHANGES.md
	@scripts/install-deps.sh build static arm64 deb
	@[ -z "$$(git status --porcelain)" ] || { echo 'release: there are changes that are not committed' >&2; exit 1; }
	@grep -q '^## $(VERSION)' CHANGES.md || { echo 'release: CHANGES.md has no section $(VERSION)' >&2; exit 1; }
	@rm -rf $(DIST)
	@$(MAKE) --no-print-directory run-release
.PHONY: release run-release
run-release: run-dist run-wheel run-deb
	+@RUNNABLE=$(abspath $(STATIC)/tracemill) $(ARM64) run-dist run-wheel run-deb
	@$(MAKE) --no-print-directory run-recipes
	@cd $(DIST) && find . -type f ! -name SHA256SUMS -printf '%P\n' | LC_ALL=C sort | xargs -d '\n' sha256sum >SHA256SUMS
	@cat $(DIST)/SHA256SUMS

# --- tests -------------------------------------------------------------------------------------------------
test-packaging: ## the static program, the wheel and the packages: whole, installed and run (minutes)
	@scripts/install-deps.sh build static arm64 deb packaging test
	@$(MAKE) --no-print-directory run-test-packaging
.PHONY: test-packaging run-test-packaging
$(BUILD)/packaging/.made: tests/packaging/requirements.txt
	@mkdir -p $(@D)
	$(call say,venv)
	$(Q)python3 -m venv $(@D)
	$(Q)$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --only-binary :all: -r $<
	@touch $@
run-test-packaging: $(NEEDS) $(BUILD)/packaging/.made run-release
	+@$(ARM64) build-unit-foreign
	+@$(MAKE) --no-print-directory BUILD=$(BUILD)/portable PORTABLE=1 all
	@TM_PACKAGING=1 $(RUN_TESTS) packaging
