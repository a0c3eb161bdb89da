"""python -m heddle.compat [-m MODULE | PROGRAM] [ARGUMENTS…]"""

from __future__ import annotations

import os
import runpy
import sys

from heddle import compat

_USAGE = """usage: python -m heddle.compat [-m MODULE | PROGRAM] [ARGUMENTS...]

Runs a program for cuPyNumeric, Legate or Legate Sparse on Heddle.
  --path   prints the folder of the modules that answer, for PYTHONPATH
"""


def main(arguments: list[str]) -> int:
    if not arguments or arguments[0] in ("-h", "--help"):
        print(_USAGE, end="", file=sys.stdout if arguments else sys.stderr)
        return 0 if arguments else 2
    if arguments[0] == "--path":
        print(compat.path())
        return 0
    if arguments[0] == "-m" and len(arguments) == 1:
        print("heddle.compat: -m needs a module's name", file=sys.stderr)
        return 2
    if arguments[0] != "-m" and not os.path.exists(arguments[0]):
        print(f"heddle.compat: there is no file {arguments[0]}", file=sys.stderr)
        return 2
    compat.install()
    # Processes that the program starts find the same modules.
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = compat.path() + (os.pathsep + before if before else "")
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        sys.path.insert(0, os.getcwd())
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        sys.path.insert(0, os.path.dirname(os.path.abspath(arguments[0])))
        runpy.run_path(arguments[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
