# mypy: ignore-errors
"""Tables of benchmarks as text with commas, under comments that say how they were made."""

import csv
import json
import os
import pathlib
import sys
import uuid


class BenchmarkLog:
    """A table that is open: log() adds a row with a value for each column. Kinds of tables write in their own way."""

    def __init__(self, name, uid, columns, file, metadata=None):
        self.name, self.uid, self.columns, self.file, self.metadata = name, uid, list(columns), file, metadata

    def __enter__(self):
        header = {"Benchmark": self.name, "UID": f"{int(self.uid):016x}", **(self.metadata or {})}
        self._log_metadata(json.dumps(header, indent=2, default=str))
        self._log_columns(self.columns)
        return self

    def _log_metadata(self, metadata):
        for line in metadata.splitlines():
            print(f"# {line}", file=self.file)

    def _log_columns(self, columns):
        self._log_row(columns)

    def _log_row(self, row):
        csv.writer(self.file, lineterminator="\n").writerow(row)
        self.file.flush()

    def log(self, **values):
        unknown, missing = set(values) - set(self.columns), set(self.columns) - set(values)
        if unknown or missing:
            raise ValueError(
                f"a row of {self.name} has the columns {self.columns}; "
                f"unknown: {sorted(unknown)}, missing: {sorted(missing)}"
            )
        self._log_row([str(values[one]) for one in self.columns])

    def __exit__(self, *error):
        if hasattr(self.file, "flush"):
            self.file.flush()


class BenchmarkLogFromFilename:
    """The same in a file of its own."""

    def __init__(self, file_name, constructor):
        self._file_name, self._constructor = file_name, constructor

    def __enter__(self):
        self._file = open(self._file_name, "w", newline="")
        self._log = self._constructor(self._file)
        return self._log.__enter__()

    def __exit__(self, *error):
        try:
            return self._log.__exit__(*error)
        finally:
            self._file.close()


def benchmark_log(name, columns, *, out=None, metadata=None, start_runtime=True):
    """Writes to `out`, else to what LEGATE_BENCHMARK_OUT names: stdout, or a folder."""
    uid = uuid.uuid4().int & (2**64 - 1)
    where = os.environ.get("LEGATE_BENCHMARK_OUT", "stdout")
    if out is not None or where == "stdout":
        return BenchmarkLog(name, uid, columns, out or sys.stdout, metadata or {})
    file_name = pathlib.Path(where) / f"{name.replace(' ', '')}_{uid:016x}.0.csv"
    return BenchmarkLogFromFilename(
        file_name, lambda file: BenchmarkLog(name, uid, columns, file, metadata or {})
    )
