# SPDX-License-Identifier: BSD-3-Clause
"""--input-pixels: the result takes the bytes of pictures and normalises them itself; eager PyTorch is the judge."""

import unittest

import torch
from torch import nn
from torch.utils import bundled_inputs

from calibrate_models import write_png
from cli import CliTest
from stock_torch import StockTorchTest, load

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
NORMALISE = ("--mean", "0.485,0.456,0.406", "--std", "0.229,0.224,0.225")
SIZES = ("--input", "1,3,12,10")


def pixels(channels: int = 3, seed: int = 0) -> torch.Tensor:
    return torch.randint(0, 256, (1, 12, 10, channels), generator=torch.Generator().manual_seed(seed),
                         dtype=torch.uint8)


def normalised(bytes_, bgr: bool = False, pixel_max: float = 1) -> torch.Tensor:
    """As torchvision's ToTensor and Normalize."""
    x = bytes_[..., :3].flip(3) if bgr else bytes_[..., :3]
    x = x.permute(0, 3, 1, 2).float().div(255).mul(pixel_max)
    return (x - torch.tensor(MEAN).view(3, 1, 1)) / torch.tensor(STD).view(3, 1, 1)


def borders() -> nn.Module:
    """The result shows each pixel, also those at the borders that read padding."""
    return nn.Sequential(nn.Conv2d(3, 6, 3, padding=1), nn.ReLU(), nn.Conv2d(6, 4, 3, padding=1))


class InCpu(nn.Module):
    """Starts with an operation that NNAPI has not."""

    def __init__(self):
        super().__init__()
        self.net = borders()

    def forward(self, x):
        return self.net(torch.cummax(x, 3)[0])


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = borders()

    def forward(self, scale: int, image, other):
        return self.net(image) * scale + other


class PixelsTest(CliTest, StockTorchTest):
    def setUp(self):
        super().setUp()
        torch.manual_seed(0)

    def save(self, module: nn.Module):
        module = module.eval()
        path = self.folder / "model.pt"
        torch.jit.script(module).save(str(path))
        return module, path

    def assert_takes(self, module, converted, channels=3, **how):
        net = load(converted)
        for seed in range(3):
            given = pixels(channels, seed)
            with torch.no_grad():
                self.assert_close(module(normalised(given, **how)), net(given.clone()))


class Results(PixelsTest):
    def test_rgb_with_both_runtimes(self):
        module, path = self.save(borders())
        for runtime in ("pytorch", "shim"):
            with self.subTest(runtime):
                out = self.convert(path, *SIZES, *NORMALISE, "--input-pixels", "uint8", "--runtime", runtime, "--verify")
                if runtime == "pytorch":
                    self.assert_takes(module, out)
                text = self.succeed("inspect", out).stdout
                self.assertIn("uint8[1, 12, 10, 3]", text)
                self.assertIn("takes pixels as bytes", text)
                self.assertIn("4 operations\n     1  ADD\n     2  CONV_2D\n     1  DEQUANTIZE", text)

    def test_rgba_bgr_and_the_range_of_pixels(self):
        module, path = self.save(borders())
        for options, channels, how in ((("rgba",), 4, {}), (("rgba", "--bgr"), 4, {"bgr": True}),
                                       (("uint8", "--bgr"), 3, {"bgr": True}),
                                       (("uint8", "--pixel-max", "255"), 3, {"pixel_max": 255})):
            for layout in ("--nhwc", "--nchw"):
                with self.subTest(options=options, layout=layout):
                    out = self.convert(path, *SIZES, *NORMALISE, layout, "--input-pixels", *options, "--verify")
                    self.assert_takes(module, out, channels, **how)

    def test_nothing_is_left_before_a_convolution_without_padding(self):
        module, path = self.save(nn.Sequential(nn.Conv2d(3, 8, 4, stride=2), nn.ReLU(), nn.Conv2d(8, 3, 1)))
        out = self.convert(path, *SIZES, *NORMALISE, "--input-pixels", "uint8", "--verify")
        self.assert_takes(module, out)
        self.assertIn("3 operations\n     2  CONV_2D\n     1  DEQUANTIZE", self.succeed("inspect", out).stdout)

    def test_named_sizes(self):
        """Names move with the axes."""
        module, path = self.save(borders())
        out = self.convert(path, "--input", "1,3,4*h,n", *NORMALISE, "--input-pixels", "uint8", "--verify", out="named.pt")
        self.succeed("verify", path, out)

    def test_flexible_sizes(self):
        module, path = self.save(borders())
        out = self.convert(path, "--input", "1,3,?,?", *NORMALISE, "--input-pixels", "uint8")
        self.assert_takes(module, out)
        self.succeed("verify", path, out, "--input", "1,9,7,3")

    def test_sizes_by_weights(self):
        module, path = self.save(borders())
        for how, channels in (("uint8", 3), ("rgba", 4)):
            with self.subTest(how):
                self.fail_with(1, path, *NORMALISE, "--input-pixels", how, "-o", self.folder / "none.pt",
                               needed=[f"only 1,?,?,{channels}:uint8", f"--input '1,?,?,{channels}:uint8'"])
                out = self.convert(path, "--input", f"1,?,?,{channels}:uint8", *NORMALISE, "--input-pixels", how, "--verify",
                                   out=f"{how}.pt")
                self.assert_takes(module, out, channels)
                self.succeed("verify", path, out)

    def test_an_argument_by_name(self):
        module, path = self.save(Scaled())
        out = self.convert(path, "--input", "scale=3", "--input", "image=1,3,12,10", "--input", "other=1,4,12,10",
                           *NORMALISE, "--input-pixels", "image=uint8", "--verify")
        other = torch.randn(1, 4, 12, 10)
        with torch.no_grad():
            self.assert_close(module(3, normalised(pixels()), other), load(out)(3, pixels(), other))

    def test_check(self):
        _, path = self.save(borders())
        text = self.succeed("check", path, *SIZES, *NORMALISE, "--input-pixels", "uint8", "--feature-level", "1").stdout
        self.assertIn("converts whole", text)
        self.assertRegex(text, r"whole +4 +\d+ +100.0% +360 ")  # bytes of the pixels

    def test_an_operation_on_the_cpu_comes_first(self):
        module, path = self.save(InCpu())
        out = self.convert(path, *SIZES, *NORMALISE, "--input-pixels", "uint8", "--verify")
        self.assert_takes(module, out)

    def test_float64_and_half_models(self):
        for dtype in (torch.float64, torch.float16):
            with self.subTest(dtype=dtype):
                path = self.folder / "wide.pt"
                torch.jit.script(borders().eval().to(dtype)).save(str(path))
                self.convert(path, *SIZES, *NORMALISE, "--input-pixels", "uint8", "--verify")

    def test_bundled_inputs_give_the_sizes(self):
        module, path = self.save(borders())
        script = torch.jit.load(str(path))
        bundled_inputs.augment_model_with_bundled_inputs(
            script, [(bundled_inputs.bundle_large_tensor(normalised(pixels())),)])
        script.save(str(path))
        out = self.convert(path, *NORMALISE, "--input-pixels", "uint8", "--verify")
        self.assert_takes(module, out)

    def test_the_original_on_the_cpu_takes_pixels_too(self):
        module, path = self.save(borders())
        cpu = self.folder / "cpu.pt"
        self.convert(path, *SIZES, *NORMALISE, "--input-pixels", "uint8", "--emit-cpu", cpu)
        self.assert_takes(module, cpu)


class Quantised(PixelsTest):
    def setUp(self):
        super().setUp()
        self.module, self.path = self.save(borders())
        samples = [pixels(seed=seed) for seed in range(40)]
        self.samples = self.folder / "samples.pt"
        torch.save(samples, self.samples)

    def test_all_of_it_in_integers(self):
        out = self.convert(self.path, *SIZES, *NORMALISE, "--input-pixels", "uint8", "--calibrate", self.samples,
                           "--quant", "full", "--verify")
        text = self.succeed("inspect", out).stdout
        self.assertIn("uint8[1, 12, 10, 3]", text)
        for gone in ("QUANTIZE", "FLOAT32"):
            self.assertNotIn(gone, text)
        given = pixels(seed=77)
        with torch.no_grad():
            expected, found = self.module(normalised(given)), load(out)(given).dequantize()
        error = (expected - found).pow(2).mean().sqrt() / expected.pow(2).mean().sqrt()
        self.assertLess(error.item(), 0.03)

    def test_pictures(self):
        folder = self.folder / "pictures"
        folder.mkdir()
        for seed in range(6):
            write_png(folder / f"{seed}.png", pixels(seed=seed)[0].numpy())
        out = self.convert(self.path, *SIZES, *NORMALISE, "--input-pixels", "rgba", "--calibrate", folder)
        given = torch.cat((pixels(seed=3), torch.zeros(1, 12, 10, 1, dtype=torch.uint8)), 3)
        with torch.no_grad():
            expected, found = self.module(normalised(given)), load(out)(given)
        error = (expected - found).pow(2).mean().sqrt() / expected.pow(2).mean().sqrt()
        self.assertLess(error.item(), 0.03)

    def test_floats_are_no_samples(self):
        floats = self.folder / "floats.pt"
        torch.save([normalised(pixels())], floats)
        self.fail_with(3, self.path, *SIZES, *NORMALISE, "--input-pixels", "uint8", "--calibrate", floats, "-o",
                       self.folder / "out.pt", needed=("dtype float32 found, uint8 needed",))


class Refusals(PixelsTest):
    def refuse(self, *arguments, needed, code=2):
        _, path = self.save(borders())
        out = self.folder / "out.pt"
        self.fail_with(code, path, *arguments, "-o", out, needed=needed)
        self.assertFalse(out.exists())

    def test_how_pixels_are_normalised_is_not_guessed(self):
        self.refuse(*SIZES, "--input-pixels", "uint8", needed=("--mean and --std are missing",))
        self.refuse(*SIZES, "--input-pixels", "uint8", "--mean", "0", needed=("--mean and --std are missing",))

    def test_options_that_do_not_fit(self):
        self.refuse(*SIZES, "--input-pixels", "int8", *NORMALISE, needed=("int8 found, uint8 or rgba needed",))
        self.refuse(*SIZES, "--input-pixels", "y=uint8", *NORMALISE, needed=("forward has no argument y",))
        self.refuse(*SIZES, "--input-pixels", "uint8", "--mean", "1,2", "--std", "1", needed=("1 or 3 needed",))
        self.refuse(*SIZES, "--mean", "0", needed=("--mean and --std are missing",))
        self.refuse(*SIZES, *NORMALISE, "--input-pixels", "uint8", "--method", "forward", needed=("--input-pixels",))

    def test_sizes_that_are_no_picture(self):
        self.refuse("--input", "1,12,10,3", "--input-pixels", "uint8", *NORMALISE,
                    needed=("the model takes 12 channels, 1 or 3 needed",))
        self.refuse("--input", "3,12", "--input-pixels", "uint8", *NORMALISE, needed=("rank 2, 4 needed",))


if __name__ == "__main__":
    unittest.main()
