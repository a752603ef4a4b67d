# spack.example.mk - dapo with everything from Spack.  Copy to config.mk; the Makefile
# reads config.mk first and then installs nothing.
#
#     spack env create dapo
#     spack -e dapo add gcc@12 openmpi@4.1 schedulers=slurm fabrics=auto +pmi \
#         hdf5@1.12 +mpi +hl onednn jansson pcre2 utf8proc xxhash cunit python \
#         py-h5py py-pandas py-matplotlib pkgconf
#     spack -e dapo install
#     spack env activate dapo      # before `make`, and in the batch script before srun
#
# inih is not in older Spack releases: its two files build anywhere with
#     gcc -O2 -fPIC -shared -o libinih.so ini.c
# A view (the default of an environment) gives all of it one prefix:

VIEW := $(SPACK_ENV)/.spack-env/view

CC := gcc
MPICC := $(VIEW)/bin/mpicc
MPIRUN := $(VIEW)/bin/mpirun
PKG_CONFIG := $(VIEW)/bin/pkg-config
HDF5_CFLAGS := -I$(VIEW)/include
HDF5_LIBS := -L$(VIEW)/lib -Wl,-rpath,$(VIEW)/lib -lhdf5
CFLAGS := -I$(VIEW)/include
LDLIBS := -L$(VIEW)/lib -L$(VIEW)/lib64 -Wl,-rpath,$(VIEW)/lib:$(VIEW)/lib64
CFLAGS_ARCH := -march=x86-64-v4
PYTHON := $(VIEW)/bin/python3
