# SPDX-License-Identifier: BSD-3-Clause
"""Files as people keep them, TorchScript without inputs: the bare command converts them where the weights leave one answer,
and elsewhere the error prints the whole command that converts them."""

import shlex
import unittest
from typing import List

import torch
from torch import nn
from torch.nn import functional

from cli import CliTest


class FlattenedConvolutions(nn.Module):
    """Convolutions, a flatten, a linear layer of `width` inputs."""

    def __init__(self, channels: int, layers: List[nn.Module], width: int):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(channels, 8, 3, padding=1), nn.ReLU(), *layers)
        self.last = nn.Linear(width, 5)

    def forward(self, x):
        return self.last(torch.flatten(self.layers(x), 1))


class ViewedConvolutions(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.last = nn.Conv2d(1, 4, 3, padding=1), nn.Linear(4 * 20 * 20, 3)

    def forward(self, x):
        return functional.log_softmax(self.last(functional.relu(self.first(x)).view(-1, 4 * 20 * 20)), 1)


class LastStep(nn.Module):
    def __init__(self, layer: nn.Module):
        super().__init__()
        self.layer, self.last = layer, nn.Linear(16, 4)

    def forward(self, x):
        return self.last(self.layer(x)[0][:, -1])


class GruWithState(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.GRU(10, 16, 2)

    def forward(self, x, h):
        return self.layer(x, h)


class LstmWithState(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.LSTM(10, 16, batch_first=True)

    def forward(self, x, h, c):
        y, (h, c) = self.layer(x, (h, c))
        return y, h, c


class Spotter(nn.Module):
    """Of spectrograms without an axis of channels."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(1, 8, (8, 4), stride=2), nn.BatchNorm2d(8), nn.ReLU(),
                                    nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8, 12))

    def forward(self, spectrogram):
        return self.layers(spectrogram.unsqueeze(1))


class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.table, self.last = nn.Embedding(50, 8), nn.Linear(8, 3)

    def forward(self, tokens):
        return self.last(self.table(tokens).mean(1))


class Added(nn.Module):
    """As PyTorch's first releases trace a linear layer."""

    def __init__(self):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.randn(6, 20)), nn.Parameter(torch.randn(6))

    def forward(self, x):
        return torch.addmm(self.bias, x, self.weight.t())


class Padded(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Conv2d(3, 8, 3, 2)

    def forward(self, x):
        return self.layer(functional.pad(x, (0, 1, 0, 1))).mean((2, 3))


class ChannelsLast(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Conv2d(3, 8, 3, 2)

    def forward(self, x):
        return self.layer(x.permute(0, 3, 1, 2)).mean((2, 3))


class TextLines(nn.Module):
    """Reads lines of text: convolutions that leave one row, then an LSTM along it."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, (8, 1)))
        self.steps, self.last = nn.LSTM(16, 8, bidirectional=True), nn.Linear(16, 11)

    def forward(self, x):
        return self.last(self.steps(self.layers(x).squeeze(2).permute(2, 0, 1))[0])


class Ratings(nn.Module):
    def __init__(self):
        super().__init__()
        self.user, self.item, self.last = nn.Linear(10, 8), nn.Linear(6, 8), nn.Linear(8, 1)

    def forward(self, user, item):
        return self.last(torch.relu(self.user(user) + self.item(item)))


class QuantisedOfOneBatch(nn.Module):
    def __init__(self):
        super().__init__()
        self.quantise, self.dequantise = torch.ao.quantization.QuantStub(), torch.ao.quantization.DeQuantStub()
        self.first, self.last = nn.Conv2d(3, 1280, 3, 2), nn.Linear(1280, 1000)

    def forward(self, x):
        x = self.first(self.quantise(x)).mean((2, 3))
        return self.dequantise(self.last(x.reshape(1, -1)))


class Policy(nn.Module):
    """Of a robot: an observation, the mean of an action, and its value."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(45, 64), nn.ELU(), nn.Linear(64, 32), nn.ELU())
        self.action, self.value = nn.Linear(32, 12), nn.Linear(32, 1)

    def forward(self, observation):
        x = self.body(observation)
        return torch.tanh(self.action(x)), self.value(x)


class History(nn.Module):
    """The last steps of some signals."""

    def __init__(self):
        super().__init__()
        self.steps, self.last = nn.Conv1d(6, 8, 5), nn.Linear(8 * 16, 4)

    def forward(self, x):
        return self.last(torch.relu(self.steps(x)).flatten(1))


class Plates(nn.Module):
    """A licence plate's letters: the width becomes the sequence."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(3, 16, 3), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(3, (1, 2)), nn.Conv2d(16, 37, 1))

    def forward(self, x):
        return torch.mean(self.layers(x), 2)


class Categories(nn.Module):
    """A row of a table: three categories, and numbers."""

    def __init__(self):
        super().__init__()
        self.kinds, self.of_kinds, self.of_numbers = nn.Embedding(50, 4), nn.Linear(3 * 4, 8), nn.Linear(5, 8)

    def forward(self, kinds, numbers):
        return torch.relu(self.of_kinds(self.kinds(kinds).flatten(1))) + self.of_numbers(numbers)


def perceptron() -> nn.Module:
    return nn.Sequential(nn.Linear(48, 32), nn.ELU(), nn.Linear(32, 12))


def normalised() -> nn.Module:
    return nn.Sequential(nn.BatchNorm1d(30), nn.Linear(30, 2), nn.Sigmoid())


def classifier() -> nn.Module:
    return nn.Sequential(nn.Conv2d(3, 8, 3, 2), nn.ReLU(), nn.AdaptiveAvgPool2d((2, 2)), nn.Flatten(), nn.Linear(32, 5))


# A model, and the sizes that the bare command takes, by the name of the argument.
TAKEN = {
    "perceptron": (perceptron, {"input": "1,48"}),
    "normalised": (normalised, {"input": "1,30"}),
    "added": (Added, {"x": "1,20"}),
    "ratings": (Ratings, {"user": "1,10", "item": "1,6"}),
    "square": (lambda: FlattenedConvolutions(3, [], 8 * 24 * 24), {"x": "1,3,24,24"}),
    "viewed": (ViewedConvolutions, {"x": "1,1,20,20"}),
    "policy": (Policy, {"observation": "1,45"}),
    "history": (History, {"x": "1,6,20"}),
    "categories": (Categories, {"kinds": "1,3:int64", "numbers": "1,5"}),
    "classifier": (classifier, {"input": "1,3,224,224"}),
}

# A model, what the weights tell of its arguments, and the sizes in the command that the error prints.
ASKED = {
    "pooled": (lambda: FlattenedConvolutions(3, [nn.MaxPool2d(2)], 8 * 14 * 14), ["1,3,?,?"], ["1,3,28,28"]),
    "frames": (lambda: LastStep(nn.LSTM(13, 16, batch_first=True)), ["1,?,13"], ["1,100,13"]),
    "gru": (lambda: LastStep(nn.GRU(13, 16, 2, batch_first=True)), ["1,?,13"], ["1,100,13"]),
    "gru_state": (GruWithState, ["x=?,1,10", "h=2,1,16"], ["x=100,1,10", "h=2,1,16"]),
    "lstm_state": (LstmWithState, ["x=1,?,10", "h=1,1,16", "c=1,1,16"], ["x=1,100,10", "h=1,1,16", "c=1,1,16"]),
    "spotter": (Spotter, ["1,?,?"], ["1,224,224"]),
    "words": (Words, ["1,?:int64"], ["1,100:int64"]),
    "boxes": (lambda: FlattenedConvolutions(3, [nn.Conv2d(8, 4, 3, 4, 1)], 4 * 30 * 40), ["1,3,?,?"], ["1,3,120,160"]),
    "plates": (Plates, ["1,3,?,?"], ["1,3,224,224"]),
    "text_lines": (TextLines, ["1,1,?,?"], ["1,1,16,16"]),
}


def tensor(spec: str) -> torch.Tensor:
    sizes = [int(size) for size in spec.split("=")[-1].split(":")[0].split(",")]
    return torch.randint(0, 50, sizes) if spec.endswith("int64") else torch.rand(sizes)


class KnownSizes(CliTest):
    def saved(self, name: str, make, sizes) -> List:
        """The model traced and scripted."""
        torch.manual_seed(0)
        model = make().eval()
        examples = tuple(map(tensor, sizes))
        paths = []
        for kind, module in (("traced", torch.jit.trace(model, examples)), ("scripted", torch.jit.script(model))):
            paths.append(self.folder / f"{name}_{kind}.pt")
            module.save(str(paths[-1]))
        return paths

    def test_the_bare_command_takes_what_the_weights_tell(self):
        for name, (make, sizes) in TAKEN.items():
            for path in self.saved(name, make, sizes.values()):
                with self.subTest(path=path.name):
                    done = self.succeed(path, "--nhwc", "--verify", "-o", self.folder / "out.pt")
                    source = "the usual size of pictures" if name == "classifier" else "from the weights"
                    told = ", ".join(f"input {argument}: {size}" for argument, size in sizes.items())
                    self.assertIn(told.split(":")[1] if path.stem.endswith("scripted") else told, done.stderr)
                    self.assertIn(source, done.stderr)

    def test_the_error_prints_the_command_that_converts(self):
        for name, (make, known, given) in ASKED.items():
            for path in self.saved(name, make, given):
                with self.subTest(path=path.name):
                    failed = self.fail_with(1, path, "--nhwc", "-o", self.folder / "out.pt",
                                            needed=["the weights tell only " + ", ".join(known)])
                    command = shlex.split(failed.stderr.rstrip("\n").split("\n")[-1])
                    self.assertEqual(["nnapi-convert", str(path), "--nhwc", "-o", str(self.folder / "out.pt")], command[:5])
                    self.assertEqual([word for size in given for word in ("--input", size)], command[5:])
                    self.succeed(*command[1:], "--verify")

    def test_quantised_layer_of_one_batch(self):
        """QNNPACK reads beyond the weights of a linear layer whose rows are longer: a trace keeps its batch of 1 as a number."""
        path, x = self.folder / "model.pt", torch.rand(1, 3, 32, 32)
        torch.backends.quantized.engine = "qnnpack"
        model = QuantisedOfOneBatch().eval()
        model.qconfig = torch.ao.quantization.get_default_qconfig("qnnpack")
        torch.ao.quantization.prepare(model, inplace=True)(x)
        torch.jit.trace(torch.ao.quantization.convert(model), x).save(str(path))
        done = self.succeed(path, "--nhwc", "-o", self.folder / "out.pt")
        self.assertIn("1,3,224,224", done.stderr)

    def test_sizes_asked_for_with_a_mark_stay_open(self):
        path = self.saved("square", lambda: FlattenedConvolutions(3, [], 8 * 24 * 24), ["1,3,24,24"])[0]
        out = self.folder / "out.pt"
        self.succeed(path, "--nhwc", "--input", "?,3,24,24", "-o", out)
        self.succeed("verify", path, out, "--input", "4,3,24,24")


if __name__ == "__main__":
    unittest.main()
