#!/usr/bin/env bash
# debian.sh - install what dapo needs on Debian 12 and is not there yet.
#
#   env/debian.sh           as root; does nothing, quickly, when all is there
#   env/debian.sh --list    the packages, one a line
#
# `make deps` runs it before `make demo` and `make check`.  Elsewhere, and with modules or
# Spack, env/site.sh says where things are and nothing is installed: see env/*.example.sh.
set -eu
cd "$(dirname "$0")/.."

packages=(
    # to build
    gcc make pkg-config git bsdextrautils openmpi-bin libopenmpi-dev libpmix-dev
    libhdf5-openmpi-dev libdnnl-dev libjansson-dev libpcre2-dev libutf8proc-dev
    libinih-dev libxxhash-dev zlib1g-dev libgmp-dev libmpfr-dev libflint-dev
    libflint-arb-dev
    # to look at runs
    hdf5-tools python3 python3-h5py python3-pandas python3-matplotlib python3-venv
    # to test and lint
    libcunit1-dev jq procps clang clang-format clang-tidy libclang-rt-14-dev shellcheck
    shfmt
)

missing_packages() {
    local have
    have=$(dpkg-query -W -f='${binary:Package} ${db:Status-Status}\n' "${packages[@]}" \
        2>/dev/null | sed -n 's/\(:[a-z0-9]*\)\{0,1\} installed$//p')
    printf '%s\n' "${packages[@]}" | grep -vxF -- "$have" || true
}

install_packages() {
    local missing apt=(apt-get -o DPkg::Lock::Timeout=500 -q)
    mapfile -t missing < <(missing_packages)
    ((${#missing[@]})) || return 0
    if ((EUID)); then
        echo "packages are missing; as root run:" >&2
        echo "    apt-get update && apt-get install --no-install-recommends" \
            "${missing[*]}" >&2
        return 1
    fi
    echo "installing ${#missing[@]} packages: ${missing[*]}"
    export DEBIAN_FRONTEND=noninteractive
    "${apt[@]}" update >/dev/null
    "${apt[@]}" install -y --no-install-recommends "${missing[@]}" >/dev/null
}

# Debian has no pyarrow, which `dapo prepare` needs for Parquet and for nothing else.
install_pyarrow() {
    local venv=build/venv
    [[ ! -e $venv/complete ]] || return 0
    echo "installing pyarrow in $venv (only \`dapo prepare\` on Parquet files uses it)"
    if ! { /usr/bin/python3 -m venv "$venv" &&
        "$venv/bin/pip" install -q --retries 1 --timeout 20 --only-binary :all: \
            'pyarrow>=14'; } >"$venv.log" 2>&1; then
        rm -rf "$venv"
        echo "no pyarrow ($venv.log says why): Parquet files can't be read, all else works"
        return 0
    fi
    touch "$venv/complete"
}

case ${1-} in
--list) printf '%s\n' "${packages[@]}" ;;
'')
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        echo "not a Debian system: write env/site.sh, see env/*.example.sh" >&2
        exit 1
    fi
    install_packages
    mkdir -p build
    install_pyarrow
    ;;
*)
    sed -n '2,8s/^# \{0,1\}//p' "$0" >&2
    exit 64
    ;;
esac
