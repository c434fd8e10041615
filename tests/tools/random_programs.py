"""Random programs of operations that NNAPI has and has not, with branches, loops and changes in place."""

import random

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
    "torch.fft.fft2({a}).abs() * 0.05",
    "torch.cummax({a}, 3)[0]",
    "torch.lgamma({a}.abs() + 1.0)",
    "torch.special.i0(torch.tanh({a}))",
    "torch.cumprod(torch.tanh({a}), 2)",
    "torch.trapezoid({a}, dim=1).unsqueeze(1) * 0.1 + {b}",
)


class Program:
    """The source of a forward, and the layers that it uses."""

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
            else:
                self.add(depth, f"{name} = {self.expression(values)}")
            values.append(name)
        return values

    def condition(self, values):
        return f"bool({self.random.choice(values)}.mean() > {self.random.uniform(-0.3, 0.5):.2f})"

    def filled(self, name, values, depth):
        """A tensor without inputs that a branch or loop changes."""
        self.add(depth, f"{name} = torch.linspace(-0.5, 0.5, {SIZE}).repeat(1, {CHANNELS}, {SIZE}, 1)")
        opening = self.random.choice([f"if {self.condition(values)}:", f"for _ in range(int({values[0]}.abs().max())):"])
        self.add(depth, opening)
        self.add(depth + 1, f"{name}[:, {self.random.randint(0, 6)}:] += 0.1 * torch.tanh({self.random.choice(values)})[:, :1]")

    def listed(self, name, values, depth):
        """A list that a branch appends to."""
        parts = f"{name}_parts"
        self.add(depth, f"{parts} = [{self.expression(values)}, {self.random.choice(values)}]")
        self.add(depth, f"if {self.condition(values)}:")
        self.add(depth + 1, f"{parts}.append({self.expression(values)})")
        self.add(depth, f"{name} = torch.cat({parts}, 1)[:, -{CHANNELS}:] + 0.1 * float(len({parts}))")

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
        module = type("Net", (nn.Module,), {})()  # a class of its own: define() changes it
        for name, layer in self.layers.items():
            module.add_module(name, layer)
        scripted = torch.jit.script(module)
        scripted.define(source)
        return scripted.eval(), source
