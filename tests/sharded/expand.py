"""Sharded functions as test programs: part1 the functions, part2 their shards and what must come.

A function of the source says nothing but its ops and shardings. Its arguments get values here,
`// NAME argI = KIND NUMBERS` before it chooses others; its results are those of the interpreter on
one device, which knows of shardings only that they change nothing. Shards have ceil(n / pieces)
elements per dimension; what lies beyond the end of a dimension is not compared.

Shardings over the first mesh of a file may be written shortly: @[x&y, _] after the type of an
argument or result, @@[x, _] after an op, @=[x, _] where a sharding stands by itself.
"""

import math
import re
import struct
import subprocess
import tempfile
from pathlib import Path

MESH = re.compile(r"^\s*sdy\.mesh (@\w+) = <\[(.*?)\](?:, device_ids=\[(.*?)\])?>", re.MULTILINE)
VALUES = re.compile(r"^// (\w+) arg(\d+) = (\w+) ?(.*)$", re.MULTILINE)


SHORT = re.compile(r"@([@=]?)\[([^\]]*)\]")


def written_out(source):
    """The source with its short shardings in sdy's own form."""
    mesh = re.search(r"sdy\.mesh (@\w+)", source).group(1)

    def long(found):
        dims = [d.strip() for d in found.group(2).split(",") if d.strip()]
        axes = ["" if d == "_" else ", ".join(re.sub(r"^(\w+)", r'"\1"', a) for a in d.split("&"))
                for d in dims]
        body = f"<{mesh}, [{', '.join('{' + a + '}' for a in axes)}]>"
        if found.group(1) == "=":
            return body
        if found.group(1) == "@":
            return f"{{sdy.sharding = #sdy.sharding_per_value<[{body}]>}}"
        return f"{{sdy.sharding = #sdy.sharding{body}}}"

    return SHORT.sub(long, source)


class Mesh:
    def __init__(self, axes, ids):
        self.axes = [(name, int(size)) for name, size in re.findall(r'"(.*?)"=(\d+)', axes)]
        self.size = math.prod(size for _, size in self.axes)
        self.ids = [int(i) for i in ids.split(",")] if ids else list(range(self.size))

    def coordinate(self, position, axis, before, size):
        """Of a position along a part of an axis, and how many there are."""
        inner = 1
        for name, extent in reversed(self.axes):
            if name == axis:
                size = size or extent
                return position // inner % extent // (extent // before // size) % size, size
            inner *= extent
        raise ValueError(f"the mesh has no axis {axis}")


class Value:
    """A tensor type with the axes of its dimensions."""

    def __init__(self, text, meshes):
        found = re.search(r"tensor<((?:\d+x)*)(.+?)>(?=[\s{,)]|$)", text)
        self.shape = [int(n) for n in found.group(1).split("x")[:-1]]
        self.dtype = found.group(2)
        self.mesh, self.dims = None, [[] for _ in self.shape]
        said = re.search(r"#sdy\.sharding<(@\w+|mesh<\[(?:.*?)\]>), \[(.*?)\]", text)
        if not said:
            return
        inline = re.match(r"mesh<\[(.*?)\]>", said.group(1))
        self.mesh = Mesh(inline.group(1), None) if inline else meshes[said.group(1)]
        for d, axes in enumerate(re.findall(r"\{(.*?)\}", said.group(2))):
            self.dims[d] = [(n, int(b or 1), int(s or 0))
                            for n, b, s in re.findall(r'"(.*?)"(?::\((\d+)\)(\d+))?', axes)]

    def pieces(self, d):
        return math.prod(self.mesh.coordinate(0, *axis)[1] for axis in self.dims[d])

    def local(self):
        return [-(-n // self.pieces(d)) for d, n in enumerate(self.shape)]

    def begin(self, position):
        """The first element of a position's shard along each dimension."""
        begins = []
        for d, n in enumerate(self.local()):
            at = 0
            for axis in self.dims[d]:
                coordinate, size = self.mesh.coordinate(position, *axis)
                at = at * size + coordinate
            begins.append(at * n)
        return begins

    def valid(self, position):
        return [max(0, min(n, whole - at))
                for n, whole, at in zip(self.local(), self.shape, self.begin(position))]

    def type(self, shape):
        return f"tensor<{''.join(f'{n}x' for n in shape)}{self.dtype}>"


def elements(shape, begins, sizes, flat, missing):
    """Row-major elements of a block; `missing` where the block reaches beyond the shape."""
    if not shape:
        return flat[0]
    inner = math.prod(shape[1:])
    return [elements(shape[1:], begins[1:], sizes[1:],
                     flat[(begins[0] + i) * inner:(begins[0] + i + 1) * inner]
                     if flat is not None and begins[0] + i < shape[0] else None, missing)
            if len(shape) > 1 else
            (flat[begins[0] + i] if flat is not None and begins[0] + i < shape[0] else missing)
            for i in range(sizes[0])]


def spelled(nested, dtype):
    if isinstance(nested, list):
        return "[" + ", ".join(spelled(n, dtype) for n in nested) + "]"
    if isinstance(nested, bool):
        return "true" if nested else "false"
    if isinstance(nested, complex):
        return f"({nested.real!r}, {nested.imag!r})"
    if isinstance(nested, float):
        width = {"f64": "d", "f32": "f"}[dtype.removeprefix("complex<").rstrip(">")]
        bits = struct.unpack(">Q" if width == "d" else ">I", struct.pack(">" + width, nested))[0]
        return repr(nested) if math.isfinite(nested) else f"0x{bits:X}"
    return str(nested)


def dense(nested, value, shape):
    if 0 in shape:
        return f"dense<> : {value.type(shape)}"
    return f"dense<{spelled(nested, value.dtype)}> : {value.type(shape)}"


def made(value, kind, numbers, salt):
    """Values of an argument: `list` as given, `mod n` below n, else small and of both signs."""
    count = math.prod(value.shape)
    if kind == "list":
        flat = [float(n) if "." in n else int(n) for n in numbers.replace(",", " ").split()]
    elif kind == "mod":
        flat = [(i * 5 + 3 + salt) % int(numbers) for i in range(count)]
    elif kind == "spd":  # a matrix that Cholesky's method takes
        n = value.shape[-1]
        flat = [n + 1 if i // n % n == i % n else (i // n % n + i % n) % 2 for i in range(count)]
    else:
        flat = [(i * 7 + 3 * salt + i * i % 5) % 19 - 9 for i in range(count)]
    if value.dtype.startswith("complex"):
        return [complex(n / 2, (n * 3) % 7) for n in flat]
    if value.dtype.startswith("f"):
        return [n / 2 if kind == "some" else float(n) for n in flat]
    if value.dtype == "i1":
        return [n % 3 == 0 for n in flat]
    return [abs(n) for n in flat] if value.dtype.startswith("ui") else flat


def read_npy(path):
    """The elements of a file in row-major order."""
    data = path.read_bytes()
    length = struct.unpack("<H", data[8:10])[0]
    kind = re.search(r"'descr': '[<|>=]?(\w+)'", data[10:10 + length].decode()).group(1)
    body = data[10 + length:]
    code = {"f4": "f", "f8": "d", "i1": "b", "i2": "h", "i4": "i", "i8": "q", "u1": "B", "u2": "H",
            "u4": "I", "u8": "Q", "b1": "?", "c8": "f", "c16": "d"}[kind]
    flat = [n for (n,) in struct.iter_unpack("<" + code, body)]
    return [complex(*pair) for pair in zip(flat[::2], flat[1::2])] if kind[0] == "c" else flat


def on_one_device(tool, source, name, inputs):
    with tempfile.TemporaryDirectory() as folder:
        file, out = Path(folder) / "whole.mlir", Path(folder) / "out"
        file.write_text(source, encoding="utf-8")
        command = [tool, "run", "--plain", "--engine", "interpreter", "--entry", name, str(file),
                   "--output", str(out)]
        for text in inputs:
            command += ["--input", text]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise ValueError(f"{name} on one device: {done.stderr.strip().splitlines()[0]}")
        files = sorted(out.glob("*.npy"), key=lambda p: int(re.findall(r"\d+", p.stem)[-1]))
        return [read_npy(file) for file in files]


def checks(name, arguments, results, inputs, outputs, prefix):
    """Lines of part2 for one function."""
    mesh = next((v.mesh for v in arguments + results if v.mesh and v.mesh.size > 1), None)
    if mesh is None:
        raise ValueError(f"{name}: no sharding names a mesh")
    for value in arguments + results:
        value.mesh = value.mesh if value.mesh and value.mesh.axes else mesh
    lines, names, types, result_types, parts = [], [], [], [], []
    for device in range(mesh.size):
        for i, value in enumerate(arguments):
            position = value.mesh.ids.index(device)
            shard = elements(value.shape, value.begin(position), value.local(), inputs[i],
                             False if value.dtype == "i1" else
                             inputs[i][0] * 0 if inputs[i] else 0)
            names.append(f"%{prefix}a{device}_{i}")
            types.append(value.type(value.local()))
            lines.append(f"{names[-1]} = stablehlo.constant "
                         f"{dense(shard, value, value.local())}")
        for i, value in enumerate(results):
            result_types.append(value.type(value.local()))
            parts.append((value, outputs[i], value.mesh.ids.index(device)))
    programs = ", ".join([name] * mesh.size)
    lines.append(f'%{prefix}r:{len(result_types)} = "interpreter.run_parallel"'
                 f'({", ".join(names)}) {{programs = [[{programs}]]}} : '
                 f'({", ".join(types)}) -> ({", ".join(result_types)})')
    for k, (value, flat, position) in enumerate(parts):
        sizes = value.valid(position)
        if 0 in sizes:
            continue
        have, here = f"%{prefix}r#{k}", value.type(sizes)
        if sizes != value.local():
            zeros, ones = ", ".join("0" for _ in sizes), ", ".join("1" for _ in sizes)
            have = f"%{prefix}v{k}"
            lines.append(f'{have} = "stablehlo.slice"(%{prefix}r#{k}) {{start_indices = '
                         f'array<i64: {zeros}>, limit_indices = array<i64: '
                         f'{", ".join(map(str, sizes))}>, strides = array<i64: {ones}>}} : '
                         f'({value.type(value.local())}) -> {here}')
        expected = elements(value.shape, value.begin(position), sizes, flat, None)
        lines.append(f"%{prefix}e{k} = stablehlo.constant {dense(expected, value, sizes)}")
        real = value.dtype.startswith(("f", "complex"))
        lines.append(f'"check.expect_{"almost_eq" if real else "eq"}"({have}, %{prefix}e{k}) : '
                     f'({here}, {here}) -> ()')
    return lines


def split_top(text):
    """Arguments or results of a signature, one text each."""
    parts, depth, last = [], 0, 0
    for i, c in enumerate(text):
        closes = c in "]})" or (c == ">" and text[i - 1] != "-")
        depth += 1 if c in "<[{(" else -1 if closes else 0
        if c == "," and depth == 0:
            parts.append(text[last:i])
            last = i + 1
    return [p.strip() for p in parts + [text[last:]] if p.strip()]


def signatures(source):
    """Name, arguments and results of each public function, as text."""
    for found in re.finditer(r"^func\.func (@\w+)\(", source, re.MULTILINE):
        at, depth = found.end(), 1
        while depth:
            depth += {"(": 1, ")": -1}.get(source[at], 0)
            at += 1
        arguments, rest = source[found.end():at - 1], source[at:]
        results = ""
        if rest.lstrip().startswith("->"):
            rest = rest.lstrip()[2:].lstrip()
            results = rest[:re.search(r"\s\{\n", rest).start()].strip()
            results = results[1:-1] if results.startswith("(") else results
        yield found.group(1), split_top(arguments), split_top(results)


def without(source, names):
    """The source less some of its functions."""
    for name in names:
        function = re.compile(rf"^func\.func {name}\(.*?^}}\n", re.MULTILINE | re.DOTALL)
        source = function.sub("", source)
    return source


def expand(tool, source, only=None):
    """The text of part1 and part2; of one function alone where its name is given."""
    source = written_out(source)
    meshes = {name: Mesh(axes, ids) for name, axes, ids in MESH.findall(source)}
    if only is not None:
        source = without(source, {name for name, _, _ in signatures(source)} - {only})
    chosen = {(n, int(i)): (kind, numbers) for n, i, kind, numbers in VALUES.findall(source)}
    lines = []
    for number, (name, arguments, results) in enumerate(signatures(source)):
        takes = [Value(text, meshes) for text in arguments]
        gives = [Value(text, meshes) for text in results]
        inputs = [made(value, *chosen.get((name[1:], i), ("some", "")), i)
                  for i, value in enumerate(takes)]
        texts = [dense(elements(v.shape, [0] * len(v.shape), v.shape, flat, None), v, v.shape)
                 for v, flat in zip(takes, inputs)]
        outputs = on_one_device(tool, source, name[1:], texts)
        lines += checks(name, takes, gives, inputs, outputs, f"f{number}_")
    body = "\n".join("  " + line for line in lines)
    return (f"//--- part1.mlir\n{source}\n"
            f"//--- part2.mlir\nfunc.func @main() {{\n{body}\n  return\n}}\n")
