# SPDX-License-Identifier: BSD-3-Clause
"""Accuracy by the classes of --calibrate's samples: where classes are from, what is counted, and what --max-drop proves."""

import json
import re
import unittest

import numpy
import torch
from torch import nn

from coloured_pictures import IMAGENET, ORDER, ColouredTest, coloured_pictures, normalised, write_folders
from stock_torch import call, load


def held_back(count, every=5, most=200):
    return list(range(every // 2, count, every))[:most]


class Accuracy(ColouredTest):
    COUNT = 160

    def setUp(self):
        super().setUp()
        self.pixels, self.classes = coloured_pictures(self.COUNT, seed=2)
        self.classes[::6] = (self.classes[::6] + 1) % 6  # so that nothing is right on all of them
        self.pictures = self.folder / "pictures"
        self.paths = write_folders(self.pictures, self.pixels, self.classes, ORDER)
        self.labels = self.folder / "labels.txt"
        self.labels.write_text("\n".join(ORDER) + "\n")
        self.out = self.folder / "out.pt"
        self.report = self.folder / "report.json"

    def calibrate(self, source, *options, norm=None):
        return self.succeed(self.model, *self.SPEC, "--calibrate", source, *(self.NORM if norm is None else norm), *options,
                            "--report", self.report, "-o", self.out)

    def accuracy(self):
        return json.loads(self.report.read_text())["calibration"]["accuracy"]

    def recount(self, order):
        """What a loop in Python finds; `order` are the numbers of the pictures as the command takes them."""
        judging = [order[i] for i in held_back(len(order))]
        floats, integers = load(self.model), load(self.out)
        right = [0, 0]
        alone = [0, 0]
        for i in judging:
            picture = normalised(self.pixels[i:i + 1], *IMAGENET)
            of_float = call(floats, picture).argmax().item() == self.classes[i].item()
            of_integers = call(integers, picture).argmax().item() == self.classes[i].item()
            right = [right[0] + of_float, right[1] + of_integers]
            alone = [alone[0] + (of_float and not of_integers), alone[1] + (of_integers and not of_float)]
        return {"samples": len(judging), "right": dict(zip(("float", "integers"), right)),
                "right_alone": dict(zip(("float", "integers"), alone))}

    def assert_counted(self, order):
        found, expected = self.accuracy(), self.recount(order)
        self.assertEqual(expected, {key: found[key] for key in expected})
        self.assertEqual(found["float"], expected["right"]["float"] / expected["samples"])
        self.assertTrue(0.4 < found["float"] < 1, found)

    def by_path(self):
        return sorted(range(self.COUNT), key=lambda i: self.paths[i])

    def test_folders_by_labels(self):
        text = self.calibrate(self.pictures, "--labels", self.labels).stdout
        self.assertIn("classes by the folders' names, as --labels has them\n", text)
        self.assert_counted(self.by_path())
        found = self.accuracy()
        line = re.search(r"accuracy on (\d+) samples: ([\d.]+)% in float, ([\d.]+)% in integers, (-?[\d.]+) points lost "
                         r"\((-?[\d.]+) to (-?[\d.]+)\)\n", text).groups()
        self.assertEqual(found["samples"], int(line[0]))
        for place, value in enumerate((found["float"], found["integers"], found["float"] - found["integers"],
                                       *found["loss_interval"])):
            self.assertAlmostEqual(100 * value, float(line[place + 1]), delta=0.0051)
        self.assertIn("; accuracy on 32 of them: ", self.succeed("inspect", self.out).stdout)

    def test_folders_in_sorted_order(self):
        """The folders' order is the model's where they are named so, and the command says what it takes."""
        names = [f"{i}-{name}" for i, name in enumerate(ORDER)]
        folder = self.folder / "sorted"
        self.paths = write_folders(folder, self.pixels, self.classes, names)
        text = self.calibrate(folder).stdout
        self.assertIn("classes by the folders' names in sorted order: 0-ball-red is 0, 5-box-blue is 5\n", text)
        self.assert_counted(self.by_path())
        self.calibrate(self.pictures)  # whose order is another one
        self.assertLess(self.accuracy()["float"], 0.5)

    def test_lists(self):
        order = list(range(self.COUNT))
        for separator, label in (("\t", ORDER), (" ", [str(i) for i in range(6)]), ("\t  ", [f"{i} " for i in range(6)])):
            with self.subTest(separator=separator):
                lines = [f"{path.relative_to(self.folder)}{separator}{label[self.classes[i]]}"
                         for i, path in enumerate(self.paths)]
                (self.folder / "list.txt").write_text("\n".join(lines) + "\n")
                text = self.calibrate(self.folder / "list.txt", "--labels", self.labels).stdout
                self.assertIn("classes by the list\n", text)
                self.assert_counted(order)

    def test_files_of_labels(self):
        file = self.folder / "classes.csv"
        number = [str(label) for label in self.classes.tolist()]
        name = [ORDER[label] for label in self.classes.tolist()]
        whole = [str(path) for path in self.paths]
        relative = [str(path.relative_to(self.pictures)) for path in self.paths]
        plain = [path.name for path in self.paths]
        backwards = range(self.COUNT - 1, -1, -1)
        cases = {"by path": [f"{whole[i]} {number[i]}" for i in backwards],
                 "by path in the folder": [f"{relative[i]},{name[i]}" for i in backwards],
                 "by file, with others": ["other.png\t3"] + [f"{plain[i]}\t{number[i]}" for i in backwards],
                 "in order": [number[i] for i in self.by_path()],
                 "in order, names": [name[i] for i in self.by_path()]}
        for case, lines in cases.items():
            with self.subTest(case):
                file.write_text("\r\n".join(lines))
                text = self.calibrate(self.pictures, "--labels", self.labels, "--sample-labels", file).stdout
                self.assertIn("classes by --sample-labels\n", text)
                self.assert_counted(self.by_path())

    def test_few_samples_tell_no_loss(self):
        """Of 24 samples one is four points: only what agrees is told, on the page, too."""
        self.pixels, self.classes = self.pixels[:120], self.classes[:120]
        for path in self.paths[120:]:
            path.unlink()
        self.paths = self.paths[:120]
        text = self.calibrate(self.pictures, "--labels", self.labels, "--report", self.folder / "page.html").stdout
        self.assertNotIn("points", text)
        found = self.accuracy()
        agreed = 24 - sum(found["right_alone"].values())
        line = (f"{found['right']['float']} of 24 right in float, {found['right']['integers']} in integers, both alike on "
                f"{agreed}; 30 or more tell what is lost")
        self.assertIn(f"accuracy on 24 samples: {line}\n", text)
        self.assertIn(line, self.succeed("inspect", self.out).stdout)

    def test_some_without_a_class(self):
        file = self.folder / "classes.txt"
        file.write_text("\n".join(f"{path} {label}" for path, label in zip(self.paths[:60], self.classes.tolist())))
        text = self.calibrate(self.pictures, "--sample-labels", file).stdout
        self.assertIn("classes by --sample-labels; 100 of 160 samples have none\n", text)
        judging = [i for i in (self.by_path()[j] for j in held_back(self.COUNT)) if i < 60]
        self.assertEqual(len(judging), self.accuracy()["samples"])

    def test_tensors(self):
        inputs = normalised(self.pixels, *IMAGENET)
        numpy.save(self.folder / "data.npy", inputs.numpy())
        file = self.folder / "classes.txt"
        file.write_text("\n".join(map(str, self.classes.tolist())))
        self.calibrate(self.folder / "data.npy", "--sample-labels", file, norm=[])
        self.assert_counted(list(range(self.COUNT)))

    def test_a_model_in_parts(self):
        class Parts(nn.Module):
            def __init__(self, net):
                super().__init__()
                self.net = net

            def forward(self, x):
                scores = self.net(x)
                return torch.linalg.inv(torch.eye(6, device=x.device)) @ scores.view(6, 1), scores.sum()

        class Scores(nn.Module):
            def __init__(self, net):
                super().__init__()
                self.parts = Parts(net)

            def forward(self, x):
                return self.parts(x)[0]

        self.model = self.folder / "parts.pt"
        with torch.no_grad():
            torch.jit.trace(Scores(ColouredTest.trained), torch.rand(1, 3, 24, 24)).save(str(self.model))
        self.calibrate(self.pictures, "--labels", self.labels)
        self.assert_counted(self.by_path())

    def test_the_table_has_the_accuracy(self):
        table = self.folder / "table.json"
        self.calibrate(self.pictures, "--labels", self.labels, "--calibration", table)
        again = self.folder / "again" / "out.pt"
        again.parent.mkdir()
        text = self.succeed(self.model, *self.SPEC, "--calibration", table, "--labels", self.labels, "-o", again).stdout
        self.assertIn("accuracy on 32 samples, as the table has it: ", text)
        self.assertEqual(self.out.read_bytes(), again.read_bytes())

    def test_what_is_not_guessed(self):
        """Folders that may mean something else are told, and no accuracy is printed."""
        self.pixels, self.classes = coloured_pictures(44, seed=3)
        folders = self.folder / "eleven"
        write_folders(folders, self.pixels, torch.arange(44) % 11, [str(i) for i in range(11)])
        eleven = nn.Sequential(*list(ColouredTest.trained)[:-1], nn.Linear(16, 11))
        for model, source, options, message in (
                (ColouredTest.trained, folders, [], "no accuracy: the pictures lie in 11 folders, and the model has 6 classes"),
                (eleven, folders, [], "no accuracy: the 11 folders have numbers as names"),
                (ColouredTest.trained, folders, ["--labels", self.labels], "no accuracy: no folder has the name of a class"),
                (ColouredTest.trained, self.pictures / "box-red", [],
                 "no accuracy: the samples' classes are not known: no --sample-labels, and no folder for each class\n"),
                (nn.Sequential(*list(ColouredTest.trained)[:3]), self.pictures, [],
                 "no accuracy: no results of the model tell a class; --metric or --sample-boxes")):
            with self.subTest(message=message):
                with torch.no_grad():
                    torch.jit.trace(model, torch.rand(1, 3, 24, 24)).save(str(self.model))
                text = self.calibrate(source, *options).stdout
                self.assertNotIn("accuracy on", text)
                self.assertEqual(1, text.count(message), text)

    def test_bad_labels(self):
        file = self.folder / "classes.txt"
        options = [self.model, *self.SPEC, *self.NORM, "--calibrate", self.pictures, "--sample-labels", file, "-o", self.out]
        first = self.paths[0]
        cases = (("1\n2\n", "2 lines found and 160 samples in"),
                 ("\n".join(["6"] * 160), "line 1: class '6' found, needed is a number from 0 to 5; with --labels FILE"),
                 (f"{first} dog", "class 'dog' found"), (f"{first} 1\n{first} 2", "has another class in a line before"),
                 (f"{first} 1\n3", "'3' found, a path and a class needed"))
        for text, message in cases:
            with self.subTest(message=message):
                file.write_text(text)
                self.fail_with(3, *options, needed=["--sample-labels", message])
        file.unlink()
        self.fail_with(3, *options, needed=["can't read"])
        file.write_text(f"{first} dog")
        self.fail_with(3, *options, "--labels", self.labels, needed=["or a name of --labels"])
        self.fail_with(2, self.model, *self.SPEC, "--sample-labels", file, "-o", self.out, needed=["--calibrate is missing"])

    def test_models_without_classes(self):
        file = self.folder / "classes.txt"
        file.write_text("\n".join(["0"] * self.COUNT))
        with torch.no_grad():
            torch.jit.trace(ColouredTest.trained[:3], torch.rand(1, 3, 24, 24)).save(str(self.model))
        options = [self.model, *self.SPEC, *self.NORM, "--calibrate", self.pictures, "-o", self.out]
        self.fail_with(2, *options, "--sample-labels", file, needed=["0 outputs of the model tell a class, one needed"])
        self.assertNotIn("accuracy on", self.succeed(*options).stdout)


class Fragile(nn.Module):
    """Channels differ 10,000 times in size, so that one scale for each tensor costs accuracy."""

    def __init__(self, net):
        super().__init__()
        self.net = net
        self.factor = nn.Parameter(torch.logspace(0, 4, 16).view(1, 16, 1, 1))
        self.spread = nn.Conv2d(16, 16, 1, groups=16, bias=False)
        nn.init.ones_(self.spread.weight)

    def forward(self, x):
        x = self.spread(self.net[:6](x) * self.factor) / self.factor
        return self.net[6:](x)


class MaxDrop(ColouredTest):
    def setUp(self):
        super().setUp()
        self.model = self.folder / "fragile.pt"
        with torch.no_grad():
            torch.jit.trace(Fragile(ColouredTest.trained).eval(), torch.rand(1, 3, 24, 24)).save(str(self.model))

    def options(self, count, seed):
        pixels, classes = coloured_pictures(count, seed)
        numpy.save(self.folder / "data.npy", normalised(pixels, *IMAGENET).numpy())
        (self.folder / "classes.txt").write_text("\n".join(map(str, classes.tolist())))
        return [self.model, *self.SPEC, "--calibrate", self.folder / "data.npy", "--sample-labels",
                self.folder / "classes.txt", "--without", "equalise", "--without", "refine-ranges", "-o",
                self.folder / "out.pt"]

    def test_too_few(self):
        self.fail_with(1, *self.options(60, 5), "--max-drop", "5%",
                       needed=["--max-drop 5%: 30 samples held back can't prove it", "73 are needed: give 146 samples"])

    def test_holds_on_others_in_19_of_20_seeds(self):
        """The samples that judge here had no part in the choice."""
        pixels, classes = coloured_pictures(2000, seed=1000)
        inputs = normalised(pixels, *IMAGENET)

        def right(model):
            return numpy.array([call(model, inputs[i:i + 1]).argmax().item() == classes[i].item() for i in range(len(inputs))])

        of_float = right(load(self.model)).mean()
        held = needed = 0
        for seed in range(20):
            text = self.succeed(*self.options(300, 100 + seed), "--max-drop", "5%").stdout
            needed += "left float to hold the target" in text
            lost = of_float - right(load(self.folder / "out.pt")).mean()
            held += lost <= 0.05
        self.assertGreaterEqual(held, 19)
        self.assertGreater(needed, 2, "all operations in integers must lose more in some")


if __name__ == "__main__":
    unittest.main()
