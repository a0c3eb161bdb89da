"""What the conformance scripts share: finding test programs and running them side by side."""

import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import ranks  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
TIMEOUT = 150  # seconds per file


def cores():
    return len(os.sched_getaffinity(0))


def heddle():
    tool = Path(os.environ.get("HEDDLE", ROOT / "build/release/heddle"))
    if not os.access(tool, os.X_OK):
        sys.exit(f"{tool} is not there: build it with `make`, or set HEDDLE")
    return str(tool)


def find_files(paths):
    """The (name, file) of every program, sorted; a name is relative to the folder that was given."""
    files = {}
    for path in paths:
        if path.is_dir():
            for file in path.rglob("*.mlir"):
                files[file] = str(file.relative_to(path))
        elif path.is_file():
            files[path] = path.name
        else:
            sys.exit(f"{path} is not there")
    return sorted((name, file) for file, name in files.items())


def first_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[0].removeprefix("heddle: ") if lines else ""


def call(command, timeout=TIMEOUT):
    """(status, standard output, reason); the reason is None where the command went well."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace",
                              stdin=subprocess.DEVNULL, timeout=timeout, check=False,
                              env={**ranks.MPI_ENVIRONMENT, **os.environ})
    except subprocess.TimeoutExpired:
        return None, "", f"still running after {timeout} s"
    if done.returncode == 0:
        return 0, done.stdout, None
    if done.returncode < 0:
        return done.returncode, done.stdout, f"ended by signal {-done.returncode}"
    reason = first_line(done.stderr) or f"status {done.returncode}"
    return done.returncode, done.stdout, reason


def run_file(tool, file, until="read", engine="compiled", transport="auto"):
    """None where the program passes, else why not."""
    text = file.read_text(encoding="utf-8", errors="replace")
    arguments = ["--engine", engine, "--until", until] + arguments_of(text)
    if PART.search(text):
        return run_sharded(tool, text, transport, arguments)
    return ranks.run_parts(call, tool, file, text, transport, arguments)


PART = re.compile(r"^//--- (\w+\.mlir)\n", re.MULTILINE)


def run_sharded(tool, text, transport, arguments):
    """part1 is dealt out over its mesh by us; part2 runs the functions of one device and checks."""
    pieces = PART.split(text)
    parts = dict(zip(pieces[1::2], pieces[2::2]))
    # part1 once under its own names, and once per renaming that the file asks for.
    renamings = re.findall(r"^// RUN:.*sed 's/(\w+)/(\w+)/g'", text, re.MULTILINE)
    sources = [re.sub(old, new, parts["part1.mlir"]) for old, new in renamings]
    with tempfile.TemporaryDirectory() as folder:
        source, whole = Path(folder) / "part1.mlir", Path(folder) / "whole.mlir"
        modules = []
        for program in sources or [parts["part1.mlir"]]:
            source.write_text(program, encoding="utf-8")
            _, local, reason = call([tool, "plan", "--program", "--closed", str(source)])
            if reason:
                return f"part1: {reason}"
            modules.append(body_of(local))
        # What part2 calls sequential_x is parallel_x of part1 on one device.
        source.write_text(parts["part1.mlir"], encoding="utf-8")
        _, logical, reason = call([tool, "opt", str(source)])
        if reason:
            return f"part1: {reason}"
        wanted = (set(re.findall(r"@(sequential_\w+)", parts["part2.mlir"])) -
                  set(re.findall(r"@(sequential_\w+)", parts["part1.mlir"])))
        functions = {re.search(r"@(\w+)", f).group(1): f for f in functions_of(logical)}
        for other in sorted(wanted):
            name = whole_version(other, functions)
            if name is not None:
                modules.append(functions[name].replace(f"@{name}(", f"@{other}("))
        joined = "\n".join(modules)
        mesh = re.compile(r"^ *sdy\.mesh @\w+.*\n", re.MULTILINE)
        meshes = "".join(dict.fromkeys(mesh.findall(joined + "\n" + logical)))
        program = f"module {{\n{meshes}{mesh.sub('', joined)}{parts['part2.mlir']}\n}}\n"
        whole.write_text(program, encoding="utf-8")
        return ranks.run_parts(call, tool, whole, program, transport, arguments)


def whole_version(sequential, names):
    """Which function of part1 a sequential one stands for: parallel_x, any_x, or the only one."""
    what = sequential.removeprefix("sequential_")
    found = [n for n in names if n.replace("parallel", "sequential") == sequential != n]
    found += [n for n in names if n == what or n.endswith(f"_{what}")]
    return found[0] if found else next(iter(names)) if len(names) == 1 else None


def body_of(module):
    """The text of a printed module without its first and last line."""
    return "\n".join(module.rstrip().splitlines()[1:-1]) + "\n"


def functions_of(module):
    """The text of each function of a printed module."""
    return re.findall(r"^  func\.func .*?^  }$", module, re.MULTILINE | re.DOTALL)


def arguments_of(text):
    """Inputs for main that the file's own command line names."""
    found = re.search(r'^// RUN: .*--args="\[(dense.*)\]"', text, re.MULTILINE)
    if not found:
        return []
    inputs = re.split(r",\s*(?=dense)", found.group(1))
    return [word for value in inputs for word in ("--input", value)]


def run_all(files, jobs=None, until="read", engine="compiled", transport="auto"):
    """Yields (name, reason or None) in order."""
    tool = heddle()
    with ThreadPoolExecutor(jobs or cores()) as pool:
        yield from zip((name for name, _ in files),
                       pool.map(lambda entry: run_file(tool, entry[1], until, engine, transport),
                                files))
