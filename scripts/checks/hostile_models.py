# SPDX-License-Identifier: BSD-3-Clause
"""Models that mean harm, written as archives without PyTorch, whose own compiler such code would end: code that is nested
deep, long, asks for huge tensors, never ends, or computes with wild numbers. A seed makes each of them."""

import io
import pathlib
import random
import zipfile
from typing import Callable, Dict, List, NamedTuple

WILD_INTEGERS = (0, 1, -1, 2, 7, 255, 99999, 2**31 - 1, -2**31, 2**31, 2**32, 10**12, 2**62, 2**63 - 1, -2**63 + 1)
WILD_NUMBERS = ("0.", "-0.", "1e-45", "1e308", "-1e308", "torch.mul(1e308, 10.)", "0.5")
INPUT = "1,8"


class Hostile(NamedTuple):
    name: str
    code: str
    options: List[str]


def forward(body: str, result: str = "x", methods: str = "", returns: str = "Tensor") -> str:
    text = f"class M(Module):\n  __parameters__ = []\n  __buffers__ = []\n  training : bool\n{methods}"
    text += f"  def forward(self: __torch__.M,\n    x: Tensor) -> {returns}:\n"
    return text + "".join(f"    {line}\n" for line in body.splitlines()) + f"    return {result}\n"


def archive(model: Hostile) -> bytes:
    # An object of the class M whose attribute training is False.
    data = b"\x80\x02c__torch__\nM\n)\x81}(X\x08\x00\x00\x00training\x89ub."
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as entries:
        for name, content in {"data.pkl": data, "code/__torch__.py": model.code.encode(),
                              "constants.pkl": b"\x80\x02).", "version": b"3\n"}.items():
            entries.writestr(f"m/{name}", content)
    return out.getvalue()


# Deep

def nested_calls(chosen: random.Random) -> str:
    depth = depth_of(chosen)
    begin, end = chosen.choice((("torch.neg(", ")"), ("torch.relu(", ")"), ("torch.t(", ")"), ("(", ")"), ("torch.add(x, ", ")")))
    return forward(f"x0 = {begin * depth}x{end * depth}", "x0")


def nested_lists(chosen: random.Random) -> str:
    depth = depth_of(chosen)
    return forward(f"y = {'[' * depth}x{']' * depth}")


def nested_tuples(chosen: random.Random) -> str:
    depth = depth_of(chosen)
    return forward(f"y = {'(' * depth}x{',)' * depth}")


def nested_conditions(chosen: random.Random) -> str:
    depth = depth_of(chosen)
    kind = chosen.choice(("and", "elif", "if", "conditional"))
    if kind == "and":
        return forward(f"b = {' and '.join(['bool(torch.gt(torch.sum(x), 0))'] * depth)}\nif b:\n  x = torch.relu(x)\nelse:\n  x = x")
    if kind == "elif":
        first = "if bool(torch.gt(torch.sum(x), 0)):\n  x = torch.relu(x)\n"
        more = "".join(f"elif bool(torch.gt(torch.sum(x), {i})):\n  x = torch.neg(x)\n" for i in range(1, depth))
        return forward(first + more + "else:\n  x = x")
    if kind == "conditional":
        return forward(f"x0 = {'(torch.relu(x) if bool(torch.gt(torch.sum(x), 0)) else ' * depth}x{')' * depth}", "x0")
    depth = min(depth, 2000)
    lines = [" " * i + "if bool(torch.gt(torch.sum(x), 0)):" for i in range(depth)]
    return forward("\n".join([*lines, " " * depth + "x = torch.relu(x)"]))


def nested_loops(chosen: random.Random) -> str:
    depth = min(depth_of(chosen), 1000)
    rounds = chosen.choice(("2", "torch.size(x, 1)", "1000000"))
    lines = [" " * i + f"for i{i} in range({rounds}):" for i in range(depth)]
    return forward("\n".join([*lines, " " * depth + "x = torch.relu(x)"]))


def nested_methods(chosen: random.Random) -> str:
    depth = depth_of(chosen)
    methods = "".join(f"  def f{i}(self: __torch__.M,\n    x: Tensor) -> Tensor:\n    return torch.neg((self).f{i + 1}(x, ))\n"
                      for i in range(depth))
    last = f"  def f{depth}(self: __torch__.M,\n    x: Tensor) -> Tensor:\n    return torch.relu(x)\n"
    return forward("x0 = (self).f0(x, )", "x0", methods + last)


def doubled_methods(chosen: random.Random) -> str:
    """Each method calls the next one twice."""
    depth = chosen.choice((5, 12, 20, 30, 60))
    methods = "".join(f"  def f{i}(self: __torch__.M,\n    x: Tensor) -> Tensor:\n"
                      f"    return torch.add((self).f{i + 1}(x, ), (self).f{i + 1}(torch.neg(x), ))\n" for i in range(depth))
    last = f"  def f{depth}(self: __torch__.M,\n    x: Tensor) -> Tensor:\n    return torch.relu(x)\n"
    return forward("x0 = (self).f0(x, )", "x0", methods + last)


def nested_type(chosen: random.Random) -> str:
    depth = depth_of(chosen)
    name = chosen.choice(("List", "Optional", "Tuple"))
    return forward(f"y : {f'{name}[' * depth}Tensor{']' * depth} = []")


def depth_of(chosen: random.Random) -> int:
    return int(10 ** chosen.uniform(1.5, 4.7))


# Long

def chain(chosen: random.Random) -> str:
    kinds = ("torch.relu({})", "torch.mul({}, 1.5)", "torch.tanh({})", "torch.add({}, x)", "torch.neg({})", "torch.t(torch.t({}))")
    count = chosen.choice((100, 1000, 3000, 6000))
    few = chosen.sample(kinds, chosen.choice((1, 2, 3)))
    lines = [f"x{i + 1} = {chosen.choice(few).format(f'x{i}')}" for i in range(count)]
    return forward("\n".join(["x0 = torch.relu(x)", *lines]), f"x{count}")


def join(chosen: random.Random) -> str:
    count = chosen.choice((100, 1000, 4000))
    lines = [f"x{i} = torch.mul(x, {i}.5)" for i in range(count)]
    kind = chosen.choice(("cat", "outputs", "sum", "stack"))
    if kind == "outputs":
        names = ", ".join(f"x{i}" for i in range(count))
        return forward("\n".join(lines), f"({names})", returns=f"Tuple[{', '.join(['Tensor'] * count)}]")
    if kind == "sum":
        return forward("\n".join([*lines, "y = " + "torch.add(" * (count - 1) + "x0" + "".join(f", x{i})" for i in range(1, count))]),
                       "y")
    return forward("\n".join([*lines, f"y = torch.{kind}([{', '.join(f'x{i}' for i in range(count))}])"]), "y")


def long_constants(chosen: random.Random) -> str:
    count = chosen.choice((1000, 100_000, 1_000_000))
    kind = chosen.choice(("list", "text", "name", "lines"))
    if kind == "list":
        return forward(f"y = torch.tensor([{', '.join(['1'] * min(count, 100_000))}])\nx0 = torch.add(x, torch.sum(y))", "x0")
    if kind == "text":
        return forward(f'y = "{"a" * count}"\nx0 = torch.relu(x)', "x0")
    if kind == "name":
        return forward(f"{'a' * count} = torch.relu(x)", "a" * count)
    return forward("\n" * count + "x0 = torch.relu(x)", "x0")


# Huge

def huge_tensor(chosen: random.Random) -> str:
    n = chosen.choice((10**5, 10**9, 10**10, 10**12, 2**31, 2**40, 2**62))
    k = chosen.choice((10**3, 18_900, 10**5, 10**6))
    made = chosen.choice((
        f"torch.zeros([{n}])", f"torch.ones([{k}, {k}])", f"torch.arange({n})", f"torch.eye({k})", f"torch.rand([{n}])",
        f"torch.expand(torch.zeros([1]), [{n}])", f"torch.repeat(torch.zeros([1]), [{n}])", f"torch.full([{n}], 1.)",
        f"torch.tril(torch.ones([{k}, {k}]))", f"torch.matmul(torch.ones([{k}, 1]), torch.ones([1, {k}]))",
        f"torch.repeat_interleave(x, {n})", f"torch.repeat(x, [{k}, {k}])", f"torch.expand(x, [{n}, 8])",
        f"torch.constant_pad_nd(x, [0, {n}])", f"torch.one_hot(torch.to(x, 4), {n})", f"torch.linspace(0, 1, {n})",
        f"torch.cumsum(torch.expand(torch.ones([1]), [{n}]), 0)", f"torch.tensor(torch.mul([1], {n}))",
        f"torch.conv2d(torch.ones([1, 1, {k}, {k}]), torch.ones([1, 1, 3, 3]))",
        f"torch.upsample_nearest2d(torch.ones([1, 1, 2, 2]), [{k}, {k}])"))
    used = chosen.choice(("torch.add(x, torch.sum(y))", "torch.mul(torch.sum(x), y)", "torch.add(x, torch.size(y, 0))",
                          "torch.add(x, torch.select(y, 0, 0))"))
    return forward(f"y = {made}\nx0 = {used}", "x0")


# Endless

def endless(chosen: random.Random) -> str:
    n = chosen.choice((10**6, 10**9, 10**12, 10**18))
    body = chosen.choice((
        "while True:\n  x = torch.relu(x)", "while True:\n  pass", f"for i in range({n}):\n  x = torch.relu(x)",
        "while bool(torch.gt(torch.sum(torch.abs(x)), -1)):\n  x = torch.neg(x)",
        f"y = torch.sum(torch.expand(torch.ones([1]), [{n}]))\nx = torch.add(x, y)",
        f"y = torch.sum(torch.expand(x, [{n}, 8]))\nx = torch.add(x, y)",
        f"x = torch.add(x, torch.factorial({n}))", "i = 0\nwhile torch.ge(i, 0):\n  i = torch.remainder(torch.add(i, 1), 5)",
        f"n = 0\nfor i in range({n}):\n  n = torch.add(n, i)\nx = torch.add(x, n)",
        f"for i in range({n}):\n  for j in range({n}):\n    x = torch.add(x, i)",
        "l = [x]\nwhile True:\n  l = torch.add(l, l)", "l = [1]\nfor i in range(100):\n  l = torch.add(l, l)",
        's = "a"\nfor i in range(100):\n  s = torch.add(s, s)',
        "y = torch.ones([2])\nfor i in range(100):\n  y = torch.cat([y, y])\nx = torch.add(x, torch.sum(y))",
        f"y = torch.matrix_power(torch.ones([64, 64]), {n})\nx = torch.add(x, torch.sum(y))"))
    return forward(body)


# Wild numbers

def wild_numbers(chosen: random.Random) -> str:
    n = lambda: str(chosen.choice(WILD_INTEGERS))
    f = lambda: chosen.choice(WILD_NUMBERS)
    call = chosen.choice((
        lambda: f"torch.add(x, torch.remainder({n()}, {n()}))", lambda: f"torch.add(x, torch.floordiv({n()}, {n()}))",
        lambda: f"torch.add(x, torch.remainder(torch.sub({n()}, 1), {n()}))",
        lambda: f"torch.add(x, torch.floordiv(torch.sub(-9223372036854775807, 1), {n()}))",
        lambda: f"torch.remainder(torch.tensor([{n()}]), {n()})", lambda: f"torch.floor_divide(torch.to(x, 4), {n()})",
        lambda: f"torch.to(x, {n()})", lambda: f"torch.zeros([2], dtype={n()})", lambda: f"torch.sum(x, dtype={n()})",
        lambda: f"torch.select(x, {n()}, {n()})", lambda: f"torch.slice(x, {n()}, {n()}, {n()}, {n()})",
        lambda: f"torch.unfold(x, {n()}, {n()}, {n()})", lambda: f"torch.reshape(x, [{n()}, {n()}])",
        lambda: f"torch.as_strided(x, [{n()}], [{n()}], {n()})", lambda: f"torch.roll(x, [{n()}], [{n()}])",
        lambda: f"torch.constant_pad_nd(x, [{n()}, {n()}], {f()})", lambda: f"torch.chunk(x, {n()})[0]",
        lambda: f"torch.split(x, {n()}, 1)[0]", lambda: f"torch.transpose(x, {n()}, {n()})", lambda: f"torch.pow(x, {f()})",
        lambda: f"torch.pow(x, torch.pow({n()}, {n()}))", lambda: f"torch.clamp(x, {f()}, {f()})",
        lambda: f"torch.layer_norm(x, [{n()}], None, None, {f()})", lambda: f"torch.dropout(x, {f()}, True)",
        lambda: f"torch.avg_pool1d(torch.unsqueeze(x, 0), [{n()}], [{n()}], [{n()}])",
        lambda: f"torch.max_pool1d(torch.unsqueeze(x, 0), [{n()}], [{n()}], [{n()}], [{n()}])",
        lambda: f"torch.conv1d(torch.unsqueeze(x, 0), torch.ones([1, 1, 3]), None, [{n()}], [{n()}], [{n()}], {n()})",
        lambda: f"torch.adaptive_avg_pool1d(torch.unsqueeze(x, 0), [{n()}])", lambda: f"torch.topk(x, {n()}, {n()})[0]",
        lambda: f"torch.cumsum(x, {n()})", lambda: f"torch.diag(torch.squeeze(x, 0), {n()})", lambda: f"torch.tril(x, {n()})",
        lambda: f"torch.pixel_shuffle(torch.reshape(x, [1, 8, 1, 1]), {n()})",
        lambda: f"torch.quantize_per_tensor(x, {f()}, {n()}, 13)", lambda: f"torch.group_norm(torch.unsqueeze(x, 2), {n()})",
        lambda: f"torch.upsample_nearest1d(torch.unsqueeze(x, 0), [{n()}])", lambda: f"torch.one_hot(torch.to(x, 4), {n()})",
        lambda: f"torch.arange({f()}, {f()}, {f()})", lambda: f"torch.bartlett_window({n()})",
        lambda: f"torch.index_select(x, {n()}, torch.tensor([{n()}]))", lambda: f"torch.repeat(x, [{n()}, {n()}])",
        lambda: f"torch.bitwise_left_shift(torch.to(x, 4), {n()})", lambda: f"torch.gather(x, {n()}, torch.tensor([[{n()}]]))"))
    return forward(f"y = {call()}\nx0 = torch.relu(y)", "x0")


KINDS: Dict[str, Callable[[random.Random], str]] = {each.__name__: each for each in (
    nested_calls, nested_lists, nested_tuples, nested_conditions, nested_loops, nested_methods, doubled_methods, nested_type,
    chain, join, long_constants, huge_tensor, endless, wild_numbers)}
WEIGHTS = {"huge_tensor": 3, "endless": 3, "wild_numbers": 8}
WAYS = (["--verify"], ["--verify"], ["--litert"], ["--control-flow", "nnapi", "--runtime", "shim", "--feature-level", "4"],
        ["--runtime", "shim"], ["--fallback", "none"], [], ["check"])


def make(number: int, seed: int) -> Hostile:
    chosen = random.Random(f"{seed} {number}")
    name = chosen.choices(list(KINDS), [WEIGHTS.get(kind, 1) for kind in KINDS])[0]
    options = list(chosen.choice(WAYS))
    sizes = INPUT if chosen.random() < 0.9 else chosen.choice(("1,1000000000", "2147483647,8", "1,0", "100000,100000", "1,1,18900,18900"))
    return Hostile(name, KINDS[name](chosen), [*options, "--input", sizes])


def write(model: Hostile, path: pathlib.Path) -> None:
    path.write_bytes(archive(model))
