# SPDX-License-Identifier: BSD-3-Clause
"""mAP of detectors by --sample-boxes, and numbers of a user's program by --metric."""

import json
import sys
import textwrap
import unittest
from typing import Dict

import numpy
import torch
from torch import nn

from calibrate_models import write_png
from coloured_pictures import SIZE, ColouredTest, coloured_things, normalised, save_traced, small_net
from stock_torch import call, load

NAMES = ["red", "green", "blue"]
IDS = [18, 7, 44]  # of the categories
SIDE = 4  # the pictures have so many columns more on both sides


class Finder(nn.Module):
    """Finds the one thing in a picture: [1, 3, 6], with a row for each colour."""

    def __init__(self):
        super().__init__()
        net = list(small_net(0))
        self.features = nn.Sequential(*net[:9])
        self.box = nn.Linear(16 * 36, 4)
        self.colour = nn.Linear(16 * 36, 3)
        self.register_buffer("labels", torch.arange(3).float().view(3, 1))

    def parts(self, x):
        features = self.features(x).flatten(1)
        return self.box(features) * 10, self.colour(features)

    def forward(self, x):
        box, colour = self.parts(x)
        return torch.cat((box.expand(3, 4), torch.softmax(colour, 1).view(3, 1), self.labels), 1).unsqueeze(0)


class ByName(nn.Module):
    """The same as torchvision's detectors give it."""

    def __init__(self, finder: nn.Module):
        super().__init__()
        self.finder = finder

    def forward(self, x) -> Dict[str, torch.Tensor]:
        rows = self.finder(x)[0]
        return {"boxes": rows[:, :4], "labels": rows[:, 5].to(torch.int64), "scores": rows[:, 4]}


class Apart(nn.Module):
    def __init__(self, finder: nn.Module):
        super().__init__()
        self.finder = finder

    def forward(self, x):
        rows = self.finder(x)
        return rows[0, :, 4], rows[:, :, :4], rows[0, :, 5].to(torch.int32)


def train_finder():
    torch.manual_seed(0)
    pixels, classes, boxes = coloured_things(800, seed=21)
    finder, inputs = Finder(), normalised(pixels)
    optimiser = torch.optim.Adam(finder.parameters(), 2e-3)
    for _ in range(3):
        for batch in torch.randperm(len(inputs)).split(40):
            box, colour = finder.parts(inputs[batch])
            optimiser.zero_grad()
            (nn.functional.smooth_l1_loss(box, boxes[batch]) +
             nn.functional.cross_entropy(colour, classes[batch] % 3)).backward()
            optimiser.step()
    return finder.eval()


def overlap(a, b):
    width, height = min(a[2], b[2]) - max(a[0], b[0]), min(a[3], b[3]) - max(a[1], b[1])
    both = max(width, 0) * max(height, 0)
    return both / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both)


def average_precision(found, drawn):
    """AP50 of one category by COCO's definition. `found` are (score, picture, box); `drawn` are (picture, box, crowd)."""
    wanted = [each for each in drawn if not each[2]]
    free = set(range(len(wanted)))
    verdicts = []
    for _, picture, box in sorted(found, key=lambda each: -each[0]):
        overlaps = [(overlap(box, wanted[i][1]), i) for i in free if wanted[i][0] == picture]
        best = max(overlaps, default=(0, 0))
        if best[0] >= 0.5:
            free.discard(best[1])
            verdicts.append(1)
            continue
        area = (box[2] - box[0]) * (box[3] - box[1])
        in_crowd = False
        for place, crowd, is_crowd in drawn:
            if not is_crowd or place != picture:
                continue
            width, height = min(box[2], crowd[2]) - max(box[0], crowd[0]), min(box[3], crowd[3]) - max(box[1], crowd[1])
            in_crowd = in_crowd or max(width, 0) * max(height, 0) >= 0.5 * area
        if not in_crowd:
            verdicts.append(0)
    if not verdicts:
        return 0
    right = numpy.cumsum(verdicts)
    precision, recall = right / numpy.arange(1, len(verdicts) + 1), right / len(wanted)
    return numpy.mean([precision[recall >= level].max(initial=0) for level in numpy.arange(101) / 100])


class BoxTest(ColouredTest):
    finder = None
    COUNT = 100

    def setUp(self):
        super().setUp()
        if BoxTest.finder is None:
            BoxTest.finder = train_finder()
        save_traced(BoxTest.finder, self.model)
        self.pixels, self.classes, self.boxes = coloured_things(self.COUNT, seed=22)
        self.pictures, self.report, self.out = self.folder / "pictures", self.folder / "report.json", self.folder / "out.pt"
        self.pictures.mkdir()
        self.write_pictures(zoom=1)
        self.options = [*self.SPEC, "--calibrate", self.pictures, "--mean", "0", "--std", "1", "--crop", SIZE, "--report",
                        self.report, "-o", self.out]
        self.judging = list(range(2, self.COUNT, 5))

    def write_pictures(self, zoom):
        """Each pixel becomes zoom by zoom pixels."""
        self.zoom = zoom
        wide = nn.functional.pad(self.pixels.float(), (SIDE, SIDE), value=90).to(torch.uint8)
        for i, picture in enumerate(wide.repeat_interleave(zoom, 2).repeat_interleave(zoom, 3)):
            write_png(self.pictures / f"{i:04}.png", picture.permute(1, 2, 0).numpy())

    def to_file(self, box):
        """From the pixels of the model's input to those of the file."""
        return [self.zoom * (corner + side) for corner, side in zip(box, (SIDE, 0, SIDE, 0))]

    def score(self):
        return json.loads(self.report.read_text())["calibration"]["score"]


class Boxes(BoxTest):
    def write_boxes(self, crowds=()):
        images, annotations = [], []
        for i in reversed(range(self.COUNT)):
            left, top, right, bottom = self.to_file(self.boxes[i].tolist())
            images.append({"id": 1000 + i, "file_name": f"{i:04}.png", "width": 32, "height": 24})
            annotations.append({"id": i, "image_id": 1000 + i, "category_id": IDS[self.classes[i] % 3],
                                "bbox": [left, top, right - left, bottom - top], "iscrowd": int(i in crowds)})
        images.append({"id": 1, "file_name": "elsewhere.png"})
        annotations.append({"id": 999, "image_id": 1, "category_id": 7, "bbox": [0, 0, 5, 5]})
        path = self.folder / "boxes.json"
        path.write_text(json.dumps({"images": images, "annotations": annotations, "categories": [
            {"id": number, "name": name} for number, name in zip(IDS, NAMES)]}))
        labels = self.folder / "labels.txt"
        labels.write_text("\n".join(NAMES))
        return ["--sample-boxes", path, "--labels", labels]

    def rows(self, model, i):
        result = call(model, normalised(self.pixels[i:i + 1]))
        if isinstance(result, dict):
            return torch.cat((result["boxes"], result["scores"].view(3, 1), result["labels"].float().view(3, 1)), 1)
        if isinstance(result, tuple):
            return torch.cat((result[1][0], result[0].view(3, 1), result[2].float().view(3, 1)), 1)
        return result[0]

    def reference(self, path, crowds=()):
        model = load(path)
        found = {number: [] for number in IDS}
        drawn = {number: [] for number in IDS}
        for i in self.judging:
            drawn[IDS[self.classes[i] % 3]].append((i, self.to_file(self.boxes[i].tolist()), i in crowds))
            for *box, score, label in self.rows(model, i).tolist():
                found[IDS[round(label)]].append((score, i, self.to_file(box)))
        return numpy.mean([average_precision(found[number], drawn[number]) for number in IDS])

    def assert_like_reference(self, crowds=()):
        found = self.score()
        self.assertEqual("mAP@0.5", found["name"])
        self.assertAlmostEqual(self.reference(self.model, crowds), found["float"], places=6)
        self.assertAlmostEqual(self.reference(self.out, crowds), found["integers"], places=6)
        self.assertTrue(0.3 < found["float"] < (1.01 if crowds else 1), found)

    def test_rows(self):
        text = self.succeed(self.model, *self.options, *self.write_boxes()).stdout
        self.assertIn("mAP@0.5 ", text)
        self.assert_like_reference()
        self.assertIn("mAP@0.5 ", self.succeed("inspect", self.out).stdout)

    def test_pictures_of_another_size(self):
        """Boxes go back through --resize and --crop: beside pictures of the model's size mAP changes by their blur alone."""
        self.succeed(self.model, *self.options, *self.write_boxes())
        small = self.score()["float"]
        self.write_pictures(zoom=5)
        self.succeed(self.model, *self.options, *self.write_boxes(), "--resize", SIZE)
        self.assertAlmostEqual(small, self.score()["float"], delta=0.1)
        self.assertGreater(small, 0.3)

    def test_crowds(self):
        crowds = self.judging[:8]
        self.succeed(self.model, *self.options, *self.write_boxes(crowds))
        self.assert_like_reference(crowds)

    def test_results_by_name_and_apart(self):
        for wrapper in (ByName, Apart):
            with self.subTest(wrapper.__name__):
                torch.jit.script(wrapper(torch.jit.trace(BoxTest.finder, torch.rand(1, 3, SIZE, SIZE))).eval()).save(
                    str(self.model))
                self.succeed(self.model, *self.options, *self.write_boxes())
                self.assert_like_reference()

    def test_labels_that_are_categories(self):
        boxes = self.write_boxes()[:2]
        self.succeed(self.model, *self.options, *boxes)
        self.assertEqual(0, self.score()["float"])  # 0, 1 and 2 are no categories here
        text = boxes[1].read_text()
        for label, number in enumerate(IDS):
            text = text.replace(f'"category_id": {number},', f'"category_id": {label},')
        boxes[1].write_text(text)
        self.succeed(self.model, *self.options, *boxes)
        self.assert_like_reference()

    def test_max_drop(self):
        boxes = self.write_boxes()
        self.succeed(self.model, *self.options, *boxes, "--max-drop", "2%")
        self.assertLessEqual(self.score()["float"] - self.score()["integers"], 0.02)

    def test_refusals(self):
        boxes = self.write_boxes()
        save_traced(ColouredTest.trained[:3], self.folder / "features.pt")
        self.fail_with(2, self.folder / "features.pt", *self.options, *boxes,
                       needed=["--sample-boxes: the model's results are no detections: result [1, 8, 24, 24] found"])
        path = boxes[1]
        whole = json.loads(path.read_text())
        for change, message in (({"images": []}, "no box of a picture that judges, such as 0002.png"),
                                ({"annotations": [{"image_id": 1002}]}, "no boxes in COCO's JSON")):
            path.write_text(json.dumps({**whole, **change}))
            self.fail_with(3, self.model, *self.options, *boxes, needed=[message])
        path.write_text("[")
        self.fail_with(3, self.model, *self.options, *boxes, needed=["no boxes in COCO's JSON"])
        self.fail_with(2, self.model, *self.options, *boxes, "--metric", "true", needed=["--metric"])


class Metric(BoxTest):
    def program(self, body):
        path = self.folder / "judge.py"
        path.write_text("import pathlib, sys\nimport numpy\nfolder = pathlib.Path(sys.argv[-1])\n" + textwrap.dedent(body))
        return ["--metric", f"{sys.executable} {path}"]

    def test_a_number_of_the_results(self):
        log = self.folder / "log"
        judge = self.program(f"""
            names = (folder / "samples.txt").read_text().split()
            results = [numpy.load(folder / "result" / f"sample_{{i}}.npy") for i in range(len(names))]
            number = float(sum(result[0, :, 4].max() for result in results))
            with open("{log}", "a") as log:
                print(folder.name, *names[:2], len(names), results[0].shape, results[0].dtype, number, file=log)
            print("judging")
            print(number)
            """)
        text = self.succeed(self.model, *self.options, *judge).stdout
        self.assertIn("metric ", text)
        lines = log.read_text().splitlines()
        self.assertEqual(["float 0002.png 0007.png 20 (1, 3, 6) float32", "integers 0002.png 0007.png 20 (1, 3, 6) float32"],
                         [line.rsplit(" ", 1)[0] for line in lines])
        found = self.score()
        self.assertEqual([float(line.split()[-1]) for line in lines], [found["float"], found["integers"]])
        model, out = load(self.model), load(self.out)
        for each, number in ((model, found["float"]), (out, found["integers"])):
            expected = sum(call(each, normalised(self.pixels[i:i + 1]))[0, :, 4].max().item() for i in self.judging)
            self.assertAlmostEqual(expected, number, places=3)

    def test_max_drop_is_a_share_of_floats_number(self):
        judge = self.program("""
            print(100 if folder.name == "float" else 90)
            """)
        self.succeed(self.model, *self.options, *judge, "--max-drop", "11%")
        self.fail_with(1, self.model, *self.options, *judge, "--max-drop", "9%",
                       needed=["can't be held", "metric 100 in float, 90 in integers"])

    def test_programs_that_fail(self):
        for body, message in (("sys.exit(3)", "exit code 3 found, 0 needed"), ("print('good')", "'good' found as the last line"),
                              ("", "'' found as the last line"), ("print('nan')", "'nan' found")):
            with self.subTest(message=message):
                self.fail_with(3, self.model, *self.options, *self.program(body), needed=["--metric", message])
                self.assertFalse(self.out.exists())
        self.fail_with(3, self.model, *self.options, "--metric", "/no/such/program",
                       needed=["exit code 127 found"])


if __name__ == "__main__":
    unittest.main()
