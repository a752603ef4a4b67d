#!/usr/bin/env bash
# rules.sh CORE JOB - rules of the sources that no compiler checks.  CORE and JOB are the
# modules in the order of the layers; each finding is a line, any finding is a failure.
set -eu
read -ra core <<<"$1"
read -ra job <<<"$2"
found=$(mktemp)
trap 'rm -f "$found"' EXIT

# Where a header lives, from its name in #include "...".
module_of() { # FILE-OF-THE-INCLUDE HEADER
    case $2 in
    dapo/clock.h | dapo/fault.h | dapo/group.h | dapo/inject.h | dapo/log.h | \
        dapo/mem.h | dapo/pulse.h | dapo/random.h | dapo/utf8.h) echo base ;;
    dapo/inspect.h) echo store ;;
    dapo/*) basename "${2%.*}" ;;
    */*) echo "${2%%/*}" ;;
    *) basename "$(dirname "$1")" ;;
    esac
}

# No module includes a header of a module below it, nor another's private header
# (comm_mpi.h, the door to the communicators, is made for store); core has neither MPI
# nor HDF5.
layers() {
    local -A level
    local order=("${core[@]}" "${job[@]}") file name from to i
    for i in "${!order[@]}"; do
        level[${order[i]}]=$i
    done
    while IFS=: read -r file _ name; do
        name=${name#*\"} name=${name%\"*}
        case $file in
        include/*) from=$(module_of . "${file#include/}") ;;
        *) from=${file#src/} from=${from%%/*} ;;
        esac
        to=$(module_of "$file" "$name")
        if [[ -z ${level[$from]-} || -z ${level[$to]-} ]]; then
            echo "$file: $name: its module is not in the Makefile's CORE or JOB"
        elif ((level[$to] > level[$from])); then
            echo "$file: $from may not use $name: $to is a layer above it"
        elif [[ $name == */* && $name != dapo/* && $to != "$from" &&
            $name != comm/comm_mpi.h ]]; then
            echo "$file: $name is private to $to"
        fi
    done < <(grep -rnE '^ *# *include "' src include)
    for i in "${core[@]}"; do
        grep -nE '^ *# *include <(mpi|hdf5)' -r "src/$i" || true
    done | sed 's/$/: core modules may use neither MPI nor HDF5/'
    ! grep -rnE '^ *# *include <(mpi|hdf5)' include ||
        echo 'public headers hide MPI and HDF5'
}

# Source without comments, strings and character constants, lines kept.
bare() {
    awk 'FNR == 1 { in_comment = 0 }
        {
            out = ""
            for (i = 1; i <= length($0); i++) {
                c = substr($0, i, 1); d = substr($0, i, 2)
                if (in_comment) { if (d == "*/") { in_comment = 0; i++ } }
                else if (quote) { if (c == "\\") i++; else if (c == quote) quote = "" }
                else if (d == "/*") { in_comment = 1; i++ }
                else if (d == "//") break
                else if (c == "\"" || c == "\047") { quote = c; out = out "0" }
                else out = out c
            }
            quote = ""
            print FILENAME ":" FNR ":" out
        }' "$@"
}

# Only functions named _all call functions named _all, or block in MPI with others.
# A definition starts in column 0 and its body is between braces in column 0.
collective() {
    bare src/*/*.c | awk '
        { split($0, part, ":"); where = part[1] ":" part[2]
          line = substr($0, length(where) + 2) }
        line ~ /^[A-Za-z_].*\(/ && line !~ /^__attribute__/ { name = line; sub(/ *\(.*/, "", name)
                                  sub(/.*[ *]/, "", name) }
        line ~ /^{/ { inside = 1; next }
        line ~ /^}/ { inside = 0 }
        inside && name != "main" && name !~ /_all$/ {
            if (match(line, /[a-z0-9_]+_all *\(/) ||
                match(line, /MPI_(Barrier|Bcast|Allreduce|Reduce|Gather|Gatherv|Allgather|Alltoall|Alltoallv|Scan|Exscan|Comm_split|Comm_dup|Comm_create[a-z_]*) *\(/))
                print where ": " name ": only functions named _all may call " \
                    substr(line, RSTART, RLENGTH) ")"
        }'
}

banned() {
    bare src/*/*.c src/*/*.h include/dapo/*.h tests/*.c tests/*/*.c tests/unit/*/*.c |
        grep -E '\b(strcpy|strcat|sprintf|strtok|atoi|atol|atof|rand|gets)\(' |
        sed 's/$/: banned (no bound, no error, or not repeatable)/' || true
}

# A file is read as a whole; a type that ends in _t is the C library's.
shape() {
    wc -l src/*/*.[ch] include/dapo/*.h tests/*.[ch] tests/*/*.c tests/unit/*/*.[ch] |
        awk '$2 != "total" && $1 > 600 { print $2 ": " $1 " lines, want at most 600" }'
    grep -nE '^typedef .*_t;|^struct [a-z_]+_t( \{)?$' -r src include |
        sed 's/$/: names ending in _t belong to the system/' || true
}

{ layers && collective && banned && shape; } >"$found"
cat "$found"
[ ! -s "$found" ] || { echo "lint: $(wc -l <"$found") findings" && exit 1; }
