# modules.example.mk - dapo on a cluster with environment modules.  Copy to config.mk and
# change what differs; the Makefile reads config.mk first and then installs nothing.
#
# Before `make`, and in the batch script before srun:
#     module load gcc/12 openmpi/4.1 hdf5/1.12-parallel onednn/3.4
# MPI, HDF5 (built with --enable-parallel by the same MPI) and Slurm must belong together:
# `srun --mpi=list` has to name the PMI that MPI was built with (pmix in slurm/lib.sh).

CC := gcc
MPICC := mpicc
MPIRUN := mpirun

# From the variables that most HDF5 modules set; `h5pcc -show` prints what to write here.
HDF5_CFLAGS := -I$(HDF5_ROOT)/include
HDF5_LIBS := -L$(HDF5_ROOT)/lib -Wl,-rpath,$(HDF5_ROOT)/lib -lhdf5

# Libraries outside the compiler's own paths: one line per prefix.  Needed are oneDNN 2.6
# or later, jansson, PCRE2 (8 bit), utf8proc, inih and xxhash; the tests need CUnit.
DEPS := $(HOME)/sw/dapo
CFLAGS := -I$(DEPS)/include -I$(ONEDNN_ROOT)/include
LDLIBS := -L$(DEPS)/lib -Wl,-rpath,$(DEPS)/lib -L$(ONEDNN_ROOT)/lib64 \
	-Wl,-rpath,$(ONEDNN_ROOT)/lib64

# The login node's processor is often not the compute nodes': name theirs.
CFLAGS_ARCH := -march=x86-64-v4

# A python3 with h5py, pandas and matplotlib (analysis/), and pyarrow for Parquet.
PYTHON := python3
