# SPDX-License-Identifier: BSD-3-Clause
"""Random programs of operations that NNAPI has and has not, with branches, loops, changes in place, containers, and
what is kept from call to call."""

import random
from typing import Dict, List

import torch
from torch import nn

CHANNELS, SIZE = 8, 10

# All take and give [1, CHANNELS, SIZE, SIZE], of moderate size; {a} and {b} are values, {n} numbers a layer.
SUPPORTED = (
    "self.conv{n}({a})",
    "self.conv{n}({a})",
    "torch.relu({a})",
    "torch.tanh({a})",
    "{a} + {b}",
    "{a} * torch.sigmoid({b})",
    "{a} - {b}.mean([2, 3], keepdim=True)",
    "self.pair{n}(torch.cat([{a}, {b}], 1))",
    "torch.max_pool2d({a}, [3, 3], [1, 1], [1, 1])",
    "torch.cat([{a}[:, 4:], {b}[:, :4]], 1)",
    "torch.softmax({a}, 1)",
    "{a}.transpose(2, 3)",
    "torch.clamp({a}, -1.0, 1.5)",
)
UNSUPPORTED = (
    "torch.igamma({a}.abs() + 1.0, {b}.abs())",
    "torch.special.airy_ai(torch.tanh({a}))",
    "torch.linalg.matrix_exp(torch.tanh({a}) * 0.1)",
    "torch.nextafter({a}, {b})",
)


class Box:
    """Has attributes that programs read and set."""

    def __init__(self, value: torch.Tensor, number: int):
        self.value = value
        self.number = number

    def put(self, value: torch.Tensor) -> torch.Tensor:
        before = self.value
        self.value = value
        self.number += 1
        return before


class Program:
    """Writes the source of a forward and the layers that it uses."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.lines, self.layers = [], {}
        self.names = 0

    def expression(self, values):
        template = self.random.choice(UNSUPPORTED if self.random.random() < 0.25 else SUPPORTED)
        number = len(self.layers)
        if "self." in template:
            wide = "pair" in template
            name = f"{'pair' if wide else 'conv'}{number}"
            self.layers[name] = nn.Conv2d(CHANNELS * (2 if wide else 1), CHANNELS, 3, padding=1)
        return template.format(a=self.random.choice(values), b=self.random.choice(values), n=number)

    def add(self, depth: int, line: str):
        self.lines.append("    " * (depth + 1) + line)

    def new_name(self):
        self.names += 1
        return f"v{self.names}"

    def statements(self, values, depth: int, count: int):
        values = list(values)
        for _ in range(count):
            kind = self.random.random()
            name = self.new_name()
            if kind < 0.1 and depth < 2:
                self.branch(name, values, depth)
            elif kind < 0.16 and depth < 2:
                self.loop(name, values, depth)
            elif kind < 0.24:
                self.add(depth, f"{name} = {self.random.choice(values)}.clone()")
                self.add(depth, f"{name}[:, :{self.random.randint(1, 7)}] *= 0.5")
            elif kind < 0.27:
                self.filled(name, values, depth)
            elif kind < 0.30:
                self.listed(name, values, depth)
            elif kind < 0.46:
                self.random.choice([self.grown, self.named, self.boxed, self.kept])(name, values, depth)
            else:
                self.add(depth, f"{name} = {self.expression(values)}")
            values.append(name)
        return values

    def condition(self, values):
        return f"bool({self.random.choice(values)}.mean() > {self.random.uniform(-0.3, 0.5):.2f})"

    def filled(self, name, values, depth):
        """A tensor without inputs that a branch or loop changes."""
        self.add(depth, f"{name} = torch.linspace(-0.5, 0.5, {SIZE}).repeat(1, {CHANNELS}, {SIZE}, 1)")
        opening = self.random.choice([f"if {self.condition(values)}:",
                                      f"for _ in range(int({values[0]}.abs().max())):"])
        self.add(depth, opening)
        self.add(depth + 1,
                 f"{name}[:, {self.random.randint(0, 6)}:] += 0.1 * torch.tanh({self.random.choice(values)})[:, :1]")

    def listed(self, name, values, depth):
        """A list that a branch appends to."""
        parts = f"{name}_parts"
        self.add(depth, f"{parts} = [{self.expression(values)}, {self.random.choice(values)}]")
        self.add(depth, f"if {self.condition(values)}:")
        self.add(depth + 1, f"{parts}.append({self.expression(values)})")
        self.add(depth, f"{name} = torch.cat({parts}, 1)[:, -{CHANNELS}:] + 0.1 * float(len({parts}))")

    def value(self, values):
        return self.expression(values) if self.random.random() < 0.6 else self.random.choice(values)

    def sometimes(self, values, depth):
        """Opens a branch or a loop, or nothing; gives the depth inside."""
        opening = self.random.choice([None, None, f"if {self.condition(values)}:", "for i in range(2):",
                                      f"for i in range(int({values[0]}.abs().max())):"])
        if opening is None:
            return depth
        self.add(depth, opening)
        return depth + 1

    def grown(self, name, values, depth):
        """A list that grows and changes, under one name or two."""
        parts, other = f"{name}_parts", f"{name}_parts"
        self.add(depth, f"{parts} = [{self.value(values)}, {self.value(values)}]")
        if self.random.random() < 0.3:
            other = f"{name}_other"
            self.add(depth, f"{other} = {self.random.choice([parts, f'list({parts})', f'{parts}[:]'])}")
        for _ in range(self.random.randint(1, 4)):
            inner = self.sometimes(values, depth)
            change = self.random.choice(
                ["{parts}.append({a})", "{parts}.insert({i}, {a})", "{parts}.extend([{a}, {b}])", "{parts}[{i}] = {a}",
                 "{parts} += {parts}[:1]", "{parts}.append({parts}[{i}] + {a})", "{parts}.reverse()",
                 "{parts}.append({parts}.pop())"])
            self.add(inner, change.format(parts=self.random.choice([parts, other]), i=self.random.randint(-2, 1),
                                          a=self.value(values), b=self.value(values)))
            if self.random.random() < 0.3:
                self.add(depth, f"print('parts', len({parts}), len({other}))")
        self.add(depth, f"{name} = {parts}[{self.random.randint(-2, 1)}]")
        self.add(depth, f"for n, part in enumerate({other}):")
        self.add(depth + 1, f"{name} = {name} * 0.5 + part * (0.3 / (n + 1))")

    def named(self, name, values, depth):
        """A dict that layers fill."""
        entries = f"{name}_entries"
        self.add(depth, f"{entries}: Dict[str, Tensor] = {{'a': {self.value(values)}, 'b': {self.value(values)}}}")
        for _ in range(self.random.randint(1, 4)):
            inner = self.sometimes(values, depth)
            key = self.random.choice("abcd")
            change = self.random.choice(["{d}['{k}'] = {a}", "{d}['{k}'] = {d}['a'] * 0.5 + {a}",
                                         "{d}.update({{'{k}': {a}}})",
                                         "{n} = {d}.setdefault('{k}', {a})",
                                         "{d}['b'] = {d}['{k}'] if '{k}' in {d} else {d}['a']"])
            self.add(inner, change.format(d=entries, k=key, a=self.value(values), n=name))
        self.add(depth, f"{name} = {entries}['{self.random.choice('ab')}']")
        self.add(depth, f"for key, part in {entries}.items():")
        self.add(depth + 1, f"{name} = {name} * 0.5 + part * (0.3 if key == 'c' else 0.2)")

    def boxed(self, name, values, depth):
        """An object, under one name or two."""
        box = other = f"{name}_box"
        self.add(depth, f"{box} = Box({self.value(values)}, {self.random.randint(0, 2)})")
        if self.random.random() < 0.4:
            other = f"{name}_other"
            self.add(depth, f"{other} = {box}")
        self.add(depth, f"{name} = {other}.value")
        for _ in range(self.random.randint(1, 3)):
            inner = self.sometimes(values, depth)
            change = self.random.choice(["{box}.value = {a}", "{name} = {box}.put({a})",
                                         "{box}.number = {box}.number + 2",
                                         "{name} = {name} * 0.5 + {box}.value * 0.1"])
            self.add(inner,
                     change.format(box=self.random.choice([box, other]), name=name, a=self.value([*values, name])))
        self.add(depth, f"{name} = {name} * 0.5 + torch.tanh({box}.value) * float({other}.number % 3)")

    def kept(self, name, values, depth):
        """Changes an attribute, which the next call reads."""
        self.add(depth, f"{name} = {self.value(values)}")
        inner = self.sometimes(values, depth)
        for _ in range(self.random.randint(1, 2)):
            change = self.random.choice(
                ["self.count += 1", "self.kept = torch.tanh({a})", "self.kept += 0.1 * torch.tanh({name})",
                 "self.history.append(torch.tanh({a}))", "{name} = {name} + self.kept * 0.2",
                 "self.box.value = torch.tanh({a})",
                 "self.table['{k}'] = torch.tanh({name})", "print('count', self.count, len(self.history))"])
            self.add(inner, change.format(name=name, a=self.value(values), k=self.random.choice("ab")))
        use = self.random.choice(["0.3 * self.kept", "self.history[-1] * 0.2", "0.1 * float(self.count % 3)",
                                  "self.table['a'] * 0.3", "0.2 * self.box.value", "0.1 * len(self.table)"])
        self.add(depth, f"{name} = {name} * 0.5 + {use}")

    def branch(self, name, values, depth):
        self.add(depth, f"if {self.condition(values)}:")
        inner = self.statements(values, depth + 1, 3)
        self.add(depth + 1, f"{name} = {inner[-1]}")
        self.add(depth, "else:")
        inner = self.statements(values, depth + 1, 2)
        self.add(depth + 1, f"{name} = {inner[-1]}")

    def loop(self, name, values, depth):
        self.add(depth, f"{name} = {self.random.choice(values)}")
        self.add(depth, f"while bool({name}.abs().max() > 0.7):")
        inner = self.statements([*values, name], depth + 1, 2)
        self.add(depth + 1, f"{name} = 0.4 * torch.tanh({inner[-1]}) + 0.1 * {name}.clamp(-1.0, 1.0)")

    def build(self):
        count = self.random.randint(6, 18)
        values = self.statements(["x", "y"], 0, count)
        results = self.random.sample(values[2:], 2)
        source = "\n".join(["def forward(self, x, y):", *self.lines, f"    return {results[0]}, [{results[1]}]", ""])
        annotations = {"history": List[torch.Tensor], "box": Box, "table": Dict[str, torch.Tensor]}
        # A class of its own: define() changes it.
        module = type("Net", (nn.Module,), {"__annotations__": annotations})()
        first = torch.linspace(-1, 1, CHANNELS * SIZE * SIZE).view(1, CHANNELS, SIZE, SIZE)
        module.count, module.kept, module.history = 0, first, [first * 0.5]
        module.box, module.table = Box(first.neg(), 1), {"a": first * 0.2}
        for name, layer in self.layers.items():
            module.add_module(name, layer)
        scripted = torch.jit.script(module)
        scripted.define(source)
        return scripted.eval(), source
