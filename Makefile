# Makefile of dapo.  `make help` lists the targets.
#
# env/site.sh (not in the repository; env/*.example.sh are examples) sets what differs on a
# cluster: CC, MPICC, MPIRUN, PKG_CONFIG, HDF5_CFLAGS, HDF5_LIBS, PMIX_CFLAGS, PMIX_LIBS,
# FLINT, CFLAGS_ARCH, CFLAGS, LDLIBS, PYTHON.  Where it is, `make deps` installs nothing.
ifneq ($(wildcard env/site.sh),)
ifndef DAPO_SITE
$(error run `. env/site.sh` first (it sets DAPO_SITE))
endif
endif

MODE ?= release
CC := $(if $(filter default,$(origin CC)),gcc,$(CC))
MPICC ?= mpicc
PKG_CONFIG ?= pkg-config
PYTHON ?= /usr/bin/python3
MPIRUN ?= mpirun --allow-run-as-root --oversubscribe --mca mpi_yield_when_idle 1 \
	--mca btl_vader_single_copy_mechanism none
NP ?= 1 2 3
PREFIX ?= /usr/local
B ?= build/$(MODE)
OMPI_CC := $(CC)
export OMPI_CC MPIRUN PYTHON
# The Python that reads Parquet for `dapo prepare`: the one `make deps` made, if it did.
export DAPO_PYTHON ?= $(firstword $(wildcard $(CURDIR)/build/venv/bin/python) $(PYTHON))

# Modules in the order of the layers (README, "Map of the modules"): each may use those
# before it.  CORE may use neither MPI nor HDF5: it is compiled without their headers and
# unit tests link it without their libraries, so reaching upward does not build.
CORE := base config text data math reward backend model rollout admission sim learner
JOB := comm watch store doctor train cmd

CFLAGS_ARCH ?= -march=native
WARN := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes \
	-Wvla -Wundef -Wno-psabi $(if $(CI),-Werror)
OPT.release := -O3 -g
OPT.debug := -O0 -g3
OPT.asan := -O1 -g -fsanitize=address,undefined -fno-omit-frame-pointer \
	-fno-sanitize-recover=undefined
OPT.fuzz := -O1 -g -fsanitize=fuzzer-no-link,address,undefined \
	-fno-omit-frame-pointer -fno-sanitize-recover=undefined
# No contraction or reassociation beyond what the source says: invariants 4 and 5 compare
# bits.
ALL_CFLAGS = -std=c11 -D_GNU_SOURCE -Iinclude -Isrc $(CFLAGS_ARCH) $(OPT.$(MODE)) \
	-fno-math-errno -ffp-contract=off $(WARN) $(CFLAGS) -MMD -MP
# FLINT (balls of Arb) decides what exact arithmetic alone can't; `dapo config` says which
# was found.  3.0 and later hold Arb; before, it is a library of its own, which Debian
# calls flint-arb.  FLINT= builds without; FLINT='-lflint -larb' says where it is.
ifeq ($(origin FLINT),undefined)
FLINT := $(shell env/flint.sh "$(CC)" $(CFLAGS_ARCH) $(CFLAGS) $(LDLIBS))
endif
LIBS := -ljansson -lpcre2-8 -lutf8proc -linih -lxxhash -ldnnl $(FLINT) -lgmp -lm -lpthread
# PMIx: facts of a job and news of its peers; PMIX_LIBS= builds without.
PMIX_CFLAGS ?= $(shell $(PKG_CONFIG) --cflags pmix 2>/dev/null)
PMIX_LIBS ?= $(shell $(PKG_CONFIG) --libs pmix 2>/dev/null)
HDF5_CFLAGS ?= $(shell $(PKG_CONFIG) --cflags hdf5-openmpi 2>/dev/null)
HDF5_LIBS ?= $(shell $(PKG_CONFIG) --libs hdf5-openmpi 2>/dev/null)

objects = $(patsubst %.c,$(B)/%.o,$(foreach m,$(1),$(wildcard src/$(m)/*.c)))
UNIT := $(patsubst %.c,$(B)/%,$(wildcard tests/unit/*/test_*.c))
MPI := $(patsubst %.c,$(B)/%,$(wildcard tests/mpi/test_*.c))
CLI := $(wildcard tests/cli/test_*.sh)
LONG := $(wildcard tests/long/test_*.sh)
BENCH := $(patsubst %.c,$(B)/%,$(wildcard tests/bench/bench_*.c))
SOURCES := $(wildcard src/*/*.c tests/*.c tests/*/*.c tests/unit/*/*.c)
HEADERS := $(wildcard include/dapo/*.h src/*/*.h tests/*.h tests/*/*.h tests/unit/*/*.h)

.PHONY: all deps demo
all: bin/dapo ## build bin/dapo (default)

bin/dapo: $(B)/dapo
	@mkdir -p bin
	@ln -sfn ../$(B)/dapo $@

deps: ## install missing packages (Debian)
	@$(if $(DAPO_SITE),:,env/debian.sh)

demo: deps ## install, build, train a small model, report
	@$(MAKE) --no-print-directory -j$(shell nproc) all
	@jobs/demo.sh

$(B)/dapo: $(call objects,$(JOB) $(CORE))
	@echo '  LD $@'
	@$(MPICC) $(ALL_CFLAGS) -o $@ $^ $(HDF5_LIBS) $(PMIX_LIBS) $(LIBS) $(LDLIBS)

$(UNIT): $(B)/%: $(B)/%.o $(B)/tests/check.o $(call objects,$(CORE))
	@echo '  LD $@'
	@$(CC) $(ALL_CFLAGS) -o $@ $^ -lcunit $(LIBS) $(LDLIBS)

$(MPI) $(BENCH): $(B)/%: $(B)/%.o $(B)/tests/check.o $(B)/tests/check_mpi.o \
		$(filter-out $(B)/src/cmd/main.o,$(call objects,$(JOB) $(CORE)))
	@echo '  LD $@'
	@$(MPICC) $(ALL_CFLAGS) -o $@ $^ -lcunit $(HDF5_LIBS) $(PMIX_LIBS) $(LIBS) $(LDLIBS)

COMPILE = $(CC)
$(call objects,watch): ALL_CFLAGS += $(if $(strip $(PMIX_LIBS)),-DHAVE_PMIX $(PMIX_CFLAGS:-I%=-isystem %))
$(call objects,math): ALL_CFLAGS += $(if $(FLINT),-DHAVE_FLINT)
$(call objects,$(JOB)) $(addsuffix .o,$(MPI) $(BENCH)) $(B)/tests/check_mpi.o: \
	COMPILE = $(MPICC) $(HDF5_CFLAGS)
$(B)/tests/%.o: ALL_CFLAGS += -Itests
$(B)/%.o: %.c Makefile
	@mkdir -p $(@D)
	@echo '  CC $<'
	@$(COMPILE) $(ALL_CFLAGS) -c -o $@ $<

# The build id goes into every file of a run.  Only session.c is compiled anew when it
# changes: the file is touched only then.
$(B)/src/train/session.o: $(B)/build_id
$(B)/src/train/session.o: ALL_CFLAGS += -DBUILD_ID='"$(shell cat $(B)/build_id)"'
$(B)/build_id: FORCE
	@mkdir -p $(@D)
	@id=$$(git describe --always --dirty 2>/dev/null || echo unknown); \
	    [ "$$id" = "$$(cat $@ 2>/dev/null)" ] || echo "$$id" >$@
.PHONY: FORCE
FORCE:

.PHONY: check check-unit check-mpi check-cli check-long check-asan check-clang check-gpu
check: deps ## install, build and run the tests; ends in "N passed, N failed, N skipped"
	@tests/all.sh "$(MAKE)" check-unit check-mpi check-cli
check-unit: $(UNIT) ## unit tests (no MPI)
	@tests/run.sh unit $^
check-mpi: $(MPI) ## tests under mpirun, once per rank count in NP
	@for n in $(NP); do tests/run.sh "$(MPIRUN) -n $$n" $(MPI) || exit 1; done
check-cli: bin/dapo ## tests of the commands
	@tests/run.sh cli $(CLI)
check-long: deps ## what takes minutes: Slurm, whole runs
	@tests/all.sh "$(MAKE)" run-long
run-long: bin/dapo
	@TEST_TIMEOUT=1800 tests/run.sh cli $(LONG)
check-asan: deps ## unit tests and MPI tests under the address and undefined sanitizers
	@tests/all.sh "$(MAKE) MODE=asan NP=2" check-unit check-mpi
check-clang: deps ## the program and unit tests as clang compiles them, warnings as errors
	@tests/all.sh "$(MAKE) CC=clang CI=1 B=build/clang" build/clang/dapo check-unit
check-gpu: ## tests that need a GPU
	@echo 'skipped: no CUDA backend in this build'

# Seconds of `make fuzz-grader`.
SECONDS ?= 1200
FUZZ := build/fuzz/tests/fuzz/fuzz_grader
.PHONY: fuzz-grader
fuzz-grader: ## fuzz the graders for SECONDS=1200, by clang's libFuzzer
	@$(MAKE) --no-print-directory MODE=fuzz CC=clang -j$(shell nproc) $(FUZZ)
	@tests/fuzz/run.sh $(FUZZ) $(SECONDS)
$(FUZZ): $(FUZZ).o $(call objects,base math reward)
	@echo '  LD $@'
	@$(CC) $(ALL_CFLAGS) -fsanitize=fuzzer -o $@ $^ $(LIBS) $(LDLIBS)

.PHONY: bench
bench: bin/dapo $(BENCH) ## measure speed, the machine's own ceilings beside it
	@for b in $(BENCH) $(wildcard tests/bench/bench_*.sh); do $$b || exit 1; done

include tests/lint/lint.mk

.PHONY: install clean distclean help
install: all ## install to PREFIX=/usr/local
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/share/dapo
	install $(B)/dapo $(DESTDIR)$(PREFIX)/bin/dapo
	install -m 644 analysis/*.py jobs/*.ini $(DESTDIR)$(PREFIX)/share/dapo
	chmod +x $(addprefix $(DESTDIR)$(PREFIX)/share/dapo/,curves.py simulate.py waste.py)
clean: ## remove what was built
	rm -rf bin $(filter-out build/venv,$(wildcard build/*))
distclean: clean ## and the Python environment of `make deps`
	rm -rf build
help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile tests/lint/lint.mk | \
	    column -t -s '|'

-include $(shell find $(B) -name '*.d' 2>/dev/null)
