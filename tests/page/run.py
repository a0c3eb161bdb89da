#!/usr/bin/env python3
"""Opens the page of `heddle plan --html` in Chromium and looks at what its script has drawn.

    tests/page/run.py HEDDLE

Skipped (status 77) where Chromium is not installed. What is asserted is the DOM after the script has
run; a message on the browser's console is a failure.
"""

import shutil
import subprocess
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path

BROWSERS = ["chromium", "chromium-browser", "google-chrome"]
TIMEOUT = 120
NAME = "</script><img src=x onerror=document.title='broken'>"
LAYER = """
%h{i} = stablehlo.dot_general %x{i}, %w{i}, contracting_dims = [1] x [0] : (tensor<64x128xf32>, tensor<128x128xf32>) -> tensor<64x128xf32>
%t{i} = stablehlo.tanh %h{i} : tensor<64x128xf32>
%x{n} = stablehlo.add %t{i}, %x{i} : tensor<64x128xf32>"""


class Page(HTMLParser):
    """The elements with their attributes, and the text, without what scripts and styles say."""

    def __init__(self, dom):
        super().__init__()
        self.elements, self.words, self.silent = [], [], 0
        self.feed(dom)
        self.text = " ".join(" ".join(self.words).split())

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.silent += tag in ("script", "style")

    def handle_endtag(self, tag):
        self.silent -= tag in ("script", "style")

    def handle_data(self, data):
        if not self.silent:
            self.words.append(data)

    def count(self, tag, **wanted):
        return sum(t == tag and all(a.get(k) == v for k, v in wanted.items())
                   for t, a in self.elements)


def program(layers):
    """A chain of equal layers, whose first argument has a name that wants to be markup."""
    weights = ", ".join(f"%w{i}: tensor<128x128xf32>" for i in range(layers))
    body = "".join(LAYER.format(i=i, n=i + 1) for i in range(layers))
    return (f'func.func @main(%x0: tensor<64x128xf32> {{jax.arg_info = "{NAME}"}}, {weights}) '
            f"-> tensor<64x128xf32> {{{body}\nreturn %x{layers} : tensor<64x128xf32>\n}}\n")


def dom_of(browser, page, fragment="", dark=False):
    with tempfile.TemporaryDirectory() as profile:
        # Chromium's own option, without which it does not start for the superuser.
        done = subprocess.run(
            [browser, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--enable-logging=stderr", f"--user-data-dir={profile}", "--virtual-time-budget=3000",
             *(["--force-dark-mode"] if dark else []), "--dump-dom", page.as_uri() + fragment],
            capture_output=True, text=True, timeout=TIMEOUT, check=True)
    said = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    assert not said, f"the console says {said}"
    return Page(done.stdout)


def heddle_page(heddle, folder, name, source, options):
    file, page = folder / f"{name}.mlir", folder / f"{name}.html"
    file.write_text(source, encoding="utf-8")
    subprocess.run([heddle, "plan", str(file), "--html", str(page), *options], check=True,
                   stdout=subprocess.DEVNULL, timeout=TIMEOUT)
    return page


def check_searched(browser, heddle, folder):
    page = heddle_page(heddle, folder, "searched", program(24), [
        "--mesh", "dp=2:1TB/s:1ns,tp=2:1TB/s:1ns", "--plan", "auto"])
    seen = dom_of(browser, page)
    body = next(a for t, a in seen.elements if t == "body")
    assert body.get("data-ready") == "yes", "the script did not come to its end"
    assert "heddle plan searched.mlir" in seen.text, "the title is another"
    assert seen.count("img", src="x") == 0, "a name became markup"
    assert NAME in seen.text, "the argument's name is not shown as it is"
    for heading in ["The plan", "Program", "Communication", "Memory", "Arguments and results"]:
        assert heading in seen.text, f"there is no section {heading}"
    for words in ["a step, predicted", "of it compute", "exposed communication", "none takes less"]:
        assert words in seen.text, f"the answer does not say: {words}"
    assert "24 × 3 ops: 1 dot_general" in seen.text, "equal layers are not folded"
    assert "at op" in seen.text and seen.count("svg") >= 1, "memory is not drawn"
    assert seen.count("button", **{"aria-expanded": "false"}) > 0, "nothing can be asked"
    assert "dp=2" in seen.text and "What each axis" in seen.text


def check_why(browser, heddle, folder):
    page = folder / "searched.html"
    seen = dom_of(browser, page, "#why=arg1")
    assert seen.count("button", **{"aria-expanded": "true"}) == 1, "the answer is not open"
    assert "the best plan with it takes no more" in seen.text
    assert "chosen" in seen.text
    found = dom_of(browser, page, "#find=tanh", dark=True)
    assert "1 ops found" in found.text, "the one op of the folded layers is not found"
    assert dom_of(browser, page, "#find=nowhere").text.count("0 of") >= 1


def check_given(browser, heddle, folder):
    page = heddle_page(heddle, folder, "given", program(3), [
        "--mesh", "dp=2,tp=2", "--shard", "arg0=dp,_", "--shard", "arg1=_,tp"])
    seen = dom_of(browser, page)
    assert "kinds of communication" in seen.text and "needed by" in seen.text
    assert "given.mlir:" in seen.text, "there are no lines of the source"
    alone = heddle_page(heddle, folder, "alone", program(2), [])
    assert "On one device" in dom_of(browser, alone).text


STEP = """
func.func @main({weights}, %x0: tensor<8x64xf32>) -> (tensor<f32>, {types}) {{
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %rate = stablehlo.constant dense<0.1> : tensor<64x64xf32>{forward}
  %square = stablehlo.multiply %x{layers}, %x{layers} : tensor<8x64xf32>
  %loss = stablehlo.reduce(%square init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x64xf32>, tensor<f32>) -> tensor<f32>
  %d{layers} = stablehlo.add %x{layers}, %x{layers} : tensor<8x64xf32>{backward}
  return %loss, {results} : tensor<f32>, {types}
}}
"""
PRODUCT = "(tensor<8x64xf32>, tensor<{}xf32>) -> tensor<{}xf32>"


def step(layers):
    """A step of training of a chain of products."""
    n = range(layers)
    forward = "".join(f"\n  %x{i + 1} = stablehlo.dot_general %x{i}, %w{i}, contracting_dims = [1] x [0] : "
                      + PRODUCT.format("64x64", "8x64") for i in n)
    backward = "".join(
        f"\n  %g{i} = stablehlo.dot_general %x{i}, %d{i + 1}, contracting_dims = [0] x [0] : "
        + PRODUCT.format("8x64", "64x64")
        + f"\n  %s{i} = stablehlo.multiply %g{i}, %rate : tensor<64x64xf32>"
        + f"\n  %n{i} = stablehlo.subtract %w{i}, %s{i} : tensor<64x64xf32>"
        + f"\n  %d{i} = stablehlo.dot_general %d{i + 1}, %w{i}, contracting_dims = [1] x [1] : "
        + PRODUCT.format("64x64", "8x64") for i in reversed(n))
    return STEP.format(layers=layers, forward=forward, backward=backward,
                       weights=", ".join(f"%w{i}: tensor<64x64xf32>" for i in n),
                       types=", ".join("tensor<64x64xf32>" for _ in n),
                       results=", ".join(f"%n{i}" for i in n))


def check_pipeline(browser, heddle, folder):
    page = heddle_page(heddle, folder, "pipeline", step(4), [
        "--mesh", "pp=2,dp=2:1TB/s:1ns", "--pipeline", "pp", "--micro-batches", "4"])
    seen = dom_of(browser, page)
    for words in ["2 stages along pp, 4 micro-batches", "of it stages wait", "What stages take",
                  "What goes from stage to stage", "Bytes of a device of each stage"]:
        assert words in seen.text, f"the pipeline does not say: {words}"
    # Eight tasks and an update of each stage, and what they hold below.
    tasks, waits = seen.count("rect", **{"class": "task"}), seen.count("rect", **{"class": "wait"})
    assert 16 <= tasks <= 18, f"{tasks} tasks are drawn"
    assert waits >= 2, "no stage waits"
    assert seen.count("rect", **{"class": "area"}) == 18, "memory of stages is not drawn"
    assert "stage 1, forward of micro-batch 3" in seen.text and "stage 1 waits for" in seen.text
    fills = {a.get("fill") for t, a in seen.elements if t == "rect" and a.get("class") == "task"}
    assert len(fills) >= 8, "micro-batches have no colours of their own"


def main():
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        print("skipped: there is no Chromium; install the Debian package chromium")
        return 77
    heddle = str(Path(sys.argv[1]).resolve())
    with tempfile.TemporaryDirectory() as name:
        for check in [check_searched, check_why, check_given, check_pipeline]:
            check(browser, heddle, Path(name))
            print(f"{check.__name__}: right")
    return 0


if __name__ == "__main__":
    sys.exit(main())
