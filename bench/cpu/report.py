"""Rows of the benchmark: their text, and the figures over all of them."""
import json
import math
import statistics

from programs import CALL, MATRIX, MEMORY, TINY

PEERS = ("jax", "torch", "numpy")
KINDS = (MEMORY, MATRIX, TINY, CALL)


def middle(values):
    return float(statistics.median(values))


def geomean(values):
    values = list(values)
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None


def best_peer(row):
    times = [row[peer] for peer in PEERS if row.get(peer)]
    return min(times) if times else None


def ratio(row, peer_seconds):
    """How many times faster than a peer; None where one of them has no time."""
    return peer_seconds / row["heddle"] if peer_seconds and row.get("heddle") else None


def milliseconds(seconds):
    if seconds is None:
        return "-"
    value = seconds * 1e3
    digits = 0 if value >= 1000 else 1 if value >= 100 else 2 if value >= 1 else 4
    return f"{value:.{digits}f}"


def plain(value):
    return "-" if value is None else f"{value:.2f}"


# title, width, text of a row
COLUMNS = [
    ("program", 36, lambda row: row["name"]),
    ("class", 12, lambda row: row["kind"]),
    ("floor", 7, lambda row: milliseconds(row["floor"])),
    ("heddle", 8, lambda row: milliseconds(row.get("heddle"))),
    ("share", 5, lambda row: plain(row.get("share"))),
    ("donated", 8, lambda row: milliseconds(row.get("donated"))),
    ("jax", 8, lambda row: milliseconds(row.get("jax"))),
    ("torch", 8, lambda row: milliseconds(row.get("torch"))),
    ("numpy", 8, lambda row: milliseconds(row.get("numpy"))),
    ("x best", 6, lambda row: plain(ratio(row, best_peer(row)))),
    ("kernels", 7, lambda row: str(row.get("kernels", "-"))),
    ("compile", 7, lambda row: milliseconds(row.get("heddle_compile"))),
    ("jax", 6, lambda row: milliseconds(row.get("jax_compile"))),
    ("torch", 6, lambda row: milliseconds(row.get("torch_compile"))),
]


def _line(cells):
    padded = []
    for i, (cell, (_, width, _)) in enumerate(zip(cells, COLUMNS)):
        padded.append(cell.ljust(width) if i < 2 else cell.rjust(width))
    return "  ".join(padded).rstrip()


def heading():
    return _line([title for title, _, _ in COLUMNS])


def text_of(row):
    lines = [_line([text(row) for _, _, text in COLUMNS])]
    lines += [f"    {note}" for note in row["notes"]]
    if row.get("failure"):
        lines.append(f"    FAILED: {row['failure']}")
    return "\n".join(lines)


def _rounded(value):
    return None if value is None else float(f"{value:.3g}")


def figures(rows):
    """The last line. A failed row is in no mean; a memory-bound one makes `worst` zero."""
    good = [row for row in rows if not row.get("failure")]

    def ratios(kind, peer):
        found = [ratio(row, peer(row)) for row in good if row["kind"] == kind]
        return [r for r in found if r is not None]

    memory = ratios(MEMORY, best_peer)
    failed = any(row.get("failure") and row["kind"] == MEMORY for row in rows)
    compiles = [
        row["heddle_compile"] / row["jax_compile"]
        for row in good
        if row.get("heddle_compile") is not None and row.get("jax_compile")
    ]
    values = {
        "geomean_vs_best": geomean(memory),
        "share": geomean(row["share"] for row in good if row.get("share")),
        "worst": 0.0 if failed else min(memory, default=None),
        "matrix": geomean(ratios(MATRIX, best_peer)),
        "tiny": geomean(ratios(TINY, lambda row: row.get("jax"))),
        "calls": geomean(ratios(CALL, lambda row: row.get("jax"))),
        "compile_vs_jax": statistics.median(compiles) if compiles else None,
    }
    return json.dumps({key: _rounded(value) for key, value in values.items()})


def _summary_of(rows, kind):
    of_kind = [row for row in rows if row["kind"] == kind and not row.get("failure")]
    against_best = [r for r in (ratio(row, best_peer(row)) for row in of_kind) if r]
    if not against_best:
        return ""
    programs = f"{len(of_kind)} program{'s' if len(of_kind) > 1 else ''}"
    text = f"{kind}: {programs}, geomean {geomean(against_best):.2f}x the best peer"
    text += f" (least {min(against_best):.2f}x)"
    against_jax = [r for r in (ratio(row, row.get("jax")) for row in of_kind) if r]
    return text + (f", {geomean(against_jax):.2f}x JAX" if against_jax else "")


def summary(rows):
    """What stands out, in words."""
    lines = []
    failed = [row["name"] for row in rows if row.get("failure")]
    if failed:
        lines.append(f"{len(failed)} of {len(rows)} programs failed: {', '.join(failed)}")
    slower = [row for row in rows if (ratio(row, best_peer(row)) or 1) < 1]
    for row in slower:
        lines.append(f"slower than the best peer: {row['name']} {ratio(row, best_peer(row)):.2f}x")
    lines += [line for line in (_summary_of(rows, kind) for kind in KINDS) if line]
    return "\n".join(lines)
