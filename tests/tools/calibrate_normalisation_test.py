# SPDX-License-Identifier: BSD-3-Clause
"""Pictures that are normalised otherwise than in training are noticed, and the right choice is named."""

import unittest

import torch

from coloured_pictures import (IMAGENET, ORDER, ColouredTest, coloured_pictures, normalised, save_traced, small_net, train,
                               write_folders)

NOTICE = "may be wrong"
CHOICES = {"--mean 0.485,0.456,0.406 --std 0.229,0.224,0.225": {"mean": IMAGENET[0], "std": IMAGENET[1]},
           "--mean 0 --std 1": {},
           "--mean 0.5 --std 0.5": {"mean": (0.5,), "std": (0.5,)},
           "--mean 0 --std 1 --pixel-max 255": {"pixel_max": 255}}
TEXTS = list(CHOICES)
NETWORKS = 10


class Normalisation(ColouredTest):
    def setUp(self):
        super().setUp()
        self.pixels, self.classes = coloured_pictures(64, seed=7)
        self.pictures = self.folder / "pictures"
        self.labels = self.folder / "labels.txt"
        self.labels.write_text("\n".join(ORDER))

    def write_pictures(self, names):
        write_folders(self.pictures, self.pixels, self.classes, names)

    def warning(self, options, *others):
        """The line of the warning; empty without one."""
        result = self.succeed(self.model, *self.SPEC, "--calibrate", self.pictures, *options.split(), *others, "--without",
                              "refine-ranges", "--without", "equalise", "-o", self.folder / "out.pt")
        lines = [line for line in result.stderr.splitlines() if NOTICE in line]
        self.assertLessEqual(len(lines), 1)
        return lines[0] if lines else ""

    def test_ten_networks(self):
        """Wrong mean and std, and swapped colours, are named in nine of ten at least; never on right ones."""
        self.write_pictures(["pictures"] * 6)
        pixels, classes = coloured_pictures(1200, seed=8)
        named_norm = named_colours = 0
        for number in range(NETWORKS):
            right, is_bgr = TEXTS[number % 3], number % 4 == 3
            wrong = TEXTS[(number + 1 + number // 3) % 4]
            wrong = TEXTS[3] if wrong == right else wrong
            torch.manual_seed(number)
            net = train(small_net(number), normalised(pixels, **CHOICES[right], bgr=is_bgr), classes, number, epochs=4)
            save_traced(net, self.model)
            swapped, colours = (right, right + " --bgr") if is_bgr else (right + " --bgr", right)
            with self.subTest(number=number, right=colours):
                self.assertEqual("", self.warning(colours))
            named_norm += f"; {colours} fits best" in self.warning(wrong + (" --bgr" if is_bgr else ""))
            named_colours += f"; {colours} fits best" in self.warning(swapped)
        self.assertGreaterEqual(named_norm, 0.9 * NETWORKS)
        self.assertGreaterEqual(named_colours, 0.9 * NETWORKS)

    def test_classifiers_without_batch_norms(self):
        """By the classes of the pictures."""
        self.write_pictures(ORDER)
        with torch.no_grad():
            traced = torch.jit.trace(ColouredTest.trained, torch.rand(1, 3, 24, 24))
        torch.jit.freeze(traced.eval()).save(str(self.model))  # folds them
        text = self.warning(TEXTS[1], "--labels", self.labels)
        self.assertIn("the float model gets no more of 32 pictures right than by chance", text)
        self.assertIn(f"; with {TEXTS[0]} it gets ", text)
        self.assertEqual("", self.warning(TEXTS[0], "--labels", self.labels))

    def test_wrong_classes(self):
        self.write_pictures(ORDER[1:] + ORDER[:1])
        with torch.no_grad():
            traced = torch.jit.trace(ColouredTest.trained, torch.rand(1, 3, 24, 24))
        torch.jit.freeze(traced.eval()).save(str(self.model))
        self.assertTrue(self.warning(TEXTS[0], "--labels", self.labels).endswith("or the classes may be wrong"))

    def test_networks_that_were_never_trained(self):
        """Their batch norms know nothing."""
        self.write_pictures(["pictures"] * 6)
        torch.manual_seed(0)
        save_traced(small_net(0).eval(), self.model)
        self.assertEqual("", self.warning(TEXTS[1]))

    def test_tensors_are_as_they_are(self):
        torch.save(list(normalised(self.pixels, pixel_max=255).unsqueeze(1)), str(self.folder / "data.pt"))
        self.pictures = self.folder / "data.pt"
        self.assertEqual("", self.warning(""))


if __name__ == "__main__":
    unittest.main()
