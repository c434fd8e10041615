# SPDX-License-Identifier: BSD-3-Clause
"""What a file tells apps: how pictures become the model's input, the names of classes, notes, extra files."""

import hashlib
import json
import struct
import unittest
import zipfile

import numpy
import torch
from torch import nn

from cli import ROOT, CliTest
from mobile_models import seeded
from shim_library import FLOAT32, QUANT8, Model, ShimError, rgb, write_png

try:
    from PIL import Image
except ImportError:
    Image = None
try:
    from torchvision import transforms
except ImportError:
    transforms = None

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
NORMALISED = ["--mean", "0.485,0.456,0.406", "--std", "0.229,0.224,0.225"]


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Conv2d(3, 4, 3, stride=2), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
                                    nn.Linear(4, 6))

    def forward(self, x):
        return self.layers(x)


def resized(pixels, height, width):
    """The definition: a triangle as wide as what a pixel stands for, along both axes."""
    def shares(size, to):
        step = size / to
        reach = max(step, 1.0)
        centres = (numpy.arange(to)[:, None] + 0.5) * step
        result = numpy.maximum(0, 1 - abs(numpy.arange(size)[None] + 0.5 - centres) / reach)
        return result / result.sum(1, keepdims=True)
    return numpy.einsum("yi,xj,ijc->yxc", shares(pixels.shape[0], height), shares(pixels.shape[1], width),
                        pixels.astype(float), optimize=True)


def random_pixels(random, height, width):
    blocks = random.integers(0, 256, (height // 7 + 1, width // 5 + 1, 3), dtype=numpy.uint8)
    return numpy.ascontiguousarray(numpy.repeat(numpy.repeat(blocks, 7, 0), 5, 1)[:height, :width])


class WithModel(CliTest):
    """Makes the original, and opens results as an app does."""

    def original(self, side=64, extra_files=None):
        path = self.folder / "original.pt"
        if path.exists():
            return path
        traced = torch.jit.trace(seeded(Classifier).eval(), torch.rand(1, 3, side, side))
        torch.jit.save(traced, str(path), _extra_files=extra_files or {})
        return path

    def converted(self, *options, out="out.pt"):
        return self.convert(self.original(), "--runtime", "shim", "--input", "1,3,64,64", *options, out=out)

    def open(self, path) -> Model:
        model = Model(path)
        self.addCleanup(model.close)
        return model


class Pictures(WithModel):
    def test_the_input_is_what_the_options_say(self):
        random = numpy.random.default_rng(1)
        for layout in ("--nhwc", "--nchw"):
            model = self.open(self.converted(layout, *NORMALISED, "--resize", "72", "--crop", "64"))
            tensor = model.input([1, 3, 64, 64])
            pixels = random_pixels(random, 131, 177)
            found = model.fill(rgb(pixels), tensor)[0]
            if layout == "--nchw":
                found = found.transpose(1, 2, 0)
            whole = resized(pixels, 72, 177 * 72 // 131)
            left = round((whole.shape[1] - 64) / 2)
            expected = whole[4:68, left:left + 64]
            self.assertGreater(expected.std(), 10)
            self.assertLessEqual(abs((found * STD + MEAN) * 255 - expected).max(), 1.02)
            if Image:
                small = Image.fromarray(pixels).resize((whole.shape[1], 72), Image.BILINEAR)
                pillow = numpy.asarray(small, float)[4:68, left:left + 64]
                self.assertLessEqual(abs((found * STD + MEAN) * 255 - pillow).max(), 1.01)

    @unittest.skipUnless(transforms, "needs torchvision")
    def test_the_middle_is_center_crops(self):
        """Odd differences, too, whose halves torchvision rounds to even numbers: pixel for pixel."""
        random = numpy.random.default_rng(8)
        for side in (64, 63):
            cropped = self.convert(self.original(), "--runtime", "shim", "--input", f"1,3,{side},{side}", "--nhwc", "--mean",
                                   "0", "--std", "1", "--pixel-max", "255", "--crop", side, out=f"{side}.pt")
            model = self.open(cropped)
            tensor = model.input([1, 3, side, side])
            for more in range(9):
                pixels = random.integers(0, 256, (side + more, side + 8 - more, 3), dtype=numpy.uint8)
                expected = numpy.asarray(transforms.CenterCrop(side)(Image.fromarray(pixels)), numpy.float32)
                self.assertTrue((model.fill(rgb(pixels), tensor)[0] == expected).all(), (side, more))

    @unittest.skipUnless(Image, "needs Pillow")
    def test_pillow(self):
        """At most one of 255 from Pillow's bilinear resize."""
        model = self.open(self.converted("--nhwc", "--mean", "0", "--std", "1", "--pixel-max", "255"))
        random = numpy.random.default_rng(2)
        tensor = model.input([1, 3, 64, 64])
        same = 0
        for _ in range(100):
            pixels = random_pixels(random, *random.integers(1, 300, 2))
            found = model.fill(rgb(pixels), tensor)[0]
            pillow = numpy.asarray(Image.fromarray(pixels).resize((64, 64), Image.BILINEAR), numpy.float32)
            self.assertLessEqual(abs(found - pillow).max(), 1)
            same += (found == pillow).mean() / 100
        self.assertGreater(same, 0.8)

    def test_integer_inputs(self):
        """A model quantised by data takes the integers of its own scale."""
        (self.folder / "pictures").mkdir()
        for i in range(8):
            write_png(self.folder / f"pictures/{i}.png", random_pixels(numpy.random.default_rng(i), 70, 80))
        path = self.converted("--nhwc", "--quant", "full", "--calibrate", self.folder / "pictures", *NORMALISED)
        model = self.open(path)
        tensor = model.input([1, 3, 64, 64])
        self.assertEqual(QUANT8, tensor.type)
        pixels = random_pixels(numpy.random.default_rng(3), 100, 90)
        found = model.fill(rgb(pixels), tensor)
        floats = tensor.__class__.from_buffer_copy(tensor)
        floats.type, floats.bytes = FLOAT32, tensor.bytes * 4
        values = torch.from_numpy(model.fill(rgb(pixels), floats))
        expected = torch.quantize_per_tensor(values, tensor.scale, tensor.zero_point, torch.quint8).int_repr()
        self.assertTrue(torch.equal(expected, torch.from_numpy(found)))
        self.assertGreater(len(set(found.flatten().tolist())), 50)

    def test_bytes_of_pixels(self):
        """With --input-pixels the model normalises, and takes the resized picture's bytes."""
        for form, channels in (("uint8", 3), ("rgba", 4)):
            model = self.open(self.converted("--input-pixels", form, *NORMALISED))
            tensor = model.input([1, 64, 64, channels])
            pixels = random_pixels(numpy.random.default_rng(4), 64, 64)
            found = model.fill(rgb(pixels), tensor)[0]
            self.assertTrue((found[..., :3] == pixels).all())
            self.assertTrue((found[..., 3:] == 255).all())

    def test_boxes(self):
        model = self.open(self.converted("--nhwc", *NORMALISED, "--resize", "72", "--crop", "64"))
        pixels = random_pixels(numpy.random.default_rng(5), 144, 288)
        tensor = model.input([1, 3, 64, 64])
        found = model.boxes(rgb(pixels), tensor, numpy.array([[0, 0, 64, 64], [10, 20, 30, 50]]))
        self.assertEqual([[80, 8, 208, 136], [100, 48, 140, 108]], found.tolist())
        found = model.boxes(rgb(pixels, rotation=180), tensor, numpy.array([[10, 20, 30, 50]]))
        self.assertEqual([[288 - 140, 144 - 108, 288 - 100, 144 - 48]], found.tolist())

    def test_files_without_options_say_so(self):
        model = self.open(self.converted("--nhwc"))
        pixels = random_pixels(numpy.random.default_rng(6), 64, 64)
        with self.assertRaisesRegex(ShimError, "--mean and --std"):
            model.fill(rgb(pixels), model.input([1, 3, 64, 64]))

    def test_verify_takes_pictures(self):
        """The options in the file prepare pictures for verify, too."""
        path = self.converted("--nhwc", *NORMALISED)
        write_png(self.folder / "a.png", random_pixels(numpy.random.default_rng(7), 80, 70))
        done = self.succeed("verify", self.folder / "original.pt", path, "--inputs", self.folder / "a.png")
        self.assertIn("passed (1 sample", done.stdout)

    def test_refusals(self):
        source = self.original()
        out = self.folder / "refused.pt"
        for options, needed in (
                (["--resize", "72"], "--mean and --std are missing"),
                (["--mean", "0.5"], "--mean and --std are missing"),
                (["--mean", "1,2", "--std", "1"], "2 numbers found, 1 or 3 needed"),
                ([*NORMALISED, "--crop", "60"], "--crop 60"),
                ([*NORMALISED, "--method", "forward"], "--method"),
                ([*NORMALISED, "--calibration", self.folder / "none.json"], "--calibration")):
            self.fail_with(2, source, "--nhwc", "--input", "1,3,64,64", *options, "-o", out, needed=[needed])
            self.assertFalse(out.exists())

    def test_inspect(self):
        path = self.converted("--nhwc", *NORMALISED, "--resize", "72", "--crop", "64")
        self.assertIn("pictures, the shorter side made 72 pixels, the middle 64 pixels taken, 0 to 1, mean "
                      "0.485,0.456,0.406, std 0.229,0.224,0.225, RGB", self.succeed("inspect", path).stdout)
        form = json.loads(self.succeed("inspect", path, "--format", "json").stdout)
        self.assertEqual({"resize": 72, "crop": 64, "pixel_max": 1.0, "mean": list(MEAN), "std": list(STD),
                          "bgr": False}, form["metadata"]["options"]["pictures"])


LABELS = ["tabby cat", "Größe", "dog, golden", "\U0001f98a", "chair", "table"]


class Notes(WithModel):
    def label_file(self, text="\n".join(LABELS) + "\n", name="names.txt"):
        path = self.folder / name
        path.write_text(text, encoding="utf-8")
        return path

    def test_labels_and_notes_reach_the_app(self):
        for text in ("\n".join(LABELS), "\r\n".join(LABELS) + "\r\n", json.dumps(LABELS), "\ufeff" + "\n".join(LABELS)):
            model = self.open(self.converted("--nhwc", "--labels", self.label_file(text), "--note", "author=me & you",
                                             "--note", "licence=MIT=x"))
            self.assertEqual(LABELS, model.labels())
            self.assertEqual({"author": "me & you", "licence": "MIT=x"}, model.notes())
            scores = numpy.array([1, 9, 3, 5, 2, 0], numpy.float32)
            self.assertEqual([(1, LABELS[1]), (3, LABELS[3]), (2, LABELS[2]), (4, LABELS[4]), (0, LABELS[0])],
                             model.top(scores, 5))

    def test_extra_files_stay(self):
        extras = {"classes.txt": b"a\r\nb\x00\xff", "config/net.json": b"{}"}
        source = self.original(extra_files=extras)
        for name, options in (("out.pt", []), ("shim.pt", ["--runtime", "shim"]), ("lite.ptl", []),
                              ("package.pt", ["--runtime", "shim", "--package", "level=3; level=1"])):
            path = self.convert(source, "--nhwc", "--input", "1,3,64,64", *options, "--note", "author=me",
                                "--labels", self.label_file(), out=name)
            self.assertEqual(extras, self.extras(path, list(extras)), name)
            self.assertEqual({"nnapi_shim.notes": b'{"author":"me"}'}, self.extras(path, ["nnapi_shim.notes"]), name)
            if "shim" in name or "package" in name:
                self.assertEqual(LABELS, self.open(path).labels())

    def test_extra_files_of_exported_programs(self):
        """In the layouts before PyTorch 2.8 and since."""
        for layout, folder in (("until_2.7", "extra_files"), ("since_2.9", "cnn/extra")):
            source = self.folder / f"{layout}.pt2"
            source.write_bytes((ROOT / "testdata/exported" / layout / "cnn.pt2").read_bytes())
            with zipfile.ZipFile(source, "a") as archive:
                archive.writestr(f"{folder}/classes.txt", b"a\nb\xff")
                archive.writestr(f"{folder}/nnapi_shim.notes", b"{}")
            path = self.convert(source, "--nhwc", out=f"{layout}.pt")
            self.assertEqual({"classes.txt": b"a\nb\xff"}, self.extras(path, ["classes.txt"]))
            self.assertNotIn("extra/nnapi_shim.notes", torch._C.PyTorchFileReader(str(path)).get_all_records())

    def extras(self, path, names):
        reader = torch._C.PyTorchFileReader(str(path))
        return {name: bytes(reader.get_record(f"extra/{name}")) for name in names}

    def test_saving_in_pytorch_keeps_them(self):
        """torch.jit.load gives the extra files, and torch.jit.save writes them again."""
        source = self.original(extra_files={"classes.txt": b"a\nb\n"})
        path = self.convert(source, "--nhwc", "--input", "1,3,64,64", "--note", "author=me")
        extras = {"classes.txt": "", "nnapi_shim.notes": ""}
        module = torch.jit.load(str(path), _extra_files=extras)
        torch.jit.save(module, str(self.folder / "again.pt"), _extra_files=extras)
        self.assertEqual({"classes.txt": b"a\nb\n", "nnapi_shim.notes": b'{"author":"me"}'},
                         self.extras(self.folder / "again.pt", list(extras)))

    def test_what_made_the_file(self):
        source = self.original()
        path = self.convert(source, "--nhwc", "--input", "1,3,64,64", "--labels", self.label_file())
        origin = json.loads(self.extras(path, ["nnapi_convert.origin.json"])["nnapi_convert.origin.json"])
        self.assertEqual("nnapi-convert", origin["program"])
        self.assertIn(origin["version"], self.succeed("--version").stdout)
        self.assertEqual({"bytes": source.stat().st_size, "sha256": hashlib.sha256(source.read_bytes()).hexdigest()},
                         origin["original"])
        self.assertIn("--input 1,3,64,64", origin["options"])
        self.assertIn("--labels names.txt", origin["options"])
        self.assertNotIn(str(self.folder), json.dumps(origin))
        shown = self.succeed("inspect", path).stdout
        self.assertIn(origin["original"]["sha256"], shown)
        (self.folder / "x").mkdir()
        defaults = ["--quant", "auto", "--feature-level", "3"]  # as a build gives them
        again = self.convert(source, "--nhwc", "--input", "1,3,64,64", *defaults, "--labels", self.label_file(),
                             out="x/out.pt")
        self.assertEqual(path.read_bytes(), again.read_bytes())
        stripped = self.convert(source, "--nhwc", "--input", "1,3,64,64", "--strip", out="stripped.pt")
        with zipfile.ZipFile(stripped) as archive:
            self.assertEqual([], [name for name in archive.namelist() if "origin" in name])

    def test_inspect(self):
        source = self.original(extra_files={"classes.txt": b"a\nb\n"})
        path = self.convert(source, "--nhwc", "--input", "1,3,64,64", "--note", "author=me", "--labels",
                            self.label_file())
        shown = self.succeed("inspect", path).stdout
        for line in ("note author: me", "6 labels: tabby cat, Größe, dog, golden, ...", "extra file classes.txt, 4 bytes"):
            self.assertIn(line, shown)
        form = json.loads(self.succeed("inspect", path, "--format", "json").stdout)
        self.assertEqual(LABELS, form["attached"]["labels"])
        self.assertEqual({"author": "me"}, form["attached"]["notes"])
        self.assertEqual([{"name": "classes.txt", "bytes": 4}], form["attached"]["extra_files"])
        self.assertEqual("nnapi-convert", form["attached"]["origin"]["program"])

    def test_refusals(self):
        source = self.original()
        out = self.folder / "refused.pt"
        (self.folder / "bad.txt").write_bytes(b"cat\n\xff\n")
        for code, options, needed in (
                (3, ["--labels", self.folder / "none.txt"], "none.txt"),
                (3, ["--labels", self.label_file("", "empty.txt")], "no names found"),
                (3, ["--labels", self.label_file("[1, 2]", "numbers.txt")], "no list of strings"),
                (3, ["--labels", self.label_file('["a\\nb"]', "lines.json")], "name 0 holds a line break"),
                (3, ["--labels", self.folder / "bad.txt"], "name 1"),
                (2, ["--note", "author"], "KEY=VALUE"),
                (2, ["--note", "=me"], "KEY=VALUE"),
                (2, ["--note", "a=1", "--note", "a=2"], "given twice")):
            self.fail_with(code, source, "--nhwc", "--input", "1,3,64,64", *options, "-o", out, needed=[needed])
            self.assertFalse(out.exists())
        done = self.succeed(source, "--nhwc", "--input", "1,3,64,64", "--labels", self.label_file("a\nb\n"), "-o", out)
        self.assertIn("2 names found, and the outputs have 6 classes", done.stderr)

    def test_damaged_records(self):
        path = self.converted("--nhwc", "--note", "author=me")
        with zipfile.ZipFile(path, "a") as archive:
            archive.writestr("out/extra/nnapi_shim.labels", b"no newline")
        with self.assertRaisesRegex(ShimError, "record of labels is damaged"):
            Model(path)


class LitertMetadata(WithModel):
    """TFLite's metadata: read by the flatbuffer's own rules, and the files by zipfile."""

    def converted_litert(self, *options, extra_files=None):
        path = self.folder / "out.tflite"
        self.succeed(self.original(extra_files=extra_files), "--nhwc", "--input", "1,3,64,64", "--litert", path,
                     *options)
        return path.read_bytes()

    def test_notes_labels_and_normalisation(self):
        names = self.folder / "names.txt"
        names.write_text("\n".join(LABELS), encoding="utf-8")
        data = self.converted_litert("--labels", names, "--note", "author=me", "--note", "licence=MIT", "--note",
                                     "version=7", "--note", "description=a net", *NORMALISED,
                                     extra_files={"classes.txt": b"a\xff"})
        root = Table(data, metadata_offset(data))
        self.assertEqual(b"M001", data[metadata_offset(data) + 4:][:4])
        self.assertEqual(["a net", "7", "me", "MIT", "1.0.0"], [root.text(field) for field in (1, 2, 4, 5, 7)])
        (subgraph,) = root.tables(3)
        (image,), (scores,) = subgraph.tables(2), subgraph.tables(3)
        self.assertEqual("x", image.text(0))
        content = image.table(3)
        self.assertEqual(2, content.number(0, "B"))
        self.assertEqual(1, content.table(1).number(0, "b"))
        self.assertEqual((64, 64), tuple(content.table(1).table(1).number(i, "I") for i in (0, 1)))
        (unit,) = image.tables(4)
        self.assertEqual(1, unit.number(0, "B"))
        for found, expected in zip(unit.table(1).floats(0) + unit.table(1).floats(1), MEAN + STD):
            self.assertAlmostEqual(expected * 255, found, places=4)
        (labels,) = scores.tables(6)
        self.assertEqual(("labels.txt", 2), (labels.text(0), labels.number(2, "b")))
        with zipfile.ZipFile(self.folder / "out.tflite") as archive:
            self.assertIsNone(archive.testzip())
            self.assertEqual(b"a\xff", archive.read("classes.txt"))
            self.assertEqual("\n".join(LABELS) + "\n", archive.read("labels.txt").decode())

    def test_without_notes_there_is_no_metadata(self):
        data = self.converted_litert("--strip")
        self.assertNotIn(b"TFLITE_METADATA", data)
        self.assertNotIn(b"nnapi_convert.origin", data)

    def test_same_bytes_each_time(self):
        options = ["--note", "author=me", *NORMALISED]
        self.assertEqual(self.converted_litert(*options), self.converted_litert(*options))


class Table:
    """A table of a flatbuffer that begins at `start` of some bytes; without `place` the root."""

    def __init__(self, data, start, place=None):
        self.data, self.start = data, start
        self.place = start + struct.unpack_from("<I", data, start)[0] if place is None else place

    def field(self, number):
        table = self.place - struct.unpack_from("<i", self.data, self.place)[0]
        size = struct.unpack_from("<H", self.data, table)[0]
        offset = struct.unpack_from("<H", self.data, table + 4 + 2 * number)[0] if 4 + 2 * number < size else 0
        return self.place + offset if offset else None

    def number(self, number, form):
        place = self.field(number)
        return 0 if place is None else struct.unpack_from("<" + form, self.data, place)[0]

    def target(self, number):
        place = self.field(number)
        return None if place is None else place + struct.unpack_from("<I", self.data, place)[0]

    def table(self, number):
        return Table(self.data, self.start, self.target(number))

    def vector(self, number):
        place = self.target(number)
        return (0, 0) if place is None else (place + 4, struct.unpack_from("<I", self.data, place)[0])

    def tables(self, number):
        begin, count = self.vector(number)
        places = [begin + 4 * i for i in range(count)]
        return [Table(self.data, self.start, at + struct.unpack_from("<I", self.data, at)[0]) for at in places]

    def text(self, number):
        begin, count = self.vector(number)
        return self.data[begin:begin + count].decode()

    def floats(self, number):
        begin, count = self.vector(number)
        return struct.unpack_from(f"<{count}f", self.data, begin)


def metadata_offset(data):
    """Where the buffer that Model.metadata names TFLITE_METADATA begins."""
    model = Table(data, 0)
    (entry,) = [each for each in model.tables(6) if each.text(0) == "TFLITE_METADATA"]
    return model.tables(4)[entry.number(1, "I")].vector(0)[0]


if __name__ == "__main__":
    unittest.main()
