# SPDX-License-Identifier: BSD-3-Clause
"""Odd and hostile data for --calibrate: kinds of pictures, arrays, archives and pickles that are not as usual."""

import io
import os
import pickle
import unittest

import numpy
import torch
from PIL import Image

from calibrate_models import CalibrateTest, TwoInputs, picture_samples
from stock_torch import load

ORIENTATION, TURNED = 0x0112, 6  # of EXIF


class OddDataTest(CalibrateTest):
    def setUp(self):
        super().setUp()
        self.make_net()
        self.options = [*self.spec, "--nhwc", "--calibrate"]

    def source_options(self, source):
        """The source, and for pictures that their pixels are from 0 to 1."""
        return [source, "--mean", "0", "--std", "1"] if os.path.isdir(source) else [source]

    def model_of(self, source):
        return load(self.convert(self.model, *self.options, *self.source_options(source), out="converted.pt")).ser_model

    def warnings(self, source, *options):
        return self.succeed(self.model, *self.options, *self.source_options(source), *options, "-o", self.folder / "out.pt").stderr

    def refused(self, source, *needed, options=()):
        out = self.folder / "refused.pt"
        self.fail_with(3, self.model, *self.options, *self.source_options(source), *options, "-o", out, needed=list(needed))
        self.assertFalse(out.exists())


class Pictures(OddDataTest):
    def setUp(self):
        super().setUp()
        self.pixels = ((picture_samples(8, seed=4) / 4 + 0.5).clamp(0, 1) * 255).byte().permute(0, 2, 3, 1).numpy()
        self.images = [Image.fromarray(each) for each in self.pixels]

    def folder_of(self, images, ending, name="pictures", **options):
        folder = self.folder / name
        folder.mkdir()
        for i, image in enumerate(images):
            image.save(str(folder / f"{i}.{ending}"), **options)
        return folder

    def as_pillow_sees(self, folder):
        """The data that the folder stands for."""
        pictures = [numpy.asarray(Image.open(str(path)).convert("RGB")) for path in sorted(folder.iterdir())]
        data = torch.from_numpy(numpy.stack(pictures)).permute(0, 3, 1, 2).double() / 255
        path = self.folder / "pillow.npy"
        numpy.save(path, data.float().numpy())
        return path

    def test_kinds(self):
        for mode, ending in (("L", "png"), ("L", "jpg"), ("P", "png"), ("RGBA", "png"), ("CMYK", "jpg"), ("1", "png")):
            with self.subTest(mode=mode, ending=ending):
                folder = self.folder_of([image.convert(mode) for image in self.images], ending, f"{mode}_{ending}")
                self.assertTrue(self.model_of(folder).equal(self.model_of(self.as_pillow_sees(folder))))

    def test_16_bits(self):
        """Each value of 8 bits in 16 is the same brightness, not a linear one."""
        grey = [image.convert("L") for image in self.images]
        wide = [Image.fromarray(numpy.asarray(image).astype(numpy.uint16) * 257) for image in grey]
        self.assertTrue(self.model_of(self.folder_of(grey, "png", "narrow")).equal(
            self.model_of(self.folder_of(wide, "png", "wide"))))

    def test_exif(self):
        """As Pillow and torchvision: pixels are taken as they are stored."""
        exif = Image.Exif()
        exif[ORIENTATION] = TURNED
        self.assertTrue(self.model_of(self.folder_of(self.images, "jpg", "turned", exif=exif.tobytes())).equal(
            self.model_of(self.folder_of(self.images, "jpg", "plain"))))

    def test_files_that_are_no_pictures(self):
        folder = self.folder_of(self.images, "png")
        (folder / "empty.png").write_bytes(b"")
        gif = io.BytesIO()
        self.images[0].save(gif, "GIF")
        (folder / "gif.jpg").write_bytes(gif.getvalue())
        (folder / "link.jpg").symlink_to("nowhere.jpg")
        (folder / "folder.jpg").mkdir()
        os.mkfifo(folder / "pipe.jpg")  # is not waited for
        self.assertIn("4 of 12 pictures can't be read and are left out, the first: ", self.warnings(folder))
        for path in folder.glob("?.png"):
            path.unlink()
        self.refused(folder, "none of 4 pictures can be read")

    def test_a_picture_of_another_size(self):
        self.images[3] = self.images[3].resize((15, 30))
        self.refused(self.folder_of(self.images, "png"), "3.png: 15x30 pixels found", options=["--crop", "16"])

    def test_one_picture_again_and_again(self):
        self.assertIn("all 8 samples are the same", self.warnings(self.folder_of(self.images[:1] * 8, "png")))


class Arrays(OddDataTest):
    def array(self, values, name="data.npy"):
        numpy.save(self.folder / name, values)
        return self.folder / name

    def test_a_constant_away_from_zero(self):
        """Bins are narrow where values are near each other, and ranges reach to 0."""
        text = self.warnings(self.array(numpy.full((40, 3, 16, 16), 3, numpy.float32)))
        self.assertIn("input 0 is 3 everywhere in all samples", text)
        self.assertNotIn("are the same", text)

    def test_dtypes_and_orders(self):
        values = self.pictures[:8].numpy()
        for odd, needed in (
                (values.astype(">f4"), "dtype >f4 found"),
                (values.astype(numpy.complex64), "dtype <c8 found"),
                (values.astype(numpy.uint16), "dtype <u2 found; float16, float32"),
                (numpy.array(["a"]), "dtype <U1 found"),
                (numpy.array([{}], dtype=object), "dtype |O found"),
                (numpy.zeros(3, [("a", "<f4"), ("b", "<i4")]), "dtype"),
                (numpy.asfortranarray(values), "Fortran's order found"),
                (values.reshape(8, -1), "shape [8, 768] found, [1, 3, 16, 16] needed"),
                (values[None], "shape [1, 8, 3, 16, 16] found"),
                (values.transpose(0, 2, 3, 1).copy(), "shape [8, 16, 16, 3] found"),
                (numpy.float32(1), "shape [] found"),
                (values[:0], "shape [0, 3, 16, 16] found"),
                (values.astype(numpy.float64) * 1e300, "NaN or infinite values")):
            with self.subTest(needed=needed):
                self.refused(self.array(odd), needed)

    def test_damaged_archives(self):
        whole = self.folder / "whole.npz"
        numpy.savez(whole, x=self.pictures[:8].numpy())
        for name, data in (("cut", whole.read_bytes()[:5000]), ("none", b"PK" + b"0" * 100), ("empty", b"")):
            with self.subTest(name=name):
                (self.folder / f"{name}.npz").write_bytes(data)
                self.refused(self.folder / f"{name}.npz", f"{name}.npz")
        numpy.savez(self.folder / "nothing.npz")
        self.refused(self.folder / "nothing.npz", "0 tensors found, 1 needed")

    def test_names_in_archives(self):
        x, indices = torch.randn(40, 6), torch.arange(40).remainder(20)
        model = self.trace(TwoInputs(), x[:1], indices[:1])
        options = [model, "--input", "1,6", "--input", "1:int64", "--calibrate"]
        archive, out = self.folder / "pairs.npz", self.folder / "out.pt"
        x, indices = x.numpy(), indices.numpy()
        numpy.savez(archive, index=indices, x=x)
        self.fail_with(3, *options, archive, "-o", out, needed=["arrays index, x found, x, indices needed"])
        numpy.savez(archive, a=x, b=indices)
        self.assertIn("arrays a, b are taken for the inputs x, indices in this order",
                      self.succeed(*options, archive, "-o", out).stderr)
        for save in (lambda: numpy.savez(archive, x, indices), lambda: numpy.savez(archive, x=x, indices=indices, labels=x)):
            save()
            self.assertNotIn("in this order", self.succeed(*options, archive, "-o", out).stderr)


class Options(OddDataTest):
    def test_values_that_are_none(self):
        out = self.folder / "out.pt"
        for option, value, needed in (
                ("--calibration", "", "an empty text found"),
                ("--std", "0.2,0,0.2", "0 found, a number above 0 needed"), ("--std", "nan", "nan found"),
                ("--pixel-max", "-1", "-1 found")):
            with self.subTest(option=option, value=value):
                result = self.fail_with(2, self.model, *self.options, self.data, option, value, "-o", out, needed=[needed])
                self.assertNotIn("179769", result.stderr)
                self.assertFalse(out.exists())
        self.fail_with(2, self.model, *self.options, "", "-o", out, needed=["--calibrate: an empty text found"])
        result = self.fail_with(2, self.model, *self.options, "random:none", "-o", out, needed=["write random:N"])
        self.assertNotIn("warning: calibration", result.stderr)


class Pickles(OddDataTest):
    def test_nothing_in_a_pickle_runs(self):
        touched = self.folder / "touched"

        class Touch:
            def __reduce__(self):
                return os.system, (f"touch {touched}",)

        torch.save([Touch()], str(self.folder / "archive.pt"))
        torch.save([Touch()], str(self.folder / "old.pt"), _use_new_zipfile_serialization=False)
        (self.folder / "bare.pt").write_bytes(pickle.dumps(Touch()))
        for name in ("archive.pt", "old.pt", "bare.pt"):
            with self.subTest(name=name):
                self.refused(self.folder / name, "no samples")
                self.assertFalse(touched.exists())

    def test_what_are_no_samples(self):
        one = self.pictures[:1]
        deep = one
        for _ in range(200):
            deep = [deep]
        for value, needed in (
                ([one, torch.zeros(1, 3, 8, 8)], "sample 1: input x: shape [1, 3, 8, 8] found"),
                ([one, "text"], "sample 1: 0 tensors found"),
                ([(one, one)], "sample 0: 2 tensors found, 1 needed"),
                ([one.to(torch.complex64)], "dtype complex64 found"),
                ([one[:0]], "shape [0, 3, 16, 16] found"),
                ([one.to_sparse()], "no samples"),
                (torch.nn.Linear(2, 2).state_dict(), "no samples"),
                (None, "no samples"), (deep, "0 tensors found"), ([one.numpy()], "no samples")):
            with self.subTest(needed=needed):
                self.refused(self.samples(value, "odd.pt"), needed)




class Values(CalibrateTest):
    """Values in the middle of a model that are not as usual."""

    def setUp(self):
        super().setUp()
        self.model = self.folder / "model.pt"

    def distance(self, module, samples, *options):
        torch.jit.script(module.eval()).save(str(self.model))
        torch.save(samples, str(self.folder / "samples.pt"))
        shape = ",".join(str(size) for size in samples[0].shape)
        dtype = ":int64" if samples[0].dtype == torch.int64 else ""
        result = self.succeed(self.model, "--nhwc", "--input", shape + dtype, "--calibrate", self.folder / "samples.pt",
                              "--verify", *options, "-o", self.folder / "out.pt")
        return result, [line for line in result.stdout.splitlines() if line.startswith("distance from float")][0]

    def snr(self, module, samples, *options):
        return float(self.distance(module, samples, *options)[1].split("SNR ")[1].split(" dB")[0])

    def test_zeros_in_the_first_sample(self):
        """A ReLU that lets nothing through at first."""
        torch.manual_seed(0)
        module = torch.nn.Sequential(torch.nn.Conv2d(1, 8, 3, bias=False), torch.nn.ReLU(), torch.nn.Conv2d(8, 4, 3))
        samples = [torch.zeros(1, 1, 8, 8)] + [torch.randn(1, 1, 8, 8) for _ in range(39)]
        self.assertGreater(self.snr(module, samples), 30)

    def test_rows_of_a_table(self):
        class Words(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.table, self.last = torch.nn.Embedding(50, 16), torch.nn.Linear(16, 5)

            def forward(self, ids):
                return self.last(self.table(ids))

        torch.manual_seed(0)
        self.assertGreater(self.snr(Words(), [torch.randint(0, 50, (1, 6)) for _ in range(40)]), 30)

    def test_softmax_over_many(self):
        class Pooled(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.score, self.value = torch.nn.Linear(16, 1), torch.nn.Linear(16, 16)

            def forward(self, x):
                return (self.score(x).softmax(1) * self.value(x)).sum(1)

        torch.manual_seed(0)
        self.assertGreater(self.snr(Pooled(), [torch.randn(1, 400, 16) for _ in range(40)]), 30)

    def test_integers_only(self):
        class Chosen(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.conv = torch.nn.Conv2d(3, 6, 3)

            def forward(self, x):
                return self.conv(x).argmax(1)

        torch.manual_seed(0)
        _, line = self.distance(Chosen(), [torch.randn(1, 3, 12, 12) for _ in range(40)])
        self.assertRegex(line, r"9\d\.\d% of the elements the same")

    def test_recurrent_layers_stay_float(self):
        """NNAPI has no GRU: its steps are operations of their own."""
        class Sequence(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.first, self.gru, self.last = torch.nn.Linear(8, 16), torch.nn.GRU(16, 16), torch.nn.Linear(16, 5)

            def forward(self, x):
                return self.last(self.gru(self.first(x))[0])

        torch.manual_seed(0)
        result, _ = self.distance(Sequence(), [torch.randn(12, 1, 8) for _ in range(40)])
        integers, _, operations = result.stdout.split("quantised ")[1].split(" operations")[0].split()
        self.assertLess(int(integers), 10)
        self.assertGreater(int(operations), 100)

    def test_device_of_integers(self):
        """The float model is refused by a device that takes integers alone, the quantised one isn't."""
        torch.manual_seed(0)
        module = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.ReLU(), torch.nn.Conv2d(8, 4, 3))
        samples = [torch.randn(1, 3, 12, 12) for _ in range(40)]
        options = ["--device-profile", "quant-dsp-8.1", "--runtime", "shim", "--quant", "full"]
        result, _ = self.distance(module, samples, *options)
        self.assertNotIn("doesn't take", result.stderr)

    def test_one_size_fits(self):
        """Anchors that the model holds are of one size, and nothing in the file tells it."""
        class Anchored(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.conv = torch.nn.Conv2d(3, 8, 3, stride=2, padding=1)
                self.register_buffer("anchors", torch.rand(1, 64, 8))

            def forward(self, x):
                return self.conv(x).flatten(2).transpose(1, 2) * self.anchors

        torch.manual_seed(0)
        model, data = self.folder / "anchored.pt", self.folder / "data.pt"
        torch.jit.trace(Anchored().eval(), torch.rand(1, 3, 16, 16)).save(str(model))
        torch.save([torch.rand(1, 3, 24, 24) for _ in range(8)], str(data))
        options = ["--input", "1,3,?,?", "--nhwc", "--calibrate", data]
        said = self.fail_with(1, model, *options, "-o", self.folder / "out.pt",
                              needed=["can't run on a sample, x [1, 3, 24, 24]", "give every size with --input"]).stderr
        self.assertNotIn("ANEURALNETWORKS", said)

    def test_name_of_nothing(self):
        torch.manual_seed(0)
        self.distance(torch.nn.Conv2d(3, 4, 3), [torch.randn(1, 3, 12, 12) for _ in range(8)])
        self.fail_with(2, self.model, "--nhwc", "--input", "1,3,12,12", "--calibrate", self.folder / "samples.pt",
                       "--keep-float", "", "-o", self.folder / "out.pt", needed=["--keep-float"])

    def test_far_from_float(self):
        """Rows of a weight whose sizes differ by far lose all in one scale."""
        torch.manual_seed(0)
        module = torch.nn.Linear(16, 8)
        with torch.no_grad():
            module.weight[1:] *= 1e-4
            module.bias.zero_()

        class Small(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = module

            def forward(self, x):
                return self.layer(x)[:, 1:]

        result, _ = self.distance(Small(), [torch.randn(1, 16) for _ in range(40)])
        self.assertIn("far from the float one", result.stderr)


del CalibrateTest, OddDataTest  # their tests are those of their own files


if __name__ == "__main__":
    unittest.main()
