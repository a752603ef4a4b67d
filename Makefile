# Makefile of dapo.  `make help` lists the targets.
#
# config.mk (not in the repository; see env/) may set CC, MPICC, HDF5_CFLAGS, HDF5_LIBS,
# DNNL_*, CFLAGS_ARCH, PYTHON ... for a cluster.
-include config.mk

MODE ?= release
CC := $(if $(filter default,$(origin CC)),gcc,$(CC))
MPICC ?= mpicc
PKG_CONFIG ?= pkg-config
PYTHON ?= /usr/bin/python3
MPIRUN ?= mpirun --allow-run-as-root --oversubscribe --mca mpi_yield_when_idle 1 \
	--mca btl_vader_single_copy_mechanism none
NP ?= 1 2 3
B := build/$(MODE)
OMPI_CC := $(CC)
export OMPI_CC

# Modules in the order of the layers (README, "Map"): each may use those before it.
# CORE may use neither MPI nor HDF5: it is compiled without their headers and unit tests
# link it without their libraries, so reaching upward does not build.
CORE := base config text data reward backend model rollout admission learner
JOB := comm store train cmd

CFLAGS_ARCH ?= -march=native
WARN := -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes \
	-Wvla -Wundef $(if $(CI),-Werror)
OPT.release := -O3 -g
OPT.debug := -O0 -g3
OPT.asan := -O1 -g -fsanitize=address,undefined -fno-omit-frame-pointer \
	-fno-sanitize-recover=undefined
# No contraction or reassociation beyond what the source says: invariants 4 and 5 compare bits.
ALL_CFLAGS = -std=c11 -D_GNU_SOURCE -Iinclude -Isrc $(CFLAGS_ARCH) $(OPT.$(MODE)) \
	-fno-math-errno -ffp-contract=off $(WARN) $(CFLAGS) -MMD -MP
LIBS := -ljansson -lpcre2-8 -lutf8proc -linih -lxxhash -ldnnl -lm -lpthread
HDF5_CFLAGS ?= $(shell $(PKG_CONFIG) --cflags hdf5-openmpi 2>/dev/null)
HDF5_LIBS ?= $(shell $(PKG_CONFIG) --libs hdf5-openmpi 2>/dev/null)

objects = $(patsubst %.c,$(B)/%.o,$(foreach m,$(1),$(wildcard src/$(m)/*.c)))
UNIT := $(patsubst %.c,$(B)/%,$(wildcard tests/unit/*/test_*.c))
MPI := $(patsubst %.c,$(B)/%,$(wildcard tests/mpi/test_*.c))
CLI := $(wildcard tests/cli/test_*.sh)
BENCH := $(patsubst %.c,$(B)/%,$(wildcard tests/bench/bench_*.c))

.PHONY: all
all: bin/dapo ## build bin/dapo (default)

bin/dapo: $(B)/dapo
	@mkdir -p bin
	@ln -sf ../$(B)/dapo $@

$(B)/dapo: $(call objects,$(JOB) $(CORE))
	@echo '  LD $@'
	@$(MPICC) $(ALL_CFLAGS) -o $@ $^ $(HDF5_LIBS) $(LIBS) $(LDLIBS)

$(UNIT): $(B)/%: $(B)/%.o $(B)/tests/check.o $(call objects,$(CORE))
	@echo '  LD $@'
	@$(CC) $(ALL_CFLAGS) -o $@ $^ -lcunit $(LIBS) $(LDLIBS)

$(MPI) $(BENCH): $(B)/%: $(B)/%.o $(B)/tests/check.o $(B)/tests/check_mpi.o \
		$(filter-out $(B)/src/cmd/main.o,$(call objects,$(JOB) $(CORE)))
	@echo '  LD $@'
	@$(MPICC) $(ALL_CFLAGS) -o $@ $^ -lcunit $(HDF5_LIBS) $(LIBS) $(LDLIBS)

$(call objects,$(JOB)) $(addsuffix .o,$(MPI) $(BENCH)) $(B)/tests/check_mpi.o: COMPILE = $(MPICC) $(HDF5_CFLAGS)
COMPILE = $(CC)
$(B)/tests/%.o: ALL_CFLAGS += -Itests
$(B)/%.o: %.c Makefile
	@mkdir -p $(@D)
	@echo '  CC $<'
	@$(COMPILE) $(ALL_CFLAGS) -c -o $@ $<

.PHONY: check-unit check-mpi check-cli
check-unit: $(UNIT) ## unit tests (no MPI)
	@tests/run.sh unit $^
check-mpi: $(MPI) ## tests under mpirun, once per rank count in NP
	@for n in $(NP); do tests/run.sh "$(MPIRUN) -n $$n" $(MPI) || exit 1; done
check-cli: bin/dapo ## tests of the commands
	@tests/run.sh cli $(CLI)

.PHONY: clean
clean: ## remove what was built
	rm -rf build bin

.PHONY: help
help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | column -t -s '|'

-include $(shell find $(B) -name '*.d' 2>/dev/null)
