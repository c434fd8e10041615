# SPDX-License-Identifier: BSD-3-Clause
"""Models in float16, bfloat16 and float64 convert to float32, and keep the dtypes of their inputs and results."""

import copy
import json
import unittest
from typing import Dict, List, Optional

import torch
from torch import nn

from cli import run
from float_widths import WIDTHS, WidthTest
from mobile_models import Clamps, Sequence, images, seeded
from stock_torch import call, load, tensors

class Pieces(nn.Module):
    """Results of several dtypes, and a dtype by name."""

    def __init__(self, width):
        super().__init__()
        self.width = width
        self.conv = nn.Conv2d(3, 8, 3)

    def forward(self, x):
        x = torch.relu(self.conv(x))
        mean = x.mean((2, 3))
        scaled = mean * torch.arange(8, dtype=self.width)
        return {"scaled": scaled, "single": mean.float(), "best": mean.argmax(1), "all": [x, mean.to(self.width)]}


class Ids(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(20, 8)
        self.last = nn.Linear(8, 4)

    def forward(self, ids, mask):
        return self.last(self.table(ids)) * mask.unsqueeze(-1)


class Collected(nn.Module):
    """Lists of dicts made by a loop that runs as often as the caller says, and numbers of rank 0 that don't widen."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(6, 4)

    def forward(self, x, count: int):
        found: List[Dict[str, torch.Tensor]] = []
        scales = [torch.tensor(size, dtype=torch.float32) / torch.tensor(2.0) for size in x.shape]
        for _ in range(count):
            x = self.layer(x)
            found.append({"x": x * scales[0]})
            x = torch.cat([x, x[:, :2]], 1)
        for each in found:
            each["best"] = each["x"].argmax(1)
            each["single"] = each["x"].float()
        rows: List[torch.Tensor] = []
        for row in x.unbind(0):
            rows.append(row)
        return found, rows


class Listed(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(6, 4)

    def forward(self, images: List[torch.Tensor], targets: Optional[List[Dict[str, torch.Tensor]]] = None):
        x = self.layer(images[0]) + self.layer(images[1]).relu()
        if targets is not None:
            x = x + targets[0]["boxes"]
        return x


class Spectrum(nn.Module):
    """The complex numbers of a float64 model are complex128."""

    def forward(self, x: torch.Tensor):
        z = torch.fft.fft(torch.relu(x) @ x)
        found: Dict[str, torch.Tensor] = {}
        found["z"] = z
        return z, z * x, z.abs(), [z, torch.polar(x, x)], found


class Streaming(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(6, 8)
        self.last = nn.Linear(8, 4)
        self.h = torch.zeros(1, 8)
        self.register_buffer("count", torch.zeros(1))
        self.past = [torch.zeros(1, 8), torch.zeros(1, 8)]

    @torch.jit.export
    def reset_states(self):
        self.h = torch.zeros_like(self.h)
        self.past = [torch.zeros_like(each) for each in self.past]
        self.count.zero_()

    @torch.jit.export
    def states(self):
        return [self.h, self.count] + self.past

    def forward(self, x):
        h = self.cell(x, self.h)
        self.h = h
        y = self.last(h + self.past[0])
        self.past = [self.past[1], h * 0.5]
        self.count.add_(1)
        return y, y * self.count


def flat(value):
    if isinstance(value, dict):
        return [tensor for key in sorted(value) for tensor in flat(value[key])]
    return tensors(value)


class Widths(WidthTest):
    def test_whole_nets(self):
        for width in WIDTHS:
            single = seeded(Clamps).to(width).float()  # with its weights rounded
            converted, report, _ = self.convert_width(copy.deepcopy(single), [images()], width, "--nhwc")
            self.assertEqual(1, report["partition"]["mac_share"])
            self.assertEqual(1, len(report["partition"]["segments"]))
            x = images(3).to(width)
            found = call(converted, x)
            self.assertEqual(width, found.dtype)
            self.assert_rounded([call(single, x.float())], [found], width)

    def test_stated_dtype(self):
        path, out = self.folder / "model.pt", self.folder / "out.pt"
        for width, name in WIDTHS.items():
            with self.subTest(width=name):
                torch.jit.save(torch.jit.script(nn.Sequential(nn.Linear(6, 4), nn.Tanh()).to(width)), str(path))
                self.succeed(path, "--input", f"2,6:{name}", "--verify", "-o", out)
                self.assertEqual(width, load(out)(torch.randn(2, 6).to(width)).dtype)
        torch.jit.save(torch.jit.script(nn.Linear(6, 4)), str(path))
        self.fail_with(1, path, "--input", "2,6:float16", "-o", out, needed=["float16[2, 6]", "is --input right?"])

    def test_original_is_near(self):
        """Verification also compares with the original itself, if the original runs on this machine."""
        for width in (torch.bfloat16, torch.float64):
            net = seeded(lambda: nn.Sequential(nn.Flatten(), nn.Linear(768, 20), nn.ReLU(), nn.Linear(20, 5)))
            _, report, result = self.convert_width(net, [images()], width)
            self.assertIn("the original itself is", result.stdout)
            self.assertLess(report["verification"]["original"]["relative_error"],
                            0.1 if width == torch.bfloat16 else 1e-4)
        self.assertIn("can't run here", self.convert_width(seeded(Clamps), [images()], torch.float16)[2].stdout)

    def test_results(self):
        for width in WIDTHS:
            module = seeded(lambda: Pieces(width))
            converted, _, _ = self.convert_width(module, [images()], width)
            x = images(3)
            found = converted(x.to(width))
            self.assertEqual([width, torch.float32, torch.int64, width, width],
                             [found[key].dtype for key in ("scaled", "single", "best")]
                             + [each.dtype for each in found["all"]])
            module = module.float()
            module.width = torch.float32
            expected = module(x.to(width).float())
            self.assertTrue(torch.equal(expected["best"], found["best"]))
            self.assert_rounded([each for each in flat(expected) if each.is_floating_point()],
                                [each for each in flat(found) if each.is_floating_point()], width)

    def test_dict_that_is_filled(self):
        """As torchvision's segmenters fill theirs."""
        class Filled(nn.Module):
            def __init__(self, has_mean):
                super().__init__()
                self.has_mean = has_mean
                self.conv = nn.Conv2d(3, 8, 3)

            def forward(self, x):
                found: Dict[str, torch.Tensor] = {}
                x = torch.relu(self.conv(x))
                found["out"] = x
                if self.has_mean:
                    found["mean"] = found["out"].mean((2, 3))
                return found

        for has_mean in (False, True):
            module = seeded(lambda: Filled(has_mean))
            converted, report, _ = self.convert_width(module, [images()], torch.float16)
            self.assertEqual(1, report["partition"]["mac_share"])
            x = images(3).half()
            found = converted(x)
            self.assertEqual(["mean", "out"] if has_mean else ["out"], sorted(found))
            self.assert_rounded(flat(module.float()(x.float())), flat(found), torch.float16)

    def test_indices(self):
        ids = torch.randint(0, 20, (2, 5))
        module = seeded(Ids).half()
        path = self.folder / "model.pt"
        torch.jit.save(torch.jit.script(module), str(path))
        converted = load(self.convert(path, "--input", "2,5:int64", "--input", "2,5", "--verify"))
        mask = torch.rand(2, 5).half()
        found = converted(ids, mask)
        self.assertEqual(torch.float16, found.dtype)
        self.assert_rounded([module.float()(ids, mask.float())], [found], torch.float16)

    def test_dtypes_of_results(self):
        """Numbers of rank 0 don't widen, and casts take the dtype of the tensor that they name."""
        class Scaled(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(6, 4)

            def forward(self, x):
                y = self.layer(x) * 2.5
                return y, (torch.tanh(y.float()) + 1).to(x), y.float().type_as(x), torch.sigmoid(y.float())

        module = seeded(Scaled).to(torch.bfloat16).eval()
        x = torch.randn(3, 6).to(torch.bfloat16)
        for make in (lambda: torch.jit.trace(module, x), lambda: torch.jit.script(module)):
            torch.jit.save(make(), str(self.folder / "model.pt"))
            found = load(self.convert(self.folder / "model.pt", "--input", "3,6", "--verify"))(x)
            self.assertEqual([each.dtype for each in module(x)], [each.dtype for each in found])

    def test_recurrent_layers(self):
        """Weights in lists, as LSTM and GRU take them, and first states of the input's dtype."""
        for width in WIDTHS:
            single = seeded(Sequence).to(width).float()
            x = torch.randn(3, 6, 10).to(width)
            converted, report, _ = self.convert_width(copy.deepcopy(single), [x], width, "--min-segment-macs", "0")
            self.assertEqual(1, report["partition"]["mac_share"])
            found = call(converted, x)
            self.assertEqual([width] * 4, [each.dtype for each in found])
            self.assert_rounded(call(single, x.float()), found, width)

    def assert_refused(self, module, message, *options):
        torch.jit.save(torch.jit.script(module.eval()), str(self.folder / "model.pt"))
        result = run(self.folder / "model.pt", *options, "-o", self.folder / "out.pt")
        self.assertEqual(1, result.code, str(result))
        self.assertIn(message, result.stderr)

    def test_results_made_by_loops(self):
        for width in WIDTHS:
            module = seeded(Collected).to(width)
            converted = self.convert_scripted(module, "--input", "3,6")
            x = torch.randn(3, 6).to(width)
            found, numbers = converted(x, 4)
            self.assertEqual([(width, torch.int64, torch.float32)] * 4,
                             [tuple(each[key].dtype for key in ("x", "best", "single")) for each in found])
            self.assertEqual([width] * 3, [each.dtype for each in numbers])
            single = module.float()
            expected, expected_numbers = single(x.float(), 4)
            self.assertTrue(all(torch.equal(one["best"], other["best"]) for one, other in zip(expected, found)))
            self.assert_rounded([each["x"] for each in expected] + expected_numbers,
                                [each["x"] for each in found] + numbers, width)

    def test_lists_and_dicts_as_arguments(self):
        for width in WIDTHS:
            module = seeded(Listed).to(width)
            converted = self.convert_scripted(module, "--input", "images[0]=3,6", "--input", "images[1]=3,6", "--verify")
            images = [torch.randn(3, 6).to(width), torch.randn(3, 6).to(width)]
            found = converted(images, None)
            self.assertEqual(width, found.dtype)
            single = module.float()
            self.assert_rounded([single([each.float() for each in images], None)], [found], width)

    def test_state(self):
        """State keeps its dtype in the attributes, in a list and where a tensor changes in place, too."""
        for width in WIDTHS:
            module = seeded(Streaming).to(width)
            module.h, module.past = module.h.to(width), [each.to(width) for each in module.past]
            converted = self.convert_scripted(module, "--input", "1,6", "--min-segment-macs", "0")
            single = seeded(Streaming).to(width).float()
            for call_number in range(5):
                if call_number == 3:
                    converted.reset_states()
                if call_number % 3 == 0:
                    single.reset_states()
                x = torch.randn(1, 6).to(width)
                with torch.no_grad():
                    found = converted(x)
                    self.assert_rounded(single(x.float()), found, width)
                self.assertEqual([width] * 6, [each.dtype for each in [*found, *converted.states()]])

    def test_no_weights(self):
        """The dtype that --input gives is the model's."""
        class Simple(nn.Module):
            def forward(self, x):
                return torch.relu(x) * 2 - x.mean(1, keepdim=True)

        for width in WIDTHS:
            name = str(width).split(".")[1]
            converted = self.convert_scripted(Simple(), "--input", f"3,5:{name}", "--min-segment-macs", "0")
            x = torch.randn(3, 5).to(width)
            found = converted(x)
            self.assertEqual(width, found.dtype)
            self.assert_rounded([Simple()(x.float())], [found], width)

    def test_arguments_of_rank_0(self):
        """A float64 argument of rank 0 doesn't widen the results of a float32 model; one of rank 1 does."""
        class Weighted(nn.Module):
            def forward(self, x, y):
                return torch.add(x, y, alpha=2.3), torch.sub(x, y, alpha=0.5), x.relu() * y

        x, y = torch.randn(2, 3), torch.tensor(1.7, dtype=torch.float64)
        for shape, spec in ((y, "scalar"), (y.reshape(1), "1")):
            torch.jit.trace(Weighted(), (x, shape)).save(str(self.folder / "model.pt"))
            converted = load(self.convert(self.folder / "model.pt", "--input", "2,3", "--input", f"{spec}:float64",
                                          "--min-segment-macs", "0", "--verify"))
            expected, found = Weighted()(x, shape), converted(x, shape)
            self.assertEqual([each.dtype for each in expected], [each.dtype for each in found])
            self.assert_rounded(expected, found, torch.float64)

    def test_complex_results(self):
        x = torch.randn(4, 4)
        for width in (torch.float32, torch.float64):
            converted = self.convert_scripted(Spectrum(), "--input", f"4,4:{str(width).split('.')[1]}", "--verify",
                                              "--min-segment-macs", "0")
            expected, found = ([*flat(result[:-1]), *flat(result[-1])]
                               for result in (torch.jit.script(Spectrum())(x.to(width)), converted(x.to(width))))
            self.assertEqual([each.dtype for each in expected], [each.dtype for each in found])
            for one, other in zip(expected, found):
                self.assertLess((one - other).abs().max().item(), 1e-5 * one.abs().max().item())

    def test_containers_that_cannot_be_cast(self):
        class Mixed(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(6, 4)

            def forward(self, x, count: int):
                found: List[torch.Tensor] = []
                for _ in range(count):
                    found.append(self.layer(x))
                    found.append(self.layer(x).float())
                return found

        class Changing(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(6, 4)

            def forward(self, images: List[torch.Tensor]):
                images.append(images[0] + 1)
                return self.layer(images[0])

        self.assert_refused(seeded(Mixed).half(), "may hold tensors of several dtypes: float16 and float32",
                            "--input", "3,6")
        self.assert_refused(seeded(Changing).half(), "argument 1 of forward, List[Tensor], may be changed",
                            "--input", "images[0]=3,6")

    def test_a_change_of_the_callers_input_warns(self):
        class Adds(nn.Module):
            def forward(self, x):
                x += 1
                return torch.relu(x) * 2

        for script in (False, True):
            model = self.folder / "model.pt"
            made = torch.jit.script(Adds()) if script else torch.jit.trace(Adds(), torch.rand(2, 300).double())
            made.save(str(model))
            result = self.succeed(model, "--input", "2,300:float64", "--min-segment-macs", 0, "-o", self.folder / "out.pt")
            self.assertEqual(1, result.stderr.count("aten::add_ changes the caller's input in place"), result.stderr)

    def test_single_stays(self):
        """A float32 model with one float64 number counts as a float32 model."""
        torch.jit.save(torch.jit.trace(nn.Sequential(nn.Linear(4, 3)), torch.randn(2, 4)), str(self.folder / "model.pt"))
        result = self.succeed(self.folder / "model.pt", "--input", "2,4", "-o", self.folder / "out.pt")
        self.assertNotIn("the model computes in", result.stderr)


if __name__ == "__main__":
    unittest.main()
