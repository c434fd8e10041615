# SPDX-License-Identifier: BSD-3-Clause
"""org.nnapiconvert, the shim's classes for Java and Kotlin, on this machine's JVM and the host's NNAPI."""

import os
import re
import shutil
import struct
import subprocess
import unittest
import zipfile
from pathlib import Path
from typing import Dict, List

import numpy
import torch
from torch import nn

from cli import HOST, LIBRARIES, ROOT, CliTest, environment
from mobile_models import seeded
from shim_library import Model, rgb, write_png
from stock_torch import call, images, load, tensors

JAR = LIBRARIES / "nnapi_shim.jar"
JUNIT = ["/usr/share/java/junit4.jar", "/usr/share/java/hamcrest.jar"]


class Several(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, x, y):
        return self.layer(x) + y, torch.relu(x - y)


class Twice(nn.Module):
    def forward(self, x):
        return torch.relu(x) + x


class Parts(nn.Module):
    """NNAPI runs the layers; which rows are kept depends on values."""

    calls: int

    def __init__(self):
        super().__init__()
        self.calls = 0
        self.layer = nn.Conv2d(3, 8, 3, padding=1)

    def forward(self, images: List[torch.Tensor], least: float = 0.0) -> Dict[str, torch.Tensor]:
        self.calls += 1
        rows = self.layer(images[0].unsqueeze(0)).mean([2])[0].t()
        kept = torch.nonzero(rows[:, 0] > rows[:, 0].mean() + least).flatten()
        return {"rows": rows[kept], "numbers": kept, "calls": torch.tensor(self.calls)}

    @torch.jit.export
    def reset_states(self):
        self.calls = 0


class Quarters(nn.Module):
    """The means of a picture's quarters, clockwise from the left one at the top, and nothing of it."""

    def forward(self, x):
        means = torch.nn.functional.avg_pool2d(x.mean(1, keepdim=True), 16).flatten(1)
        return torch.cat([means[:, 0:2], means[:, 3:4], means[:, 2:3], means[:, 0:1] * 0 - 9], 1)


class Detector(nn.Module):
    """As torchvision's detectors: a list of pictures, and a dict of boxes, scores and labels for each; of what is bright."""

    def __init__(self):
        super().__init__()
        self.blur = nn.Conv2d(3, 1, 3, padding=1, bias=False)
        with torch.no_grad():
            self.blur.weight.fill_(1 / 27)

    def forward(self, images: List[torch.Tensor]) -> List[Dict[str, torch.Tensor]]:
        found: List[Dict[str, torch.Tensor]] = []
        for image in images:
            bright = self.blur(image.unsqueeze(0))[0, 0]
            places = torch.nonzero(bright > 0.4)
            low, high = places.amin(0), places.amax(0) + 1
            box = torch.stack([low[1], low[0], high[1], high[0]]).to(torch.float32)
            found.append({"boxes": torch.stack([box, box]), "labels": torch.tensor([1, 0]),
                          "scores": torch.stack([bright.max(), bright.max() * 0.1])})
        return found


@unittest.skipUnless(shutil.which("javac"), "needs a JDK")
class JavaClasses(CliTest):
    def converted(self, source, name, *options):
        self.succeed(source, "--runtime", "shim", *options, "-o", self.folder / name)

    def save_tensors(self, name: str, kind: str, values: List[torch.Tensor]):
        for i, value in enumerate(values):
            if value.dim() == 4:
                value = value.permute(0, 2, 3, 1)
            raw = value.int_repr() if value.is_quantized else value
            (self.folder / f"{name}.{kind}{i}").write_bytes(raw.contiguous().numpy().tobytes())

    def make_files(self) -> int:
        """Writes the archives and their tensors; gives the offset of the archive within app.zip."""
        picture = images(2, 3, 16, 16)
        residual = self.fixture("residual.pt")
        self.converted(residual, "fixed.pt", "--nhwc", "--input", "2,3,16,16")
        self.converted(residual, "flexible.pt", "--nhwc", "--input", "?,3,?,?")
        self.succeed(residual, "--nhwc", "--input", "2,3,16,16", "-o", self.folder / "stock.pt")
        self.save_tensors("fixed", "in", [picture])
        self.save_tensors("fixed", "out", tensors(call(load(residual), picture)))
        several = seeded(Several).eval()
        pair = [images(4, 8, seed=1), images(4, 8, seed=2)]
        torch.jit.save(torch.jit.script(several), str(self.folder / "several_original.pt"))
        self.converted(self.folder / "several_original.pt", "several.pt", "--input", "4,8", "--input", "4,8")
        self.save_tensors("several", "in", pair)
        self.save_tensors("several", "out", tensors(call(several, *pair)))
        self.make_quantised()
        self.make_parts()
        self.make_pictures()
        self.make_detector()
        torch.jit.trace(Twice(), torch.zeros(1, 3, 8, 8)).save(str(self.folder / "twice_original.pt"))
        self.converted(self.folder / "twice_original.pt", "twice.pt", "--input", "1,3,512,512", "--nchw")
        archive = (self.folder / "fixed.pt").read_bytes()
        (self.folder / "app.zip").write_bytes(bytes(4096) + archive)
        return 4096

    def make_parts(self):
        source = self.folder / "parts_original.pt"
        torch.jit.save(torch.jit.script(seeded(Parts).eval()), str(source))
        self.converted(source, "parts.pt", "--nhwc", "--input", "images[0]=3,64,64", "--min-segment-macs", "0")
        picture = images(1, 3, 64, 64)[0]
        rows = load(source)([picture])["rows"].detach()
        self.assertTrue(0 < len(rows) < 64, "some rows are kept, and some are not")
        (self.folder / "parts.in0").write_bytes(picture.contiguous().numpy().tobytes())
        (self.folder / "parts.out0").write_bytes(rows.contiguous().numpy().tobytes())

    def make_detector(self):
        source = self.folder / "detector_original.pt"
        torch.jit.script(Detector().eval()).save(str(source))
        (self.folder / "colours.txt").write_text("black\nwhite\n")
        self.converted(source, "detector.pt", "--nhwc", "--input", "images[0]=3,64,64", "--min-segment-macs", "0", "--mean",
                       "0", "--std", "1", "--labels", self.folder / "colours.txt")

    def make_pictures(self):
        """A sample of nnapi_shim_picture_fill's inputs for four sets of options, and the sample app's classifier."""
        source = self.folder / "quarters_original.pt"
        torch.jit.trace(seeded(Quarters).eval(), torch.rand(1, 3, 32, 32)).save(str(source))
        (self.folder / "names.txt").write_text("top left\ntop right\nbottom right\nbottom left\nnothing\n")
        self.converted(source, "quarters.pt", "--nhwc", "--input", "1,3,32,32", "--mean", "0", "--std", "1",
                       "--labels", self.folder / "names.txt")
        (self.folder / "three.txt").write_text("cat\ndög\n🦊\n", encoding="utf-8")
        random = numpy.random.default_rng(45)
        (self.folder / "calibration").mkdir()
        for i in range(8):
            write_png(self.folder / f"calibration/{i}.png", random.integers(0, 256, (40, 50, 3), dtype=numpy.uint8))
        numbers = ["--mean", "0.485,0.456,0.406", "--std", "0.229,0.224,0.225"]
        ways = [["--nhwc", *numbers, "--resize", "40", "--crop", "32", "--labels", self.folder / "three.txt", "--note",
                 "author=mé"],
                ["--nchw", "--mean", "104,117,123", "--std", "1", "--pixel-max", "255", "--bgr"],
                ["--nhwc", *numbers, "--quant", "full", "--calibrate", self.folder / "calibration"],
                ["--input-pixels", "rgba", *numbers, "--resize", "32", "--crop", "32"]]
        for number, options in enumerate(ways):
            path = self.folder / f"pictures{number}.pt"
            self.converted(source, path.name, "--input", "1,3,32,32", *options)
            model = Model(path)
            tensor = model.input([1, 32, 32, 4] if "--input-pixels" in options else [1, 3, 32, 32])
            content = b""
            for i in range(40):
                height, width = random.integers(8, 120, 2)
                pixels = random.integers(0, 256, (height, width, 3), dtype=numpy.uint8)
                filled = model.fill(rgb(pixels, rotation=90 * (i % 4)), tensor)
                content += struct.pack("<3i", width, height, 90 * (i % 4)) + pixels.tobytes() + filled.tobytes()
            (self.folder / f"pictures{number}.bin").write_bytes(content)
            model.close()

    def make_quantised(self):
        source = self.fixture("quant_quint8_bundled.pt")
        self.converted(source, "quantised.pt", "--nhwc", "--quant", "full")
        original = load(source)
        x = original.get_all_bundled_inputs()[0][0]
        self.save_tensors("quantised", "in", [x])
        self.save_tensors("quantised", "out", tensors(call(original, x)))

    def test_junit(self):
        offset = self.make_files()
        classes = self.folder / "classes"
        classes.mkdir()
        sources = [*(ROOT / "tests" / "java").rglob("*.java"), *(ROOT / "lib/shim_java/android").rglob("*.java"),
                   *(ROOT / "lib/shim_files/app/sample").rglob("*.java")]
        path = os.pathsep.join([str(JAR), *JUNIT])
        self.run_java("javac", "-Xlint:all", "-Werror", "-cp", path, "-d", classes, *sources)
        done = self.run_java("java", "-Xcheck:jni", f"-Dfolder={self.folder}", f"-Doffset={offset}",
                             f"-Djava.library.path={LIBRARIES}", "-cp", os.pathsep.join([str(classes), path]),
                             "org.junit.runner.JUnitCore", "org.nnapiconvert.NnapiModelTest",
                             "org.nnapiconvert.NnapiMemoryTest", "org.nnapiconvert.NnapiPictureTest",
                             "org.nnapiconvert.NnapiTrialTest", "org.nnapiconvert.sample.SampleTest")
        self.assertRegex(done.stdout, r"OK \([45][0-9] tests\)")
        self.assertNotIn("WARNING", done.stdout)

    def test_the_docs_lines_compile(self):
        """Each block of Java in the docs, as pasted; those in Kotlin have tests/integrations/kotlin_test.py."""
        blocks = [block for page in sorted((ROOT / "docs").glob("*.md"))
                  for block in re.findall(r"```java\n(.*?)```", page.read_text(), re.DOTALL)]
        self.assertTrue(any("NnapiTrial.run(" in block for block in blocks))
        android = [*(ROOT / "tests/java/android").rglob("*.java"), *(ROOT / "lib/shim_java/android").rglob("*.java")]
        annotations = (ROOT / "lib/shim_java/annotations").rglob("*.java")
        for number, block in enumerate(blocks):
            source = self.folder / f"block{number}" / f"{re.search('class ([A-Za-z]+)', block)[1]}.java"
            source.parent.mkdir()
            source.write_text(block)
            self.run_java("javac", "-Xlint:all", "-Werror", "-cp", os.pathsep.join([str(JAR), *JUNIT]), "-d",
                          self.folder / f"classes{number}", *android, *annotations, source)

    def run_java(self, *command) -> subprocess.CompletedProcess:
        done = subprocess.run(list(map(str, command)), env=environment({"LD_LIBRARY_PATH": str(HOST)}),
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=500)
        self.assertEqual(0, done.returncode, done.stdout)
        return done


@unittest.skipUnless(shutil.which("proguard") and shutil.which("javac"), "needs ProGuard and a JDK")
class ShrunkClasses(CliTest):
    """The module's rules for R8 keep what native code names, and let all else be renamed."""

    def test_shrunk_app_runs(self):
        self.succeed(self.fixture("residual.pt"), "--nhwc", "--input", "2,3,16,16", "--runtime", "shim",
                     "-o", self.folder / "fixed.pt")
        (self.folder / "bad.pt").write_bytes(b"123")
        done = self.run_shrunk(ROOT / "lib/shim_java/consumer-rules.pro")
        self.assertRegex(done.stdout, r"^results \d+ nnapi\b.* 1\nBAD_MODEL 0 .*\ncut off 2\n$")
        with zipfile.ZipFile(self.folder / "shrunk.jar") as jar:
            names = [name for name in jar.namelist() if name.startswith("org/nnapiconvert/Nnapi")]
        kept = [f"org/nnapiconvert/{name}.class" for name in ("NnapiException", "NnapiModel", "NnapiReader")]
        self.assertEqual(kept, sorted(name for name in names if "$" not in name))

    def run_shrunk(self, rules) -> subprocess.CompletedProcess:
        classes = self.folder / "app"
        classes.mkdir()
        source = ROOT / "tests/java/org/nnapiconvert/shrunk/ShrunkApp.java"
        self.run_command("javac", "--release", "8", "-Xlint:-options", "-cp", JAR, "-d", classes, source)
        self.run_command("proguard", "-injars", classes, "-injars", JAR, "-outjars", self.folder / "shrunk.jar",
                         "-libraryjars", self.platform_classes(), "-include", rules, "-dontnote",
                         "-keep", "class org.nnapiconvert.shrunk.ShrunkApp { public static void main(java.lang.String[]); }")
        return self.run_command("java", "-Xcheck:jni", f"-Djava.library.path={LIBRARIES}", "-cp",
                                self.folder / "shrunk.jar", "org.nnapiconvert.shrunk.ShrunkApp", self.folder / "fixed.pt",
                                self.folder / "bad.pt")

    def platform_classes(self) -> Path:
        """The classes of Java 8 as the JDK's compiler knows them, with that version's number, as ProGuard reads no newer."""
        symbols = Path(shutil.which("javac")).resolve().parents[1] / "lib/ct.sym"
        platform = self.folder / "java8.jar"
        with zipfile.ZipFile(symbols) as known, zipfile.ZipFile(platform, "w") as jar:
            for name in known.namelist():
                release, *parts = name.split("/")
                if "8" in release and name.endswith(".sig") and "java.base" in parts[:1]:
                    content = known.read(name)
                    jar.writestr("/".join(parts[1:]).replace(".sig", ".class"),
                                 content[:6] + (52).to_bytes(2, "big") + content[8:])
        return platform

    def run_command(self, *command) -> subprocess.CompletedProcess:
        done = subprocess.run(list(map(str, command)), env=environment({"LD_LIBRARY_PATH": str(HOST)}),
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
        self.assertEqual(0, done.returncode, done.stdout)
        return done


if __name__ == "__main__":
    unittest.main()
