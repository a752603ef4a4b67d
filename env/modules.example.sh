# shellcheck shell=bash
# modules.example.sh - dapo on a cluster with environment modules.  Copy to env/site.sh and
# change what differs:
#
#     . env/site.sh && make       # make then installs nothing
#     sbatch slurm/dapo_demo.sh   # slurm/lib.sh reads it again, on the compute node
#
# MPI, HDF5 (built with --enable-parallel by the same MPI) and Slurm must belong together:
# `srun --mpi=list` has to name the PMI that MPI was built with.  `dapo doctor` tells.
export DAPO_SITE=modules
module load gcc/12 openmpi/4.1 hdf5/1.12-parallel onednn/3.4 gmp flint

export CC=gcc MPICC=mpicc MPIRUN=mpirun

# From the variables that most HDF5 modules set; `h5pcc -show` prints what to write here.
export HDF5_CFLAGS="-I$HDF5_ROOT/include"
export HDF5_LIBS="-L$HDF5_ROOT/lib -Wl,-rpath,$HDF5_ROOT/lib -lhdf5"

# The PMIx that Slurm and MPI use; both empty: built without, and then deaths on other
# nodes are not named.
export PMIX_CFLAGS=-I/usr/include
export PMIX_LIBS=-lpmix

# FLINT 3 has Arb in it; before, it is -lflint -larb.  Empty: built without, and then
# reward.grader = math decides less.
export FLINT="-lflint -lmpfr"

# Libraries outside the compiler's own paths.  Needed are oneDNN 2.6 or later, jansson,
# PCRE2 (8 bit), utf8proc, inih, xxhash and GMP; the tests need CUnit.
deps=$HOME/sw/dapo
export CFLAGS="-I$deps/include -I$ONEDNN_ROOT/include -I$GMP_ROOT/include -I$FLINT_ROOT/include"
LDLIBS=
for dir in "$deps/lib" "$ONEDNN_ROOT/lib64" "$GMP_ROOT/lib" "$FLINT_ROOT/lib"; do
    LDLIBS+=" -L$dir -Wl,-rpath,$dir"
done
export LDLIBS

# The login node's processor is often not the compute nodes': name theirs.
export CFLAGS_ARCH=-march=x86-64-v4

# A python3 with h5py, pandas and matplotlib (analysis/), and pyarrow for Parquet.
export PYTHON=python3

# How slurm/*.sh start ranks: srun --mpi=$DAPO_MPI, or (mpirun) Open MPI's own launcher.
export DAPO_LAUNCH=srun DAPO_MPI=pmix
