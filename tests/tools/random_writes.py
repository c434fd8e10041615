# SPDX-License-Identifier: BSD-3-Clause
"""Makes small modules that change tensors in place, by way of views, lists, tuples and dicts, in loops and branches.
The same number gives the same module."""

import random
import textwrap
from typing import Dict, List

import torch

SHAPES = ((2, 4, 6), (2, 4, 6))
IMPORTS = "from typing import Dict, List, Tuple\n\nimport torch\nfrom torch import nn\n\n\n"

NEW = ("{a} + {b}", "torch.relu({a})", "{a} * 0.5", "torch.tanh({a})", "{a}.clone()", "{a} - 1", "torch.cat([{a}, {b}], 0)",
       "{a}.sum(0)", "torch.stack([{a}, {b}], 1)", "torch.zeros_like({a})", "{a}.clamp(-1., 1.)", "torch.neg({a})",
       "torch.ones({shape})", "{a}.repeat(1, 1, 1)", "self.layer({a})", "{a}.roll(1, 0)", "{a}.flip(0)",
       "torch.cat(({a}, {a}), -1)", "torch.where({a} > 0, {a}, {b})", "torch.maximum({a}, {b})", "{a}.mean(-1)")
VIEWS = ("{a}[0]", "{a}[-1]", "{a}[:, 1]", "{a}[:, 1:3]", "{a}[1:]", "{a}[..., ::2]", "{a}.transpose(0, 1)", "{a}.view(-1)",
         "{a}.unsqueeze(0)", "{a}.unsqueeze(-1)", "{a}.squeeze(0)", "{a}.squeeze()", "{a}.flatten()", "{a}.flatten(0, 1)",
         "{a}.reshape(-1)", "{a}.reshape({a}.shape)", "{a}.narrow(0, 0, 1)", "{a}.select(-1, 1)", "{a}.detach()",
         "{a}.contiguous()", "{a}.float()", "{a}.to(torch.float32)", "{a}.view_as({a})", "{a}.expand_as({a})", "{a}.t()",
         "{a}.chunk(2, 0)[1]", "{a}.split(1, 0)[0]", "{a}.unbind(0)[1]", "torch.unbind({a}, -1)[0]", "{a}.diagonal()",
         "{a}.movedim(0, -1)", "{a}.swapaxes(0, -1)", "{a}.unfold(0, 1, 1)", "self.dropout({a})", "self.identity({a})",
         "{a}.type_as({b})", "torch.chunk({a}, 2, -1)[0]", "{a}.split([1, 1], 0)[1]", "{a}.permute(1, 0, 2)",
         "{a}.permute(2, 0, 1)", "torch.flatten({a}, 1)", "{a}.ravel()", "{a}.expand(2, -1, -1, -1)[1]", "{a}.dropout",
         "torch.nn.functional.dropout({a}, 0.5, False)", "{a}.tensor_split(2, 0)[0]", "{a}.hsplit(2)[0]", "{a}.mT", "{a}.T",
         "{a}.view(torch.float32)", "{a}.unflatten(-1, (2, -1))", "{a}", "torch.atleast_1d({a})", "{a}.real")
WRITES = ("{a} += 1", "{a} *= 2", "{a} -= {b}", "{a}.add_({b})", "{a}.mul_(0.5)", "{a}.relu_()", "{a}.zero_()", "{a}.fill_(3.)",
          "{a}.copy_({b})", "{a}.clamp_(-1., 1.)", "{a}[0] = 1", "{a}[0] = {b}", "{a}[:, 1] += 2", "{a}[1:] *= 3", "{a}[0] += {b}",
          "{a}[..., 0] = {b}", "{a}[0, 1] = 5", "{a}[:, 1:3] = 0", "{a}[0].mul_(2)", "{a}.view(-1).add_(1)", "{a}.t().mul_(2)",
          "{a}.transpose(0, 1)[0].add_(1)", "torch.add({a}, {b}, out={c})", "torch.relu({a}, out={c})" ,
          "torch.mul({a}, 2., out={c})", "torch.nn.functional.relu({a}, inplace=True)", "{a}.masked_fill_({a} > 1, 0.)",
          "{a}.sigmoid_()", "{a}.tanh_()", "{a}.neg_()", "{a}.sub_(1).mul_(2)", "{a}.div_(2)", "{a}[{a} > 1] = 0.5",
          "{a}.index_fill_(0, torch.tensor([0]), 2.)", "{a}[torch.tensor([0])] = 4", "{a}[:] = {b}", "{a}[...] = 1",
          "{a}.unsqueeze_(0)", "{a}.squeeze_()", "{a}.transpose_(0, 1)", "{a}.t_()", "{a}[0], {a}[1] = {a}[1], {a}[0]",
          "{a}.chunk(2, 0)[0].add_(1)", "{a}.unbind(0)[1].mul_(3)", "torch.tanh_({a})", "{a}.abs_()", "{a}.pow_(2)", "{a}.exp_().clamp_(0., 4.)",
          "{a}.expand_as({a}).add_(1)", "{a}.index_copy_(0, torch.tensor([1]), {a}[:1] + 1)", "{a}.diagonal().add_(1)",
          "{a}.scatter_(0, torch.zeros_like({a}[:1]).long(), 2.)", "{a}.swapaxes_(0, 1)", "{a}.addcmul_({b}, {b})",
          "{a}.lerp_({b}, 0.5)", "torch.cat([{a}, {b}], 0, out={c})", "nn.functional.hardtanh({a}, inplace=True)",
          "nn.functional.leaky_relu_({a}, 0.1)", "nn.functional.threshold({a}, 0.5, 0.25, inplace=True)", "{a}.requires_grad_(False)",
          "self.inplace({a})", "{a}.resize_(1)", "{a}.swapdims(0, 1).mul_(2)", "{a}.cumsum_(0)", "{a}.tril_()", "{a}.fill_diagonal_(0.)")
LISTS = ("[{a}, {b}]", "[{a}, {a}]", "[{a}, {b}, {c}]", "list({a}.unbind(0))", "list({a}.chunk(2, 0))", "{l} + [{a}]", "{l}[1:]", "list({l})",
         "[p + 1 for p in {l}]", "[p[0] for p in {l}]", "{l}", "[{l}[1], {l}[0]]", "{a}.chunk(2, -1)", "{a}.split(1, 0)", "torch.unbind({a})",
         "{l}.copy()", "[{a}] * 2", "{l} * 2", "{l}[::-1]", "[{t}[0], {t}[1]]", "[{d}['p'], {a}]", "torch.meshgrid({a}[0, 0], {a}[0, 0])",
         "list({d}.values())", "torch.broadcast_tensors({a}, {a})")
TUPLES = ("({a}, {b})", "({a}, {a})", "({l}[0], {a})", "({t}[1], {t}[0])", "torch.max({a}, 0)", "({d}['p'], {b})")
DICTS = ("{{'p': {a}, 'q': {b}}}", "{{'p': {a}, 'q': {a}}}", "{{'p': {l}[0], 'q': {l}[1]}}", "{d}.copy()", "dict({d})", "{d}")
ELEMENTS = ("{l}[0]", "{l}[1]", "{l}[-1]", "{t}[0]", "{t}[1]", "{d}['p']", "{d}['q']")
CHANGES = ("{l}.append({a})", "{l}[0] = {a}", "{d}['p'] = {a}", "{d}['r'] = {a}", "{l}.extend([{a}])", "{l}.insert(0, {a})", "{l}.pop()",
           "{l}.reverse()", "{l}[0] += 1", "{l}[1][0] = 2", "{d}['q'] += 1", "{d}['p'][0] *= 2", "{t}[0].add_(1)", "{t}[1][0] = 3", "{l}[0][0].mul_(2)",
           "{l}[-1].copy_({a})", "{l} += [{a}]", "{d}.update({{'p': {a}}})", "{l}[0], {l}[1] = {l}[1], {l}[0]", "del {l}[0]", "{l}.clear()")
BLOCKS = ("for p in {l}:\n    {w:p}", "for i in range(2):\n    {a}[i] += i + 1", "for i in range(2):\n    {w:a}",
          "for i, p in enumerate({l}):\n    p *= i + 2", "for p, q in zip({l}, {m}):\n    p += 1\n    q *= 2",
          "for i in range(2):\n    {v} = {a}[i]\n    {w:v}", "if self.flag:\n    {w:a}", "if self.flag:\n    {w:a}\nelse:\n    {w:b}",
          "if bool({a}.sum() > 1):\n    {w:a}\nelse:\n    {w:b}", "for k in {d}:\n    {d}[k] += 1", "for p in ({a}, {b}):\n    {w:p}",
          "for p in {a}:\n    {w:p}", "for p in {a}.unbind(0):\n    p += 1", "for i in range(len({l})):\n    {l}[i] = {l}[i] + 1",
          "for i in range(len({l})):\n    {l}[i] += 1", "n = 0\nwhile n < 2:\n    {w:a}\n    n += 1", "for i in range(2):\n    {a} = {a} + 1\n    {w:b}",
          "for i in range(2):\n    {v} = {a}\n    {a} = {b} + 1\n    {v} += 1", "for k, p in {d}.items():\n    p += 2",
          "for p in {l}:\n    for q in {m}:\n        p += q[..., :1].mean()")


class Maker:
    """Keeps a line if PyTorch can run it after the lines before it."""

    def __init__(self, pick: random.Random, module):
        self.pick = pick
        self.lines: List[str] = []
        self.kinds: Dict[str, List[str]] = {"tensor": ["x", "y"], "list": [], "tuple": [], "dict": []}
        generator = torch.Generator().manual_seed(0)
        self.known = {"x": torch.randn(SHAPES[0], generator=generator), "y": torch.randn(SHAPES[1], generator=generator),
                      "self": module, "torch": torch, "nn": torch.nn}

    def choose(self, kind: str) -> str:
        names = self.kinds[kind]
        return self.pick.choice(names[-4:] + names) if names else "missing"

    def filled(self, form: str, new: str) -> str:
        first, second = self.choose("tensor"), self.choose("tensor")
        for name, target in (("a", first), ("b", second), ("p", "p"), ("v", new)):
            while f"{{w:{name}}}" in form:
                write = self.pick.choice(WRITES).format(a=target, b=self.choose("tensor"), c=self.choose("tensor"))
                form = form.replace(f"{{w:{name}}}", write, 1)
        return form.format(a=first, b=second, c=self.choose("tensor"), l=self.choose("list"), m=self.choose("list"),
                           t=self.choose("tuple"), d=self.choose("dict"), v=new,
                           shape=list(SHAPES[0]))

    def runs(self, lines: str) -> bool:
        known = dict(self.known)
        try:
            exec(lines, known)
        except Exception:
            return False
        finite = all(0 < value.numel() <= 400 and value.abs().max() < 1e4 and value.dtype == torch.float32
                     for value in known.values() if isinstance(value, torch.Tensor))
        if finite:
            self.known = known
        return finite

    def add(self, kind: str, forms) -> None:
        name = f"{kind[0]}{len(self.lines)}"
        for _ in range(8):
            line = self.filled(self.pick.choice(forms), name)
            if kind != "change":
                line = f"{name} = {line}"
            if self.runs(line):
                self.lines.append(line)
                if kind != "change":
                    self.kinds[kind].append(name)
                return

    def step(self) -> None:
        part = self.pick.random()
        if part < 0.16:
            self.add("tensor", NEW)
        elif part < 0.36:
            self.add("tensor", VIEWS)
        elif part < 0.58:
            self.add("change", WRITES)
        elif part < 0.70:
            kind, forms = self.pick.choice((("list", LISTS), ("list", LISTS), ("tuple", TUPLES), ("dict", DICTS)))
            self.add(kind, forms)
        elif part < 0.78:
            self.add("tensor", ELEMENTS)
        elif part < 0.86:
            self.add("change", CHANGES)
        else:
            self.add("change", BLOCKS)

    def results(self) -> str:
        """Returns a few early tensors and all late ones; the tensors of a container are joined."""
        names = self.kinds["tensor"]
        kept = [name for name in names if name in names[-3:] or self.pick.random() < 0.5]
        joins = [f"torch.cat([torch.flatten(p) for p in {name}])" for name in self.kinds["list"]]
        joins += [f"torch.cat([torch.flatten({name}[0]), torch.flatten({name}[1])])" for name in self.kinds["tuple"]]
        joins += [f"torch.cat([torch.flatten(p) for p in {name}.values()])" for name in self.kinds["dict"]]
        return ", ".join([f"{name} + 0" for name in kept] + [join for join in joins if self.runs(join)])


class Layers(torch.nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.layer = torch.nn.Linear(6, 6)
        self.dropout = torch.nn.Dropout(0.5)
        self.identity = torch.nn.Identity()
        self.inplace = torch.nn.ReLU(inplace=True)
        self.flag = True


def source_of(number: int, steps: int = 9) -> str:
    """Returns the text of a class Net for a file of its own, from which TorchScript reads it."""
    pick = random.Random(number)
    maker = Maker(pick, Layers().eval())
    with torch.no_grad():
        # Inputs are copied, but sometimes.
        for name in ("x", "y"):
            if pick.random() < 0.8:
                line = f"{name} = {name} * 1.5"
                maker.runs(line)
                maker.lines.append(line)
        while len(maker.lines) < steps + 2 and pick.random() < 0.99:
            maker.step()
        results = maker.results()
    body = "\n".join(maker.lines) + f"\nreturn {results}"
    return (f"{IMPORTS}from random_writes import Layers\n\n\nclass Net(Layers):\n    def forward(self, x, y):\n"
            + textwrap.indent(body, " " * 8) + "\n")
