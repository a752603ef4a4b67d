# shellcheck shell=bash
# debian.example.sh - dapo on a cluster whose nodes run Debian 12 with the packages that
# `env/debian.sh --list` prints (libpmix-dev on the compute nodes too: Slurm's plugin
# mpi_pmix opens libpmix.so).  Copy to env/site.sh; then
#
#     . env/site.sh && make       # make then installs nothing
#     sbatch slurm/dapo_demo.sh   # slurm/lib.sh reads it again, on the compute node
#
# Compilers and libraries are where the Makefile looks for them by itself.
export DAPO_SITE=debian

# The login node's processor is often not the compute nodes': name theirs.
export CFLAGS_ARCH=-march=x86-64-v3

# Debian's Open MPI has no PMI but PMIx: Slurm needs slurm-wlm-basic-plugins for it.
export DAPO_LAUNCH=srun DAPO_MPI=pmix

# Which network: uncomment for nodes whose other interfaces lead nowhere.
# export OMPI_MCA_btl_tcp_if_include=eth0 OMPI_MCA_oob_tcp_if_include=eth0
