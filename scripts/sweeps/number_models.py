# SPDX-License-Identifier: BSD-3-Clause
"""Generated models whose numbers lie at the borders of their dtypes, for sweep_numbers.py: each is an expression and
its samples. KINDS has the functions that draw one."""

import random
import re
from typing import Callable, List, NamedTuple, Tuple

import torch

SHAPE = (2, 6)


class Model(NamedTuple):
    kind: str
    source: str  # an expression of x, y, z; or several, with commas
    samples: List[Tuple[torch.Tensor, ...]]
    level: int = 3
    runtime: str = "pytorch"
    nhwc: bool = False


def integers(pick: random.Random, dtype, count: int, least=None, greatest=None) -> torch.Tensor:
    """Borders of the dtype and of float32's whole numbers, and others of every magnitude."""
    info = torch.iinfo(dtype)
    least, greatest = least if least is not None else info.min, greatest if greatest is not None else info.max
    borders = [0, 1, -1, 2, -7, 255, 2**24 - 1, 2**24, 2**24 + 1, -(2**24) - 3, 2**31 - 1, -(2**31), 1763812345]
    if dtype == torch.int64 and pick.random() < 0.2:
        borders += [2**31, -(2**31) - 1, 2**40, -(2**40) - 1, 2**32 + 1]
    values = []
    for _ in range(count):
        if pick.random() < 0.5:
            value = pick.choice(borders)
        else:
            value = pick.randint(-(2**pick.randint(1, 31)), 2**pick.randint(1, 31) - 1)
        values.append(min(max(value, least), greatest))
    return torch.tensor(values, dtype=dtype).reshape(SHAPE)


def small(pick: random.Random, dtype, least=-9, greatest=9) -> torch.Tensor:
    return torch.tensor([pick.randint(least, greatest) for _ in range(12)], dtype=dtype).reshape(SHAPE)


def floats(pick: random.Random, specials=False) -> torch.Tensor:
    values = [pick.choice((-1, 1)) * 10 ** pick.uniform(-8, 3) for _ in range(12)]
    for value in (0.0, -0.0, 0.5, -1.5, 2.5):
        values[pick.randrange(12)] = value
    if pick.random() < 0.3:
        for value in (1e-40, -1e-38, 1e-30, 2.0**24 + 2, -(2.0**31)):
            values[pick.randrange(12)] = value
    if specials and pick.random() < 0.3:
        values[pick.randrange(12)] = float("nan")
    if specials:
        values[pick.randrange(12)] = pick.choice((1e38, 3e38, -1e38))
        values[pick.randrange(12)] = float("inf")
        values[pick.randrange(12)] = float("-inf")
    return torch.tensor(values).reshape(SHAPE)


def bools(pick: random.Random) -> torch.Tensor:
    return torch.tensor([pick.random() < 0.5 for _ in range(12)]).reshape(SHAPE)


def any_integers(pick: random.Random):
    """A dtype, and a function that makes samples of it."""
    dtype = pick.choice((torch.int32, torch.int64))
    return dtype, lambda: integers(pick, dtype, 12)


def moves(pick: random.Random) -> Model:
    _, make = any_integers(pick)
    forms = ["torch.cat([x, y], {d})", "torch.cat([x, y, x], {d}).view(3, -1)", "torch.stack([x, y], {d})", "x.t()",
             "x.transpose(0, 1).reshape(-1)", "x.view(-1)", "x.view(3, 4)", "x[:, 1::2]", "x[1]", "x[:, -1]",
             "x.unsqueeze({d})", "x.repeat(2, 1)", "x.flip({d})", "x.roll(1, {d})", "torch.split(x, 2, 1)[1]",
             "torch.chunk(x, 2, {d})[0]", "x[:, [0, 3, 3]]", "x.index_select(1, torch.tensor([5, 0]))",
             "torch.nn.functional.pad(x, (1, 2))", "x.unsqueeze(0).expand(3, 2, 6)", "x.view(2, 3, 2).permute(2, 0, 1)",
             "torch.where(x > 3, x, y)", "x.masked_fill(y > 0, 7)", "x.tril()", "x.unfold(1, 2, 2)", "x.diagonal()",
             "torch.gather(x, 1, torch.tensor([[0, 2], [5, 1]]))", "torch.unbind(x, 0)[1]", "x.narrow(1, 2, 3)",
             "x.repeat_interleave(2, {d})", "torch.meshgrid(x[0], y[0])[0]", "x.movedim(0, 1)", "x.squeeze(0)",
             "x.flatten()", "x.rot90()", "torch.hstack([x, y])", "torch.tile(x, (1, 2))"]
    source = pick.choice(forms).format(d=pick.choice((0, 1)))
    if pick.random() < 0.3:
        source = f"({source}).unsqueeze(-1)"
    return Model("moves of integers", source, [(make(), make()) for _ in range(2)])


def arithmetic(pick: random.Random) -> Model:
    dtype = pick.choice((torch.int32, torch.int64))
    form = pick.choice(("x + y", "x - y", "x * y", "x + 7", "3 - x", "x * 3", "-x", "x.abs()", "x * x", "x.sign()",
                        "torch.maximum(x, y)", "torch.minimum(x, 5 * y)", "x.clamp(-5, 100000000)", "x.square()",
                        "torch.add(x, y, alpha=3)", "torch.rsub(x, y)", "x ** 2", "x ** 3", "x.clamp(min=16777217)"))
    if "abs" in form and dtype == torch.int32 and pick.random() < 0.5:
        form = "x.clamp(min=-2147483647).abs()"
    return Model("integer arithmetic", form, [(integers(pick, dtype, 12), integers(pick, dtype, 12)) for _ in range(2)])


def division(pick: random.Random) -> Model:
    dtype = pick.choice((torch.int32, torch.int64))
    form = pick.choice(("torch.div(x, y, rounding_mode='floor')", "torch.div(x, y, rounding_mode='trunc')", "x // y",
                        "x % y", "torch.fmod(x, y)", "torch.remainder(x, 7)", "torch.remainder(x, -7)",
                        "torch.div(x, 3, rounding_mode='trunc')", "torch.div(x, -3, rounding_mode='floor')",
                        "torch.fmod(x, -5)", "x / y", "torch.div(x, 16777217, rounding_mode='trunc')",
                        "torch.remainder(x, 16777217)"))

    def divisors():
        values = integers(pick, dtype, 12)
        return torch.where((values == 0) | (values == -1), torch.full_like(values, 3), values)
    return Model("integer division", form, [(integers(pick, dtype, 12), divisors()) for _ in range(2)])


def float_division(pick: random.Random) -> Model:
    form = pick.choice(("x.round()", "x.floor()", "x.ceil()", "x.trunc()", "x.frac()", "x // 2", "x % 2.5",
                        "torch.fmod(x, 2.5)", "torch.div(x, 2, rounding_mode='trunc')", "(x * 2).round() / 2",
                        "torch.round(x, decimals=1)", "x.sign()"))
    return Model("rounding", form, [(floats(pick).clamp(-1e3, 1e3),) for _ in range(2)])


def casts(pick: random.Random) -> Model:
    if pick.random() < 0.5:
        form = pick.choice(("x.int()", "x.long()", "x.bool()", "x.to(torch.int32) + 1", "x.long() // 2",
                            "x.to(torch.uint8)", "x.to(torch.int8)", "x.int().float()", "(x > 0).long()", "x.byte()",
                            "(x * 1000000).int()", "(x * 100000000).long()", "x.int().t()", "x.short()"))
        return Model("casts", form, [(floats(pick).clamp(0, 100) if "int8" in form or "byte" in form
                                      or "short" in form else floats(pick),) for _ in range(2)])
    dtype, make = any_integers(pick)
    form = pick.choice(("x.float()", "x.bool()", "x.int()", "x.long()", "x.to(torch.int16)", "x.to(torch.uint8)",
                        "x.to(torch.int8)", "x.double()", "x.half()", "x.float() * 2", "x.type_as(y)"))
    return Model("casts", form, [(make(), make()) for _ in range(2)])


CONSTANTS = ("torch.tensor(0.5, dtype=torch.float64)", "torch.tensor(0.5)", "torch.tensor(0.5, dtype=torch.float16)",
             "torch.tensor(3)", "torch.tensor(3, dtype=torch.int32)", "torch.tensor([0.5], dtype=torch.float64)",
             "torch.tensor([3])", "torch.tensor([0.5])", "0.5", "3", "True", "torch.tensor(True)",
             "torch.tensor(3, dtype=torch.uint8)")


def promotion(pick: random.Random) -> Model:
    dtype = pick.choice((torch.float32, torch.int32, torch.int64, torch.bool, torch.uint8))
    constant = pick.choice(CONSTANTS)
    form = pick.choice(("x + {c}", "x - {c}", "{c} - x", "x * {c}", "x / {c}", "x ** {c}", "x > {c}", "x == {c}",
                        "torch.maximum(x, torch.as_tensor({c}))", "torch.where(x > 1, x, torch.as_tensor({c}))",
                        "torch.where(x > 1, torch.as_tensor({c}), x)", "torch.clamp(x, min=torch.as_tensor({c}))",
                        "torch.add(x, {c}, alpha=2)", "torch.fmod(x, {c})", "x // {c}",
                        "torch.minimum(torch.as_tensor({c}), x)",
                        "torch.rsub(x, {c})", "torch.lerp(x, x * 2, {c})", "torch.addcmul(x, x, torch.as_tensor({c}))",
                        "torch.cat([x, torch.as_tensor({c}).expand(2, 1)], 1)", "x.masked_fill(x > 1, {c})",
                        "torch.true_divide(x, {c})", "torch.logical_and(x, torch.as_tensor({c}))",
                        "torch.stack([x, torch.as_tensor({c}).expand_as(x)])", "torch.hypot(x, torch.as_tensor({c}))"))
    source = form.format(c=constant)
    if dtype == torch.uint8:
        return Model("promotion", re.sub(r"\bx\b", "x.to(torch.uint8)", source), [(small(pick, torch.int32, 1, 9),)
                                                                             for _ in range(2)])

    def make():
        if dtype == torch.bool:
            return bools(pick)
        return floats(pick).clamp(0.1, 50) if dtype == torch.float32 else small(pick, dtype, 1, 9)
    return Model("promotion", source, [(make(),) for _ in range(2)])


def mixed(pick: random.Random) -> Model:
    def make(dtype):
        if dtype == torch.bool:
            return bools(pick)
        return floats(pick).clamp(-50, 50) if dtype == torch.float32 else small(pick, dtype, 1, 9)
    first, second = (pick.choice((torch.float32, torch.int32, torch.int64, torch.bool)) for _ in range(2))
    form = pick.choice(("x + y", "x - y", "x * y", "x / y", "x > y", "x == y", "torch.maximum(x, y)", "x ** y",
                        "torch.where(x > 1, x, y)", "torch.cat([x, y])", "torch.stack([x, y])", "x // y", "x % y",
                        "torch.clamp(x, min=y)", "x + y.sum()", "x * y[0, 0]", "torch.logical_or(x, y)",
                        "x - y.max()", "x.bool() & y.bool()", "x.sum() * y", "torch.addcmul(x, x, y)"))
    return Model("mixed dtypes", form, [(make(first), make(second)) for _ in range(2)])


def narrow(pick: random.Random) -> Model:
    cast = pick.choice(("torch.uint8", "torch.int8", "torch.int16", "torch.bool"))
    form = pick.choice(("x + y", "x * y", "x - y", "x + 100", "x.sum()", "-x", "x | y", "x & y", "x ^ y", "~x", "x * 2",
                        "x.sum(1)", "x > y", "x.float() + 1", "x.max()", "x.abs()", "x.long() * 1000", "x.any()",
                        "x.all(1)", "x.cumsum(1)", "x.prod(1)", "x.argmax(1)", "torch.cat([x, y])", "x.t()",
                        "x // 3", "x == y", "x.amax(1)"))
    source = re.sub(r"\b([xy])\b", rf"\1.to({cast})", form)
    samples = [(small(pick, torch.int32, -3, 127), small(pick, torch.int32, 1, 127)) for _ in range(2)]
    return Model("narrow integers and bool", source, samples)


def bits(pick: random.Random) -> Model:
    _, make = any_integers(pick)
    form = pick.choice(("x & y", "x | y", "x ^ y", "~x", "x & 255", "x << 2", "x >> 3", "torch.bitwise_not(x)",
                        "(x > 0) & (y > 0)", "(x > 0) ^ (y > 0)", "(x > 0) + (y > 0)", "(x > 0) * (y > 0)",
                        "(x > 0).sum()", "(x > 0).sum(1) + 1", "(x > 0).cumsum(1)", "(x > 0) + 1", "~(x > 0)"))
    return Model("bits and bool", form, [(make(), make()) for _ in range(2)])


def comparisons(pick: random.Random) -> Model:
    dtype, make = any_integers(pick)
    operator = pick.choice(("==", "!=", "<", "<=", ">", ">="))
    other = pick.choice(("y", "y", "16777216", "16777217", "2147483647", "0", "3.5", "y.float()", "2.0"))
    form = pick.choice(("x {o} {c}", "(x {o} {c}).long()", "torch.where(x {o} {c}, x, y)", "(x + 1) {o} {c}"))

    def sample():
        x = make()
        return x, torch.where(torch.tensor([pick.random() < 0.5 for _ in range(12)]).reshape(SHAPE), x, x ^ 1)
    return Model("comparisons of integers", form.format(o=operator, c=other), [sample() for _ in range(2)])


def reductions(pick: random.Random) -> Model:
    dtype, make = any_integers(pick)
    form = pick.choice(("x.sum()", "x.sum(1)", "x.sum(0, keepdim=True)", "x.cumsum(1)", "x.prod(1)", "x.amax(1)",
                        "x.amin(0, keepdim=True)", "x.max()", "x.min()", "torch.max(x, 1)[0]", "torch.min(x, 0)[1]",
                        "x.argmax(1)", "x.argmin()", "x.float().mean(1)", "x.any()", "x.all(1)", "x.count_nonzero(1)",
                        "x.sum(dtype=torch.int32)", "x.sum(1, dtype=torch.float32)", "x.argmax(1, keepdim=True)",
                        "torch.nn.functional.one_hot(x.remainder(6), 6)", "x.median()", "x.float().sum()",
                        "(x % 3).argmax(1)", "(x % 2).sum(1)"))
    return Model("reductions of integers", form, [(make(),) for _ in range(2)])


def orders(pick: random.Random) -> Model:
    form = pick.choice(("torch.sort(x, 1)[0]", "torch.sort(x, 1)[1]", "torch.sort(x, 0, descending=True)[0]",
                        "torch.sort(x, 1, descending=True)[1]", "torch.topk(x, 3)[0]", "torch.topk(x, 3)[1]",
                        "torch.topk(x, 2, largest=False)[0]", "torch.topk(x, 2, 0)[1]", "x.argsort(1)", "x.argmax(1)",
                        "x.argmin(1)", "torch.max(x, 1)[1]", "torch.min(x, 0)[1]", "x.argmax()", "x.kthvalue(2)[0]"))
    if pick.random() < 0.6:
        _, make = any_integers(pick)
    else:
        def make():
            return floats(pick)
    if "[1]" in form or "arg" in form:  # ties of topk and sort are PyTorch's to break
        ties = "argm" in form or "max" in form or "min" in form

        def make_unequal(make=make):
            x = make()
            return torch.where(x > 3, torch.full_like(x, 4), x) if ties else \
                torch.tensor(pick.sample(range(-10**6, 10**6), 12)).reshape(SHAPE).to(x.dtype)
        return Model("orders", form, [(make_unequal(),) for _ in range(2)])
    return Model("orders", form, [(make(),) for _ in range(2)])


FUNCTIONS = ("expm1", "log1p", "asinh", "sinh", "cosh", "tanh", "sigmoid", "exp", "log", "sqrt", "rsqrt", "atan", "sin",
             "cos", "erf", "erfc", "abs", "neg", "sign", "square", "reciprocal", "exp2", "log2", "log10", "relu",
             "ceil", "floor")
ACTIVATIONS = ("softplus", "logsigmoid", "mish", "gelu", "elu", "celu", "selu", "tanhshrink", "silu", "hardswish",
               "hardsigmoid", "softsign", "leaky_relu", "relu6", "hardtanh", "softshrink", "hardshrink")
FINITE = ("sin", "cos")  # PyTorch gives NaN at infinity


def functions(pick: random.Random) -> Model:
    name = pick.choice(FUNCTIONS + ACTIVATIONS)
    form = f"torch.nn.functional.{name}(x)" if name in ACTIVATIONS else f"torch.{name}(x)"
    specials = pick.random() < 0.5 and name not in FINITE
    return Model("functions of floats", form, [(floats(pick, specials),) for _ in range(2)])


def masked_sums(pick: random.Random) -> Model:
    form = pick.choice(("torch.logsumexp(x, 1)", "torch.logsumexp(x, 0, keepdim=True)", "torch.logaddexp(x, y)",
                        "torch.logaddexp(x, torch.tensor(float('-inf')))", "torch.softmax(x, 1)",
                        "torch.log_softmax(x, 1)", "torch.logsumexp(x.masked_fill(y > 0, float('-inf')), 1)",
                        "torch.logaddexp2(x, y)", "torch.masked.logsumexp(x, 1, mask=y > 0)",
                        "torch.logcumsumexp(x, 1)"))

    def make():
        values = floats(pick).clamp(-30, 30)
        if "softmax" not in form:
            values[torch.rand(SHAPE) < 0.3] = float("-inf")
            if pick.random() < 0.4:
                values[pick.randrange(2)] = float("-inf")
            if pick.random() < 0.3:
                values[0, pick.randrange(6)] = float("inf")
        return values
    return Model("sums of exponentials", form, [(make(), make()) for _ in range(2)])


def near_zero(pick: random.Random) -> Model:
    """Each value is compared by its own size."""
    name = pick.choice(("expm1", "log1p", "asinh", "sinh", "tanh", "atan", "sin", "erf", "elu", "celu", "selu",
                        "softsign", "tanhshrink", "silu", "gelu", "mish", "square", "reciprocal", "leaky_relu", "asin", "tan",
                        "atanh"))
    form = f"torch.nn.functional.{name}(x)" if name in ACTIVATIONS else f"torch.{name}(x)"

    def make():
        size = 10 ** pick.uniform(-7, -1)
        return torch.tensor([pick.choice((-1, 1)) * size * pick.uniform(0.3, 1) for _ in range(12)]).reshape(SHAPE)
    return Model("functions near 0", form, [(make(),) for _ in range(2)])


def float_moves(pick: random.Random) -> Model:
    form = moves(pick).source

    def make():
        return floats(pick, specials=True)
    return Model("moves of floats", form, [(make(), make()) for _ in range(2)])


IMAGE = (1, 3, 4, 5)


def images(pick: random.Random) -> Model:
    """Pictures of whole numbers or floats, in NCHW and NHWC."""
    form = pick.choice(("torch.cat([x, y], {d})", "x.flip({d})", "x.roll(1, {d})", "x.sum({d})", "x.amax({d})", "x + y",
                        "x.permute(0, 2, 3, 1)", "x.transpose(1, {d})", "x.view(1, -1)", "x.argmax({d})", "x[:, 1:]",
                        "x.select({d}, 1)", "torch.stack([x, y], {d})", "x.mean({d})", "torch.maximum(x, y)", "x > y",
                        "torch.nn.functional.pad(x, (1, 0, 0, 2))", "x.cumsum({d})", "torch.where(x > y, x, y)",
                        "x.unsqueeze(0).repeat(2, 1, 1, 1, 1)", "torch.nn.functional.max_pool2d(x.float(), 2)",
                        "torch.nn.functional.avg_pool2d(x.float(), 2, 1)", "x.index_select({d}, torch.tensor([1, 0]))",
                        "torch.nn.functional.interpolate(x.float(), scale_factor=2.0)", "x.sort({d})[0]", "x // 3",
                        "x.topk(2, {d})[0]", "torch.nn.functional.pixel_unshuffle(x[:, :, :, :4], 2)", "x * 3 - y",
                        "torch.nn.functional.softmax(x.float() / 1e7, {d})", "x.chunk(2, {d})[1]", "x.reshape(3, -1)",
                        "torch.nn.functional.conv2d(x.float(), torch.ones(2, 3, 2, 2))", "x.clamp(-9, 9)")).format(
                            d=pick.choice((1, 2, 3, -1)))
    dtype = pick.choice((torch.float32, torch.int32, torch.int64))
    adds = any(sign in form for sign in "+*") or "sum" in form
    least, greatest = (-(2**22), 2**22) if adds else (-(2**31), 2**31 - 1)

    def make():
        if dtype == torch.float32:
            return torch.randn(IMAGE, generator=torch.Generator().manual_seed(pick.randrange(10**6)))
        picked = pick.sample(range(least, greatest), 60)
        return torch.tensor(picked, dtype=dtype).reshape(IMAGE)
    return Model("pictures", form, [(make(), make()) for _ in range(2)])


def quantised(pick: random.Random) -> Model:
    """Of quantised tensors: moves, and operations of torch.ops.quantized. One step of the result's scale may differ."""
    scale, zero = pick.choice(((0.1, 128), (0.05, 0), (1.0, 10), (0.5, 255)))
    q = f"torch.quantize_per_tensor({{}}, {scale}, {zero}, torch.quint8)"
    x, y = q.format("x"), q.format("y")
    form = pick.choice((f"{x}", f"torch.cat([{x}, {y}], 1)", f"{x}.view(-1)", f"{x}.flip(1)", f"torch.relu({x})",
                        f"{x}.clamp(0, 2)", f"torch.ops.quantized.add({x}, {y}, {2 * scale}, {zero})",
                        f"torch.ops.quantized.mul({x}, {y}, {scale}, 128)", f"{x}.transpose(0, 1)", f"{x}[:, 1::2]",
                        f"torch.nn.functional.max_pool2d({x}, 2)", f"torch.ops.quantized.cat([{x}, {y}], 0, 0.2, 100)",
                        f"torch.mean({x}, [2, 3], True)", f"torch.nn.functional.hardtanh({x}, 0., 1.)",
                        f"torch.sigmoid({x})", f"torch.nn.functional.avg_pool2d({x}, 2)", f"{x}.int_repr().int()"))
    source = form if "int_repr" in form else f"({form}).dequantize()"

    def make():
        values = torch.tensor([pick.choice((-1, 1)) * 10 ** pick.uniform(-3, 2) for _ in range(60)])
        values[pick.randrange(60)] = pick.choice((0.0, -0.0, 1e6, -1e6, scale / 2, 1.5 * scale))
        return values.reshape(IMAGE)
    return Model("quantised", source, [(make(), make()) for _ in range(2)])


KINDS: Tuple[Callable[[random.Random], Model], ...] = (
    moves, arithmetic, division, float_division, casts, promotion, mixed, narrow, bits, comparisons, reductions, orders,
    functions, masked_sums, near_zero, float_moves, images, quantised)
