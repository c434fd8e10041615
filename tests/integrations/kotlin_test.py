# SPDX-License-Identifier: BSD-3-Clause
"""Lines in Kotlin are compiled: those of the docs, and those that --emit-kotlin writes, which also run, on the host's NNAPI.
The classes are those of org.nnapiconvert and of PyTorch's Android packages, and this project's stand-ins for Android's.

NNAPI_CONVERT_KOTLIN is a folder with kotlin-compiler-embeddable and what it needs, in jars, and PyTorch's two packages (.aar).
NNAPI_CONVERT_BUILD is a build folder."""

import os
import re
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path
from typing import Dict, List

import numpy
import torch
from torch import nn

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("NNAPI_CONVERT_BUILD", ROOT / "build/release"))
PROGRAM = BUILD / "bin/nnapi-convert"
sys.path.insert(0, str(ROOT / "tests/tools"))

from starting_models import Classes  # noqa: E402

KOTLIN = os.environ.get("NNAPI_CONVERT_KOTLIN", "")
JUNIT = ["/usr/share/java/junit4.jar", "/usr/share/java/hamcrest.jar"]
# What an app has where the docs show some lines of it.
AROUND = """
import android.content.Context
import java.nio.ByteBuffer
import org.nnapiconvert.*

class ImageInfo(val rotationDegrees: Int)

fun lines(context: Context, model: NnapiModel, pixels: FloatArray, input: ByteBuffer, output: ByteBuffer, image: android.media.Image,
          imageInfo: ImageInfo, picture: NnapiPicture) {
    run {
%s
    }
}
"""


def snippets():
    """Yields the name of a file, and its lines in Kotlin that use the classes."""
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for number, lines in enumerate(re.findall(r"```kotlin\n(.*?)```", page.read_text(), re.DOTALL)):
            uses = "org.nnapiconvert" in lines or re.search(r"\bNnapi\w+\b|\bmodel\.(run|call)\(", lines)
            if uses and "org.pytorch" not in lines and "CompiledModel" not in lines:
                yield f"{page.stem.replace('-', '_')}{number}", lines


@unittest.skipUnless(KOTLIN, "NNAPI_CONVERT_KOTLIN names no folder with Kotlin's compiler")
class KotlinTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.classes = cls.folder / "classes"
        sources = [path for name in ("lib/shim_java/annotations", "lib/shim_java/java", "lib/shim_java/android", "tests/java/android")
                   for path in (ROOT / name).rglob("*.java")]
        subprocess.run(["javac", "-cp", os.pathsep.join(JUNIT), "-d", cls.classes, *sources], check=True)
        packages = []
        for name in ("pytorch_android", "pytorch_android_lite"):  # LiteModuleLoader is in the latter alone
            (package,) = Path(KOTLIN).glob(f"{name}-*.aar")
            with zipfile.ZipFile(package) as content:
                packages.append(content.extract("classes.jar", cls.folder / name))
        (cls.library,) = Path(KOTLIN).glob("kotlin-stdlib-[0-9]*.jar")
        cls.path = os.pathsep.join(map(str, [cls.library, cls.classes, *packages]))

    def compile(self, files):
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        for name, content in files.items():
            (folder / f"{name}.kt").write_text(content)
        compiler = os.pathsep.join(map(str, sorted(Path(KOTLIN).glob("*.jar"))))
        self.out = folder / "out"
        return subprocess.run(
            ["java", "-cp", compiler, "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler", "-no-stdlib", "-no-reflect", "-Xsuppress-version-warnings",
             "-Werror", "-cp", self.path, "-d", self.out, *sorted(folder.glob("*.kt"))],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)


class DocsLines(KotlinTest):
    def test_the_docs_lines(self):
        found = dict(snippets())
        self.assertLessEqual({"README0", "android0", "methods0", "pictures0", "pictures1", "shim0"}, set(found))
        files = {}
        for name, lines in found.items():
            # A whole file, or lines of one; each is in a package of its own.
            content = lines if "import " in lines else AROUND % lines
            files[name] = f"package {name}\n{content}"
        self.assertIn("import org.nnapiconvert.NnapiModel", found["android0"], "as pasted, with all that it needs")
        done = self.compile(files)
        self.assertEqual(0, done.returncode, done.stdout)

    def test_null_is_known(self):
        """What may be null needs a check, and what never is null needs none."""
        good = ("import org.nnapiconvert.*\nfun a(score: NnapiScore, model: NnapiModel): String = "
                "(score.label ?: model.state()) + model.labels()[0].length\nfun b() = NnapiOptions().device(null).toString().length\n")
        self.assertEqual(0, self.compile({"good": good}).returncode)

    def test_null_is_refused(self):
        for line, error in (("fun c(score: NnapiScore): Int = score.label.length", "only safe"),
                            ("fun d(model: NnapiModel) = model.call(null, emptyMap())", "null can"),
                            ("fun e(model: NnapiModel): String = model.labels()[0] ?: 5", "mismatch")):
            with self.subTest(line):
                done = self.compile_one(line)
                self.assertNotEqual(0, done.returncode)
                self.assertIn(error, done.stdout.lower())

    def compile_one(self, line):
        return self.compile({"bad": f"import org.nnapiconvert.*\n{line}\n"})


class Found(nn.Module):
    """NNAPI runs the layer; which rows are kept depends on values."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, batch: Dict[str, torch.Tensor], rows: List[torch.Tensor], fun: torch.Tensor) -> Dict[str, torch.Tensor]:
        values = self.layer(batch["a value"]) + rows[0] + fun
        return {"values": values[torch.nonzero(values[:, 0] > 0).flatten()], "all": values}

    @torch.jit.export
    def encode(self, x):
        return self.layer(x).relu()


class Kinds(nn.Module):
    def forward(self, whole, bytes, flags, wide):
        return whole + bytes.to(torch.int32), torch.where(flags, wide, -wide)


MAIN = """
import android.content.Context
import org.nnapiconvert.NnapiPicture
import java.nio.ByteBuffer

fun main() {
    val numbers = FloatArray(3 * 32 * 32) { (it % 17) / 17f - 0.4f }
    Classes(Context()).use { model ->
        println("classes " + model.run(numbers).joinToString(" "))
        val pixels = ByteBuffer.allocateDirect(3 * 48 * 60)
        for (i in 0 until pixels.capacity()) pixels.put(i, (i * 7 % 256).toByte())
        model.run(NnapiPicture.rgb(pixels, 60, 48, 180)).use { result ->
            println("picture " + result.get("").floats().joinToString(" "))
        }
    }
    val rows = FloatArray(6 * 8) { (it % 5) / 5f - 0.3f }
    Found(Context()).use { model ->
        model.run(rows, rows, rows).use { result ->
            println("found " + result.get("all").floats().joinToString(" ") + " " + result.get("values").sizes()[0])
        }
    }
    Methods(Context()).use { println("methods " + it.encode(rows).joinToString(" ")) }
    Open(Context()).use { println("open " + it.run(numbers + numbers + numbers, longArrayOf(1, 3, 48, 64)).joinToString(" ")) }
}
"""


class EmittedClasses(KotlinTest):
    def convert(self, model, name, *options, suffix=".pt"):
        source = self.folder / f"{name}_original.pt"
        torch.manual_seed(7)
        torch.jit.script(model().eval()).save(str(source))
        done = subprocess.run([PROGRAM, source, *map(str, options), "-o", self.folder / (name + suffix), "--emit-kotlin",
                               self.folder / f"{name}.kt"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
        self.assertEqual(0, done.returncode, done.stdout)
        return (self.folder / f"{name}.kt").read_text()

    def test_it_runs(self):
        names = self.folder / "names.txt"
        names.write_text("cat\ndog\nfox\n")
        sizes, shim = ("--nhwc", "--input", "1,3,32,32"), ("--runtime", "shim")
        dictionary = ("--input", 'batch["a value"]=6,8', "--input", "rows[0]=6,8", "--input", "fun=6,8", "--min-segment-macs", "0")
        files = {
            "classes": self.convert(Classes, "classes", *sizes, *shim, "--mean", "0.4,0.5,0.6", "--std", "0.3", "--resize", "40",
                                    "--crop", "32", "--labels", names),
            "found": self.convert(Found, "found", *shim, *dictionary),
            "methods": self.convert(Found, "methods", *shim, "--method", "encode", "--input", "6,8", "--min-segment-macs", "0"),
            "open": self.convert(Classes, "open", *shim, "--nhwc", "--input", "1,3,?,?"),
            "main": MAIN}
        done = self.compile(files)
        self.assertEqual(0, done.returncode, done.stdout)
        libraries = BUILD / "lib"
        done = subprocess.run(["java", f"-Dfolder={self.folder}", f"-Djava.library.path={libraries}", "-cp",
                               os.pathsep.join([self.path, str(self.out)]), "MainKt"], stdout=subprocess.PIPE, text=True, check=True,
                              timeout=300, env={**os.environ, "LD_LIBRARY_PATH": str(libraries / "host")})
        found = {line.split()[0]: numpy.array(line.split()[1:], "float32") for line in done.stdout.splitlines()}
        numbers = torch.arange(3 * 32 * 32) % 17 / 17 - 0.4
        rows = (torch.arange(48) % 5 / 5 - 0.3).reshape(6, 8)

        def original(name):
            return torch.jit.load(str(self.folder / f"{name}_original.pt"))

        with torch.no_grad():
            everything = original("found")({"a value": rows}, [rows], rows)
            expected = {"classes": original("classes")(numbers.reshape(1, 3, 32, 32)),
                        "found": torch.cat([everything["all"].flatten(), torch.tensor([float(len(everything["values"]))])]),
                        "methods": original("methods").encode(rows),
                        "open": original("open")(numbers.repeat(3).reshape(1, 3, 48, 64))}
        self.assertTrue(0 < len(everything["values"]) < 6)
        for name, value in expected.items():
            with self.subTest(name):
                self.assertGreater(value.std(), 1e-3)
                self.assertLess(abs(found[name] - value.numpy().ravel()).max(), 1e-4)
        self.assertEqual(3, len(set(found["picture"])))

    def test_it_is_compiled_for_pytorchs_loader(self):
        sizes = ("--nhwc", "--input", "1,3,32,32")
        kinds = ("--input", "4:int32", "--input", "4:uint8", "--input", "4:bool", "--input", "4:int64")
        files = {"classes": self.convert(Classes, "classes", *sizes),
                 "lite": self.convert(Classes, "lite", *sizes, suffix=".ptl"),
                 "found": self.convert(Found, "found", "--input", 'batch["a value"]=6,8', "--input", "rows[0]=6,8", "--input", "fun=6,8",
                                       "--min-segment-macs", "0"),
                 "methods": self.convert(Found, "methods", "--method", "encode", "--input", "?,8", "--min-segment-macs", "0"),
                 "kinds": self.convert(Kinds, "kinds", *kinds, "--min-segment-macs", "0"),
                 "kindsshim": self.convert(Kinds, "kindsshim", *kinds, "--min-segment-macs", "0", "--runtime", "shim")}
        done = self.compile(files)
        self.assertEqual(0, done.returncode, done.stdout)


if __name__ == "__main__":
    unittest.main()
