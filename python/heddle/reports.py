"""The library's reports: text in a terminal, tables and pictures in a notebook."""

from __future__ import annotations

import html
from collections.abc import Sequence
from typing import Any


Rows = list[dict[str, Any]]


class Report:
    """What a function says of itself.

    ``print`` it for text; a notebook shows tables and pictures. ``data`` has everything that the
    library says, ``rows`` the first table as dicts.
    """

    def __init__(
        self, text: str, data: Any, tables: Sequence[Rows], pictures: Sequence[tuple[str, str]] = ()
    ) -> None:
        self._text = text.rstrip("\n")
        self.data = data
        self.tables = list(tables)
        self.pictures = list(pictures)

    @property
    def rows(self) -> Rows:
        return self.tables[0]

    def __str__(self) -> str:
        return self._text

    __repr__ = __str__

    def _repr_html_(self) -> str:
        drawn = "".join(
            f"<figure><figcaption>{html.escape(names)}</figcaption>{_inline(svg)}</figure>"
            for names, svg in self.pictures
        )
        return "".join(table_html(rows) for rows in self.tables if rows) + drawn


def plan_tables(plan: Any) -> list[Rows]:
    """Arguments and results, and what devices tell each other."""
    values: Rows = []
    moves: Rows = []
    for function in plan["functions"]:
        for word, key in (("arg", "arguments"), ("result", "results")):
            for i, value in enumerate(function.get(key, ())):
                name = value.get("name") or f"{word}{i}"
                values.append({"value": name, "type": value["type"], "layout": value["sharding"]})
        for move in function.get("communications", ()):
            moves.append({key: move[key] for key in ("kind", "over", "bytes", "seconds", "for")})
    return [values, moves]


def _inline(svg: str) -> str:
    """An SVG file as part of a page, which has no place for the file's first line.

    >>> _inline('<?xml version="1.0"?><svg></svg>')
    '<svg></svg>'
    """
    return svg[svg.find("<svg") :]


def table_html(rows: Sequence[dict[str, Any]]) -> str:
    """Rows as a table.

    >>> table_html([{"a": 1, "b": "<"}])
    '<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>&lt;</td></tr></table>'
    """
    columns = list(rows[0]) if rows else []
    head = "".join(f"<th>{html.escape(column)}</th>" for column in columns)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(_shown(row[c]))}</td>" for c in columns) + "</tr>"
        for row in rows
    )
    return f"<table><tr>{head}</tr>{body}</table>"


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.3g}"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def step_rows(steps: Sequence[dict[str, Any]]) -> Rows:
    """Steps in a few columns."""
    return [
        {
            "kind": step["kind"],
            "name": "  " * step["depth"] + step["name"],
            "ops": step["ops"],
            "bytes": step["bytes_read"] + step["bytes_written"],
            "lines": step["lines"] or [step["where"]],
            "note": step["note"],
        }
        for step in steps
    ]


def profile_rows(
    steps: Sequence[dict[str, Any]], times: Sequence[tuple[int, float]], runs: int
) -> Rows:
    """Steps by their share of the time; loops and branches are what is inside of them."""
    timed = [
        (seconds, calls, row)
        for row, (calls, seconds) in zip(step_rows(steps), times)
        if row["kind"] not in ("while", "if", "case")
    ]
    total = sum(seconds for seconds, _, _ in timed) or 1e-30
    return [
        {
            "share": 100 * seconds / total,
            "ms": seconds / runs * 1e3,
            "calls": calls / runs,
            "kind": row["kind"],
            "name": row["name"].strip(),
            "GB/s": row["bytes"] * calls / seconds / 1e9 if seconds else 0.0,
            "lines": row["lines"],
        }
        for seconds, calls, row in sorted(timed, key=lambda entry: -entry[0])
    ]
