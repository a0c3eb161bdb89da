# mypy: ignore-errors
"""What a run can be told apart by."""

import platform
import sys


def info(*, start_runtime=True):
    import numpy

    from legate.core import get_machine

    machine = get_machine()
    return {
        "Program": " ".join(sys.argv),
        "System info": {"Python exe": sys.executable, "Platform": platform.platform()},
        "Package versions": {"heddle": _version("heddle"), "numpy": numpy.__version__},
        "Machine": {target.name: machine.count(target) for target in machine.valid_targets},
    }


def _version(package):
    from importlib import metadata

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "from a build folder"
