#!/usr/bin/env python3
"""Checks that relative links in Markdown files, and paths in them such as `src/base/file.h`, lead to a
file that is there. `<family>` in a path stands for any word."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
PATH = re.compile(r"`((?:bench|cmake|examples|include|scripts|src|tests|tools)/[^`\s]*)`")
MERGE = re.compile(r"^(<<<<<<<|>>>>>>>) ", re.MULTILINE)  # what a merge leaves that nobody finished
MISSING = re.compile(r"\| not yet \|")  # a table's row of a folder that is to come


def links(text):
    """(line number, target) of every link outside of code blocks."""
    in_code = False
    for number, line in enumerate(text.splitlines(), start=1):
        if line.lstrip().startswith("```"):
            in_code = not in_code
        elif not in_code:
            for match in LINK.finditer(re.sub(r"`[^`]*`", "", line)):
                yield number, match.group(1)


def paths(text):
    """(line number, path) of every path of the tree."""
    for number, line in enumerate(text.splitlines(), start=1):
        if not MISSING.search(line):
            for match in PATH.finditer(line):
                yield number, match.group(1)


def is_there(path):
    pattern = re.sub(r"<[^>]*>|…|N\b", "*", path)
    return any(ROOT.glob(pattern)) or any(ROOT.glob(pattern + ".*"))


def main():
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"]
    names = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    pages = [ROOT / name for name in names.splitlines() if (ROOT / name).exists()]
    broken = 0
    for page in pages:
        if MERGE.search(page.read_text(encoding="utf-8")):
            print(f"{page.relative_to(ROOT)}: a merge is not finished")
            broken += 1
        for number, target in links(page.read_text(encoding="utf-8")):
            if re.match(r"[a-z]+:|#", target):
                continue
            if not (page.parent / target.split("#")[0]).exists():
                print(f"{page.relative_to(ROOT)}:{number}: no such file: {target}")
                broken += 1
        for number, path in paths(page.read_text(encoding="utf-8")):
            if not is_there(path.rstrip("/")):
                print(f"{page.relative_to(ROOT)}:{number}: no such file: {path}")
                broken += 1
    print(f"docs: {len(pages)} pages, {broken} broken links and paths")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
