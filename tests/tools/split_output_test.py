# SPDX-License-Identifier: BSD-3-Clause
"""Results that join boxes in pixels and scores: quantised by data, the parts keep scales of their own; --split-output
returns them apart."""

import json
import unittest

import numpy
import torch
from torch import nn

from cli import CliTest, run
from stock_torch import StockTorchTest, call, images, load

SIZE, CLASSES, BOX = 64, 4, 4  # the picture's side; numbers of a box
FORMS = ("nested", "joined", "transposed", "nested rows", "sliced", "reshaped")


def convolution(inputs, outputs, size, stride):
    layer = nn.Conv2d(inputs, outputs, size, stride, size // 2)
    nn.init.kaiming_normal_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer


class Head(nn.Module):
    """A detector's end at three scales: corners in pixels, and scores. `form`: how they become one result."""

    def __init__(self, form):
        super().__init__()
        torch.manual_seed(3)
        self.form = form
        self.stem = nn.Sequential(convolution(3, 16, 3, 2), nn.ReLU6(), convolution(16, 24, 3, 2), nn.ReLU6())
        self.downs = nn.ModuleList(nn.Sequential(convolution(24, 24, 3, 2), nn.ReLU6()) for _ in range(3))
        self.boxes = nn.ModuleList(convolution(24, BOX, 1, 1) for _ in range(3))
        self.scores = nn.ModuleList(convolution(24, CLASSES, 1, 1) for _ in range(3))
        with torch.no_grad():
            for box, score in zip(self.boxes, self.scores):
                box.weight.mul_(0.3)
                score.weight.mul_(1.5)

    def parts(self, x):
        features = self.stem(x)
        boxes, scores = [], []
        for i, (down, box, score) in enumerate(zip(self.downs, self.boxes, self.scores)):
            features = down(features)
            stride = 8 << i
            count = SIZE // stride
            rows, columns = torch.meshgrid([torch.arange(count), torch.arange(count)], indexing="ij")
            grid = torch.stack([columns, rows]).view(1, 2, count * count).float() + 0.5
            raw = box(features).flatten(2).sigmoid()
            centre, half = (raw[:, :2] - 0.5 + grid) * stride, raw[:, 2:] * stride
            boxes.append(torch.cat([centre - half, centre + half], 1))
            scores.append(score(features).flatten(2).sigmoid())
        return boxes, scores

    def forward(self, x):
        boxes, scores = self.parts(x)
        if self.form.startswith("nested"):
            rows = [torch.cat(pair, 1) for pair in zip(boxes, scores)]
            if self.form == "nested rows":
                return torch.cat([each.transpose(1, 2) for each in rows], 1)
            return torch.cat(rows, 2)
        joined = torch.cat([torch.cat(boxes, 2), torch.cat(scores, 2)], 1)
        if self.form == "transposed":
            return joined.transpose(1, 2)
        if self.form == "sliced":
            return joined[:, :, :70]
        return joined.transpose(1, 2).reshape(1, -1, 2, 4) if self.form == "reshaped" else joined


class SplitOutput(CliTest, StockTorchTest):
    def setUp(self):
        super().setUp()
        self.data = self.folder / "data.npy"
        numpy.save(self.data, numpy.concatenate([self.picture(seed) for seed in range(48)]))

    @staticmethod
    def picture(seed):
        """Smooth, as pictures are."""
        torch.manual_seed(seed)
        small = torch.rand(1, 3, 8, 8)
        return nn.functional.interpolate(small, size=(SIZE, SIZE), mode="bilinear").numpy()

    def save(self, form):
        module = Head(form).eval()
        path = self.folder / "model.pt"
        torch.jit.trace(module, images(1, 3, SIZE, SIZE)).save(str(path))
        return module, path

    def converted(self, path, *options):
        out = self.folder / "out.pt"
        return out, self.succeed(path, "--input", f"1,3,{SIZE},{SIZE}", "--nhwc", *options, "-o", out)

    def assert_near(self, module, out, join):
        """Boxes within 0.5 % of the picture, scores within 0.01, by their root mean square; none is far off."""
        loaded = load(out)
        squares, count = numpy.zeros(2), 0
        for seed in range(100, 120):
            x = torch.from_numpy(self.picture(seed)).contiguous(memory_format=torch.channels_last)
            expected, found = self.rows(module(x)), self.rows(join(call(loaded, x)))
            self.assertGreater(expected[:, BOX:].std(), 0.03)
            error = (expected - found).abs()
            boxes, scores = error[:, :BOX] / SIZE, error[:, BOX:]
            self.assertLess(boxes.max(), 0.03)
            self.assertLess(scores.max(), 0.06)
            squares += [boxes.square().mean().item(), scores.square().mean().item()]
            count += 1
        boxes, scores = numpy.sqrt(squares / count)
        self.assertLess(boxes, 0.005)
        self.assertLess(scores, 0.01)

    @staticmethod
    def rows(result):
        """A box and its scores in each row."""
        if result.dim() == 4:
            return result.reshape(-1, BOX + CLASSES)
        return (result if result.shape[2] == BOX + CLASSES else result.transpose(1, 2))[0]

    def test_parts_keep_their_scales(self):
        for form in FORMS:
            with self.subTest(form):
                module, path = self.save(form)
                out, result = self.converted(path, "--calibrate", self.data)
                self.assertRegex(result.stdout, r"left float: CONCATENATION.*, the ranges of whose parts differ \d+ times")
                self.assertNotIn("beside larger ones", result.stderr)
                self.assert_near(module, out, lambda found: found)

    def test_several_results(self):
        for form, axis, sizes in (("nested", 1, [4, 4]), ("transposed", 2, [4, 4])):
            for options in ((), ("--quant", "full")):
                with self.subTest(form=form, options=options):
                    module, path = self.save(form)
                    report = self.folder / "report.json"
                    out, result = self.converted(path, "--calibrate", self.data, "--split-output", "--report", report,
                                                 *options)
                    self.assertIn("--split-output: result 0 of the original is 2 results of the file, its parts of sizes "
                                  f"4, 4 along axis {axis}: forward returns a tuple\n", result.stdout)
                    self.assertEqual([{"result": 0, "axis": axis, "sizes": sizes}],
                                     json.loads(report.read_text())["split_results"])
                    self.assertNotIn("beside larger ones", result.stderr)
                    if "full" not in options:
                        self.assert_near(module, out, lambda found: torch.cat(list(found), axis))

    def test_verify_compares_the_parts(self):
        module, path = self.save("transposed")
        for options in ((), ("--runtime", "shim")):
            out, _ = self.converted(path, "--split-output", "--verify", *options)
            result = self.succeed("verify", path, out)
            self.assertIn("[1, 84, 4]", result.stdout)
            self.succeed("verify", path, out, "--per-op")
        self.succeed("verify", path, out, "--without-torch")
        wrong = Head("transposed").eval()
        with torch.no_grad():
            wrong.scores[0].bias.add_(1)
        torch.jit.trace(wrong, images(1, 3, SIZE, SIZE)).save(str(path))
        result = run("verify", path, out)
        self.assertEqual(4, result.code, str(result))

    def test_tuples_and_nothing_to_split(self):
        class Two(nn.Module):
            def __init__(self):
                super().__init__()
                self.head = Head("joined")

            def forward(self, x):
                return x.mean(1), self.head(x)

        module = Two().eval()
        path = self.folder / "two.pt"
        torch.jit.trace(module, images(1, 3, SIZE, SIZE)).save(str(path))
        out, result = self.converted(path, "--split-output", "--verify")
        self.assertIn("result 1 of the original is 2 results of the file", result.stdout)
        x = images(1, 3, SIZE, SIZE)
        mean, boxes, scores = call(load(out), x)
        self.assert_close(module(x)[1], torch.cat([boxes, scores], 1), 1e-3)
        torch.jit.trace(nn.Conv2d(3, 4, 3).eval(), images(1, 3, SIZE, SIZE)).save(str(path))
        _, result = self.converted(path, "--split-output")
        self.assertIn("--split-output: results stay as they are: none joins parts whose ranges differ 16 times or more",
                      result.stderr)

    def test_one_scale_is_named(self):
        """With integers as the result one scale has to do: the warning and the table name what it costs."""
        _, path = self.save("joined")
        _, result = self.converted(path, "--calibrate", self.data, "--quant", "full")
        self.assertRegex(result.stderr, r"output 0: channels 4 to 7 of 8 \(axis 1\) lose their values beside larger ones"
                                        r".*--split-output makes them results with scales of their own")
        rows = [line.split() for line in result.stdout.splitlines() if line.startswith("  CONCATENATION")]
        self.assertLess(min(float(row[2]) for row in rows), 30)
        self.assertRegex(result.stdout, "CONCATENATION that gives .* joins parts of unlike ranges, and one scale leaves one "
                                        r"of them -?\d+\.\d dB: --split-output")


if __name__ == "__main__":
    unittest.main()
