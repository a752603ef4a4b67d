# lint.mk - the habits of this code, each with its checker.  Included by Makefile.

C_FILES := $(SOURCES) $(HEADERS)
SHELLS := $(wildcard env/*.sh slurm/*.sh jobs/*.sh tests/*.sh tests/*/*.sh) \
	.ci/run
TIDY := $(patsubst %.c,build/tidy/%.ok,$(filter src/%,$(SOURCES)))
ALONE := $(patsubst %.h,build/tidy/%.alone,$(HEADERS))
MPI_CFLAGS = $(shell $(MPICC) --showme:compile 2>/dev/null)

LINT_CFLAGS = -std=c11 -D_GNU_SOURCE -Iinclude -Isrc -Itests $(CFLAGS_ARCH) \
	$(MPI_CFLAGS) $(HDF5_CFLAGS)

.PHONY: lint lint-rules lint-format lint-headers lint-shell lint-tidy format
lint: ## layers, _all names, headers alone, format, clang-tidy, shell scripts
	@$(MAKE) -k -Otarget --no-print-directory $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(shell nproc)) \
	    lint-rules lint-format lint-shell lint-headers lint-tidy
	@echo 'lint: nothing found'
lint-rules:
	@tests/lint/rules.sh "$(CORE)" "$(JOB)"
lint-format:
	@clang-format --dry-run -Werror $(C_FILES)
lint-shell:
	@shellcheck -x $(SHELLS)
	@shfmt -i 4 -d $(SHELLS)
lint-headers: $(ALONE)
lint-tidy: $(TIDY)
format: ## reformat all sources
	clang-format -i $(C_FILES)
	shfmt -i 4 -w $(SHELLS)

build/tidy/%.alone: %.h $(HEADERS)
	@mkdir -p $(@D)
	@echo '#include "$(<:include/%=%)"' | $(CC) $(LINT_CFLAGS) -I. -I$(dir $<) -Wall -Wextra \
	    -Wno-psabi -Werror -fsyntax-only -x c -
	@touch $@
$(patsubst %,build/tidy/%.ok,$(basename $(wildcard src/base/*.c src/comm/*.c))): KNOWN =
$(patsubst %,build/tidy/%.ok,$(basename $(wildcard src/backend/cpu_*.c))): \
	KNOWN = -include tests/lint/analyzer_cpu.h
KNOWN = -include tests/lint/analyzer.h
build/tidy/%.ok: %.c $(HEADERS) .clang-tidy $(wildcard tests/lint/*.h)
	@mkdir -p $(@D)
	@echo '  TIDY $<'
	@clang-tidy --quiet $< -- $(LINT_CFLAGS) $(KNOWN) 2>$(@:.ok=.log) || \
	    { grep -v 'warnings\? generated' $(@:.ok=.log); false; }
	@touch $@
