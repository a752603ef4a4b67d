# shellcheck shell=bash
# spack.example.sh - dapo with everything from Spack.  Once:
#
#     spack env create dapo
#     spack -e dapo add gcc@12 openmpi@4.1 schedulers=slurm fabrics=auto +pmi \
#         hdf5@1.12 +mpi +hl pmix onednn jansson pcre2 utf8proc xxhash gmp mpfr flint \
#         cunit python py-h5py py-pandas py-matplotlib pkgconf
#     spack -e dapo install
#
# inih is not in older Spack releases: its two files build anywhere with
#     gcc -O2 -fPIC -shared -o libinih.so ini.c
#
# Copy this to env/site.sh; then
#     . env/site.sh && make       # make then installs nothing
#     sbatch slurm/dapo_demo.sh   # slurm/lib.sh reads it again, on the compute node
export DAPO_SITE=spack
# shellcheck source=/dev/null
. "${SPACK_ROOT:-$HOME/spack}/share/spack/setup-env.sh"
spack env activate dapo

# A view (the default of an environment) gives all of it one prefix.
view=$SPACK_ENV/.spack-env/view
export CC=gcc MPICC=$view/bin/mpicc MPIRUN=$view/bin/mpirun
export PKG_CONFIG=$view/bin/pkg-config
export HDF5_CFLAGS="-I$view/include"
export HDF5_LIBS="-L$view/lib -Wl,-rpath,$view/lib -lhdf5"
# MPI and Slurm must use the same PMIx: make it an external package if Slurm brings one.
export PMIX_CFLAGS="-I$view/include" PMIX_LIBS="-L$view/lib -lpmix"
export FLINT="-lflint -lmpfr"
export CFLAGS="-I$view/include"
export LDLIBS="-L$view/lib -L$view/lib64 -Wl,-rpath,$view/lib:$view/lib64"
export CFLAGS_ARCH=-march=x86-64-v4
export PYTHON=$view/bin/python3

# How slurm/*.sh start ranks: srun --mpi=$DAPO_MPI, or (mpirun) Open MPI's own launcher.
export DAPO_LAUNCH=srun DAPO_MPI=pmix
