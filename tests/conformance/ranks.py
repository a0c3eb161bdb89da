"""Running test programs on several ranks: by threads, by `heddle launch`, or under mpirun."""

import os
import re
import shutil
import tempfile
from pathlib import Path

TRANSPORTS = ["auto", "threads", "processes", "mpi"]

# So that mpirun works for root in a container, and with more ranks than cores.
MPI_ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_btl_base_warn_component_unused": "0",
}


def mpirun():
    """The launcher: $MPIRUN, or mpirun; None where there is none."""
    return shutil.which(os.environ.get("MPIRUN", "mpirun"))


def parts_of(text):
    """The programs of a file, each with the number of processes that it runs (1: no matter)."""
    for part in re.split(r"^// -----.*$", text, flags=re.MULTILINE):
        sizes = {len(re.findall("@", grid))
                 for grid in re.findall(r"programs\s*=\s*(\[\[.*?\]\])", part, re.DOTALL)}
        if "func" in part:
            yield part, max(sizes, default=1)


def command(tool, transport, ranks, arguments):
    run = [tool, "run", "--plain", "--transport", transport] + arguments
    if transport == "processes":
        return [tool, "launch", "-n", str(ranks), "--"] + run
    if transport == "mpi":
        return [mpirun(), "-n", str(ranks)] + run
    return run


def run_parts(call, tool, file, text, transport, arguments):
    """None where every program of the file passes, else why not."""
    if transport in ("auto", "threads"):
        return call(command(tool, transport, 1, arguments + [str(file)]))[2]
    with tempfile.TemporaryDirectory() as folder:
        for number, (part, ranks) in enumerate(parts_of(text)):
            alone = Path(folder) / f"{file.stem}.{number}.mlir"
            alone.write_text(part, encoding="utf-8")
            kind = transport if ranks > 1 else "threads"
            reason = call(command(tool, kind, ranks, arguments + [str(alone)]))[2]
            if reason is not None:
                return reason
    return None
