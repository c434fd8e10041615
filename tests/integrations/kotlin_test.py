# SPDX-License-Identifier: BSD-3-Clause
"""The docs' lines in Kotlin are compiled, against the classes of org.nnapiconvert and this project's stand-ins for Android's.

NNAPI_CONVERT_KOTLIN is a folder with kotlin-compiler-embeddable and what it needs, in jars."""

import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
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
class KotlinLines(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = Path(folder.name)
        cls.classes = cls.folder / "classes"
        sources = [path for name in ("lib/shim_java/annotations", "lib/shim_java/java", "lib/shim_java/android", "tests/java/android")
                   for path in (ROOT / name).rglob("*.java")]
        subprocess.run(["javac", "-cp", os.pathsep.join(JUNIT), "-d", cls.classes, *sources], check=True)

    def compile(self, files):
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        for name, content in files.items():
            (folder / f"{name}.kt").write_text(content)
        compiler = os.pathsep.join(map(str, sorted(Path(KOTLIN).glob("*.jar"))))
        (library,) = Path(KOTLIN).glob("kotlin-stdlib-[0-9]*.jar")
        return subprocess.run(
            ["java", "-cp", compiler, "org.jetbrains.kotlin.cli.jvm.K2JVMCompiler", "-no-stdlib", "-no-reflect", "-Xsuppress-version-warnings",
             "-cp", os.pathsep.join([str(library), str(self.classes)]), "-d", folder / "out", *sorted(folder.glob("*.kt"))],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)

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


if __name__ == "__main__":
    unittest.main()
