"""Reading the files of a run: the one place that knows their layout.

A run directory holds rollouts/step-NNNNNN.h5, one file per step, complete in itself.
Everything here reads those files; run.h5 is only an index over them.
"""

import glob
import os
import re
import sys

import h5py
import pandas as pd

SCHEMA = 1


def step_files(run):
    """[(step, path)] of the run's step files, in order of the step."""
    found = []
    for path in glob.glob(os.path.join(run, "rollouts", "step-*.h5")):
        name = re.fullmatch(r"step-(\d{6,})\.h5", os.path.basename(path))
        if name:
            found.append((int(name[1]), path))
    if not found:
        sys.exit(f"{run}: no step files in rollouts/; is it a run directory?")
    return sorted(found)


def open_step(path):
    """The step file, open for reading; exits with a sentence if it isn't one."""
    try:
        file = h5py.File(path, "r")
    except OSError as why:
        sys.exit(f"{path}: can't be read: {why}")
    if file.attrs.get("schema") != SCHEMA or file.attrs.get("complete") != 1:
        sys.exit(f"{path}: is not a complete step file of schema {SCHEMA}")
    return file


def ledger(file):
    """Tokens and seconds by fate, as the trainer billed them: a frame indexed by fate."""
    group = file["ledger"]
    fates = [name.rstrip(b"\0").decode() for name in group["fate"][:]]
    return pd.DataFrame(
        {"tokens": group["tokens"][:], "seconds": group["seconds"][:]}, index=fates
    )


def fate_names(file):
    """{number: name} of the fates, from the column's own enumeration."""
    names = h5py.check_enum_dtype(file["candidates/fate"].dtype)
    return {number: name for name, number in names.items()}


def metrics(run):
    """All metrics of a run: a frame with one row per step and one column per name."""
    rows = []
    for step, path in step_files(run):
        with open_step(path) as file:
            row = {"step": step, "closed_by": text(file.attrs["closed_by"])}

            def keep(name, item, row=row):
                if isinstance(item, h5py.Dataset):
                    row[name] = float(item[()])

            file["metrics"].visititems(keep)
        rows.append(row)
    return pd.DataFrame(rows).set_index("step")


def text(value):
    """An attribute of fixed size as a string."""
    return value.rstrip(b"\0").decode() if isinstance(value, bytes) else str(value)


def name_of(run):
    """How a run is called in a legend."""
    return os.path.basename(os.path.normpath(run)) or run
