"""A plugin of pytest: writes a line of JSON when a case begins and when it ends, so that whoever started
the process knows what a crash or a hang interrupted. Told what to run by the environment:

    SUITE_OUTCOMES  the file that lines are added to
    SUITE_DONE      a file of cases, one a line, that are not to run again
    SUITE_ONLY      a file of cases, one a line: only these run
    SUITE_STRIDE    N: only every Nth case of what was collected
    SUITE_OFFSET    K: of these, those that begin with the Kth; 0 where nothing is said
"""

import json
import os
from pathlib import Path


def case_of(nodeid):
    """Class and method; the file is known."""
    return nodeid.partition("::")[2]


def lines_of(variable):
    path = os.environ.get(variable)
    return set(Path(path).read_text().splitlines()) if path else set()


def pytest_collection_modifyitems(config, items):
    only, done = lines_of("SUITE_ONLY"), lines_of("SUITE_DONE")
    stride, offset = (int(os.environ.get(f"SUITE_{name}", none)) for name, none in (("STRIDE", "1"), ("OFFSET", "0")))

    def is_wanted(number, case):
        return number % stride == offset and case not in done and (not only or case in only)

    kept, others = [], []
    for number, item in enumerate(items):
        (kept if is_wanted(number, case_of(item.nodeid)) else others).append(item)
    config.hook.pytest_deselected(items=others)
    items[:] = kept
    say(total=len(kept))


def say(**line):
    with open(os.environ["SUITE_OUTCOMES"], "a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def pytest_runtest_logstart(nodeid, location):
    say(case=case_of(nodeid), outcome="begun")


def reason_of(report):
    if isinstance(report.longrepr, tuple):  # where and why of a skip
        return report.longrepr[2]
    crash = getattr(report.longrepr, "reprcrash", None)
    return crash.message if crash else str(report.longrepr)


def pytest_runtest_logreport(report):
    case = case_of(report.nodeid)
    if report.outcome == "passed":
        if report.when == "call":
            say(case=case, outcome="passed")
    else:
        say(case=case, outcome=report.outcome, reason=reason_of(report)[:2000])


def pytest_runtest_logfinish(nodeid, location):
    say(case=case_of(nodeid), outcome="ended")
