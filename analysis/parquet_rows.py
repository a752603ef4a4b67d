#!/usr/bin/env python3
"""Print every row of a Parquet file as one JSON object per line, dropping nothing.

    python3 analysis/parquet_rows.py FILE.parquet

`dapo prepare` runs this (with $DAPO_PYTHON, else /usr/bin/python3).  Exit status: 0,
1 if the file can't be read, 3 if pyarrow is absent; the last line on stderr says why.
"""
import json
import math
import sys


def plain(value):
    """JSON has no bytes, dates or decimals, and no name for NaN."""
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, (str, int, float)):
        return value
    return str(value)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as e:
        print(f"pyarrow can't be imported: {e}", file=sys.stderr)
        return 3
    out = open(sys.stdout.fileno(), "w", encoding="utf-8", newline="\n", closefd=False)
    try:
        with pyarrow.parquet.ParquetFile(sys.argv[1]) as file:
            for batch in file.iter_batches(batch_size=1024):
                for row in batch.to_pylist():
                    try:
                        text = json.dumps(row, allow_nan=False)
                    except (TypeError, ValueError):
                        text = json.dumps(plain(row))
                    out.write(text + "\n")
        out.flush()
    except (pyarrow.ArrowException, OSError) as e:
        print(" ".join(str(e).split()), file=sys.stderr)
        return 1
    return 0


sys.exit(main())
