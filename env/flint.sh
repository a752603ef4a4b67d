#!/bin/sh
# flint.sh CC [FLAG]... - the libraries to link for FLINT's balls; nothing if there is none.
#
# The layouts: 3.x in one library; 2.x with Arb beside it, whose name differs by
# distribution.
set -u
cc=$1
shift
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cat >"$dir/t.c" <<'END'
#if __has_include(<flint/arb.h>)
#include <flint/arb.h>
#else
#include <arb.h>
#endif
int main(void)
{
    arb_t x;
    arb_init(x);
    arb_const_pi(x, 64);
    arb_clear(x);
    return 0;
}
END
for libs in "-lflint" "-lflint-arb -lflint" "-larb -lflint"; do
    # shellcheck disable=SC2086
    if $cc "$@" -o "$dir/t" "$dir/t.c" $libs -lmpfr -lgmp -lm \
        2>/dev/null; then
        echo "$libs -lmpfr"
        exit
    fi
done
