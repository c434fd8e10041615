# SPDX-License-Identifier: BSD-3-Clause
"""The data of --calibrate: what is read, what is refused, and pictures."""

import re
import signal
import subprocess
import time
import unittest

import numpy
import torch

from calibrate_models import CalibrateTest, TwoInputs, picture_samples, write_png
from cli import PROGRAM, environment
from stock_torch import load


AS_THEY_ARE = ["--mean", "0", "--std", "1"]  # pixels from 0 to 1


class Data(CalibrateTest):
    def setUp(self):
        super().setUp()
        self.make_net()
        self.options = [*self.spec, "--nhwc", "--calibrate"]

    def same_file(self, source):
        """What the list of tensors gives."""
        expected = self.convert(self.model, *self.options, self.data, out="expected.pt")
        found = self.convert(self.model, *self.options, source, out="found.pt")
        return load(expected).ser_model.equal(load(found).ser_model)

    def test_numpy(self):
        numpy.save(self.folder / "data.npy", self.pictures[:64].numpy())
        self.assertTrue(self.same_file(self.folder / "data.npy"))
        numpy.save(self.folder / "double.npy", self.pictures[:64].double().numpy())
        self.assertTrue(self.same_file(self.folder / "double.npy"))
        for save in (numpy.savez, numpy.savez_compressed):
            save(self.folder / "data.npz", x=self.pictures[:64].numpy())
            self.assertTrue(self.same_file(self.folder / "data.npz"))

    def test_folders_of_arrays(self):
        """Each file is a sample, or several; folders in it are read, too, in the order of their paths."""
        folder = self.folder / "arrays"
        (folder / "b").mkdir(parents=True)
        for i, picture in enumerate(self.pictures[:64]):
            file = folder / ("b" if i >= 40 else "") / f"{i:02}"
            (numpy.save(f"{file}.npy", picture.numpy()) if i % 3 else numpy.savez(f"{file}.npz", x=picture[None].numpy()))
        self.assertTrue(self.same_file(folder))
        floats = self.convert(self.model, *self.spec, "--nhwc", out="float.pt")
        found = self.succeed("verify", self.model, self.folder / "found.pt", "--inputs", folder)
        self.assertIn("calibration measured", found.stdout)
        self.assertIn("(64 samples;", self.succeed("verify", self.model, floats, "--inputs", folder).stdout)
        several = self.folder / "several"
        several.mkdir()
        for i in range(4):
            numpy.save(several / f"{i}.npy", self.pictures[16 * i:16 * i + 16].numpy())
        self.assertTrue(self.same_file(several))
        out = self.folder / "out.pt"
        self.fail_with(2, self.model, *self.options, folder, *AS_THEY_ARE, "-o", out, needed=["are for pictures"])
        write_png(folder / "a.png", numpy.zeros((16, 16, 3), numpy.uint8))
        self.fail_with(3, self.model, *self.options, folder, "-o", out, needed=["pictures and arrays found, as a.png and"])
        numpy.save(several / "4.npy", numpy.zeros((1, 3, 8, 8), numpy.float32))
        self.fail_with(3, self.model, *self.options, several, "-o", out, needed=["4.npy: input x: shape [1, 3, 8, 8] found"])
        (several / "4.npy").write_text("no array")
        self.fail_with(3, self.model, *self.options, several, "-o", out, needed=["4.npy: no NumPy array"])

    def test_one_tensor(self):
        self.assertTrue(self.same_file(self.samples(self.pictures[:64], "one.pt")))

    def test_lists_that_python_appends_to(self):
        """Python writes the last element of a list by itself where it begins a group of 1000."""
        for count in (1, 1001):
            with self.subTest(count=count):
                data = self.samples(list(self.pictures[:1].expand(count, -1, -1, -1).unsqueeze(1)), "appended.pt")
                out = self.convert(self.model, *self.options, data)
                self.succeed("verify", self.model, out, "--inputs", data)
        floats = self.convert(self.model, *self.spec, "--nhwc", out="float.pt")
        self.succeed("verify", self.model, floats, "--inputs", self.samples([(self.pictures[:1],)], "tuples.pt"))
        self.succeed("verify", self.model, floats, "--inputs",
                     self.samples([(picture,) for picture in self.pictures[:1].expand(1001, -1, -1, -1).unsqueeze(1)],
                                  "tuples.pt"))

    def warnings(self, samples):
        data = self.samples(samples, "warned.pt")
        return self.succeed(self.model, *self.options, data, "-o", self.folder / "out.pt").stderr

    def test_few_samples(self):
        self.assertIn("1 sample found: too few to hold some back", self.warnings([self.pictures[:1]]))
        self.assertIn("10 samples found; 32 or more", self.warnings(list(self.pictures[:10].unsqueeze(1))))
        data = self.samples(list(self.pictures[:10].unsqueeze(1)), "warned.pt")
        result = self.succeed(self.model, *self.options, data, "-q", "-o", self.folder / "out.pt")
        self.assertEqual("", result.stdout)
        self.assertEqual(["nnapi-convert: warning: calibration: 10 samples found; 32 or more give ranges that hold for "
                          "others"], result.stderr.splitlines())

    def test_black_samples(self):
        text = self.warnings(list(torch.zeros(40, 1, 3, 16, 16)))
        self.assertIn("input 0 is 0 everywhere in all samples", text)

    def test_a_channel_that_is_never_active(self):
        pictures = self.pictures[:40].clone()
        pictures[:, 1] = 0.5
        text = self.warnings(list(pictures.unsqueeze(1)))
        self.assertIn("1 of 3 channels hold one value in all samples, the first is channel 1", text)

    def test_thousands_of_samples(self):
        numpy.save(self.folder / "many.npy", self.pictures[:64].repeat(40, 1, 1, 1).numpy())
        result = self.succeed(self.model, *self.options, self.folder / "many.npy", "-o", self.folder / "out.pt")
        self.assertIn("1000 of 2560 samples are used", result.stderr)

    def test_interrupted(self):
        """Nothing is left, neither the file nor what was beside it."""
        before = sorted(self.folder.iterdir())
        process = subprocess.Popen([PROGRAM, *map(str, [self.model, *self.options, "random:3000", "--effort", "best",
                                                        "-o", self.folder / "out.pt"])], env=environment(),
                                   stderr=subprocess.DEVNULL)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        self.assertNotEqual(0, process.wait(60))
        self.assertEqual(before, sorted(self.folder.iterdir()))

    def test_several_inputs(self):
        x, indices = torch.randn(40, 1, 6), torch.arange(40).remainder(20).view(40, 1)
        model = self.trace(TwoInputs(), x[0], indices[0])
        specs = ["--input", "1,6", "--input", "1:int64"]
        pairs = self.samples(list(zip(x, indices)), "pairs.pt")
        out = self.convert(model, *specs, "--calibrate", pairs)
        self.succeed("verify", model, out, "--inputs", pairs)
        numpy.savez(self.folder / "pairs.npz", indices=indices.view(-1).numpy(), x=x.view(40, 6).numpy())
        self.convert(model, *specs, "--calibrate", self.folder / "pairs.npz")

    def test_random_warns(self):
        result = self.succeed(self.model, *self.options, "random:16", "-o", self.folder / "out.pt")
        self.assertIn("random numbers", result.stderr)

    def test_bad_data(self):
        out = self.folder / "out.pt"
        nan = self.pictures[:8].clone()
        nan[3, 0, 0, 0] = float("nan")
        torch.save({"a": 1}, str(self.folder / "dict.pt"))
        (self.folder / "text.npy").write_text("no array")
        (self.folder / "cut.npy").write_bytes(b"\x93NUMPY\x01\x00\x76\x00{'descr': '<f4', 'fortran_order': False, "
                                              b"'shape': (64, 3, 16, 16), }" + b" " * 50)
        empty = self.folder / "empty"
        empty.mkdir()
        cases = [
            (self.samples(list(nan.unsqueeze(1)), "nan.pt"), 3, "NaN"),
            (self.samples([torch.zeros(1, 3, 8, 8)], "size.pt"), 3, "shape [1, 3, 8, 8] found"),
            (self.samples([], "none.pt"), 3, "no sample found"),
            (self.folder / "dict.pt", 3, "no samples"),
            (self.folder / "text.npy", 3, "no NumPy array"),
            (self.folder / "cut.npy", 3, "cut short"),
            (self.folder / "missing.pt", 3, "can't read"),
            (empty, 3, "no picture and no array found; .jpg, .jpeg, .png, .npy or .npz files needed"),
            ("random:0", 2, "random:N"),
            ("bundled", 3, "no bundled inputs"),
        ]
        for source, code, message in cases:
            with self.subTest(source=str(source)):
                options = AS_THEY_ARE if source is empty else []
                self.fail_with(code, self.model, *self.options, source, *options, "-o", out, needed=[message])
                self.assertFalse(out.exists())

    def test_odd_data_is_warned_of(self):
        out = self.folder / "out.pt"
        result = self.succeed(self.model, *self.options, self.samples(list(torch.zeros(40, 1, 3, 16, 16)), "black.pt"),
                              "-o", out)
        self.assertIn("input 0 is 0 everywhere", result.stderr)
        result = self.succeed(self.model, *self.options, self.samples([self.pictures[:1]], "single.pt"), "-o", out)
        self.assertIn("1 sample found", result.stderr)

    def test_options_without_data(self):
        self.fail_with(2, self.model, *self.spec, "--mean", "0.5", "-o", self.folder / "out.pt",
                       needed=["--mean and --std are missing"])
        self.fail_with(2, self.model, *self.spec, "--max-drop", "0.1", "-o", self.folder / "out.pt",
                       needed=["--max-drop", "--calibrate is missing"])
        self.fail_with(2, self.model, *self.options, self.data, "--crop", "8", "-o", self.folder / "out.pt",
                       needed=["are for pictures"])

    def test_models_that_are_quantised_already(self):
        result = self.fail_with(2, self.fixture("quant.pt"), "--input", "1,3,16,16", "--nhwc", "--calibrate", "random:8",
                                "-o", self.folder / "out.pt", needed=["quantised already"])
        self.assertIn("--calibrate", result.stderr)


class Pictures(CalibrateTest):
    NORM = ["--mean", "0.485,0.456,0.406", "--std", "0.229,0.224,0.225"]

    def setUp(self):
        super().setUp()
        self.make_net()
        self.list = []
        folder = self.folder / "pictures"
        folder.mkdir()
        pixels = ((picture_samples(40, seed=4) / 4 + 0.5).clamp(0, 1) * 255).to(torch.uint8)
        for i, picture in enumerate(pixels.permute(0, 2, 3, 1).numpy()):
            write_png(folder / f"{i:03}.png", picture)
        self.pixels = pixels.double() / 255

    def convert_from(self, source, *options, out):
        return load(self.convert(self.model, *self.spec, "--nhwc", "--calibrate", source, *options, out=out)).ser_model

    def test_as_tensors(self):
        mean = torch.tensor([0.485, 0.456, 0.406], dtype=torch.double).view(1, 3, 1, 1)
        std = torch.tensor([0.229, 0.224, 0.225], dtype=torch.double).view(1, 3, 1, 1)
        found = self.convert_from(self.folder / "pictures", *self.NORM, out="a.pt")
        tensors = self.samples(list(((self.pixels - mean) / std).float().unsqueeze(1)), "tensors.pt")
        self.assertTrue(found.equal(self.convert_from(tensors, out="b.pt")))

    def test_inspect_tells_of_the_pictures(self):
        self.convert_from(self.folder / "pictures", *self.NORM, "--resize", "20", "--crop", "16", "--bgr", out="a.pt")
        text = self.succeed("inspect", self.folder / "a.pt").stdout
        self.assertIn("on samples held back; pictures, the shorter side made 20 pixels, the middle 16 pixels taken, 0 to "
                      "1, mean 0.485,0.456,0.406, std 0.229,0.224,0.225, BGR", text)

    def test_bgr_and_range_of_pixels(self):
        found = self.convert_from(self.folder / "pictures", "--bgr", "--pixel-max", "255", "--mean", "127", "--std", "128",
                                  out="a.pt")
        tensors = self.samples(list(((self.pixels * 255 - 127) / 128).flip(1).unsqueeze(1)), "tensors.pt")
        self.assertTrue(found.equal(self.convert_from(tensors, out="b.pt")))

    def test_list(self):
        lines = [f"pictures/{i:03}.png" for i in range(40)]
        (self.folder / "list.txt").write_text("\n".join(lines) + "\n")
        self.assertTrue(self.convert_from(self.folder / "pictures", *AS_THEY_ARE, out="a.pt").equal(
            self.convert_from(self.folder / "list.txt", *AS_THEY_ARE, out="b.pt")))

    def test_normalisation_is_not_guessed(self):
        """Scales of pictures from 0 to 1 fit no model that was trained on others, and no distance from float shows it."""
        options = [self.model, *self.spec, "--nhwc", "--calibrate", self.folder / "pictures", "-o", self.folder / "no.pt"]
        for given in ([], ["--mean", "0.5"], ["--std", "0.5"], ["--pixel-max", "255"]):
            with self.subTest(given=given):
                self.fail_with(2, *options, *given, needed=["--mean and --std are missing", "--mean 0 --std 1"])
        self.assertFalse((self.folder / "no.pt").exists())

    def test_what_the_model_is_fed_is_printed(self):
        out = self.folder / "out.pt"
        lowest, highest = (0 - 0.485) / 0.229, (1 - 0.406) / 0.225
        text = self.succeed(self.model, *self.spec, "--nhwc", "--calibrate", self.folder / "pictures", *self.NORM, "-o",
                            out).stdout
        fed = [float(each) for each in re.search(r"input x is fed (-?[\d.]+) to (-?[\d.]+)\n", text).groups()]
        self.assertTrue(lowest - 0.01 < fed[0] < -1 and 1 < fed[1] < highest + 0.01, fed)
        self.assertIn("input x is fed -", self.succeed("verify", self.model, out, "--inputs",
                                                       self.folder / "pictures").stdout)

    def test_verify_by_pictures_needs_the_normalisation(self):
        out = self.convert(self.model, *self.spec, "--nhwc", "--calibrate", self.data)
        self.fail_with(2, "verify", self.model, out, "--inputs", self.folder / "pictures",
                       needed=["--inputs", "the converted file has no --mean and --std"])

    def test_unreadable_among_good_ones(self):
        (self.folder / "pictures" / "bad.jpg").write_bytes(b"\xff\xd8\xff no picture")
        whole = (self.folder / "pictures" / "000.png").read_bytes()
        (self.folder / "pictures" / "cut.png").write_bytes(whole[:200])
        result = self.succeed(self.model, *self.spec, "--nhwc", "--calibrate", self.folder / "pictures", *AS_THEY_ARE,
                              "-o", self.folder / "out.pt")
        self.assertIn("2 of 42 pictures can't be read", result.stderr)

    def test_sizes(self):
        out = self.folder / "out.pt"
        options = [*self.spec, "--nhwc", "--calibrate", self.folder / "pictures", "--std", "1", "-o", out]
        self.fail_with(2, self.model, *options, "--mean", "1,2", needed=["--mean: 2 numbers found"])
        options += ["--mean", "0"]
        self.succeed(self.model, *options, "--resize", "20", "--crop", "16")
        self.succeed("verify", self.model, out, "--inputs", self.folder / "pictures")
        self.fail_with(3, self.model, *options, "--resize", "20", needed=["20x20 pixels found"])
        self.fail_with(3, self.model, *options, "--crop", "17", needed=["use --resize"])


if __name__ == "__main__":
    unittest.main()
