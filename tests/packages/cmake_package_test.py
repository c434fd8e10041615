# SPDX-License-Identifier: BSD-3-Clause
"""The installed CMake package, used by another project: find_package(), nnapi_convert_model(), the library."""

import json
import pathlib
import shutil
import tempfile
import unittest

from installed import BUILD, FIXTURES, run

CONSUMER = pathlib.Path(__file__).resolve().parent / "consumer"


class CMakePackage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="nnapi-convert-test-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.prefix = cls.folder / "prefix"
        run("cmake", "--install", BUILD, "--prefix", cls.prefix)

    def setUp(self):
        self.source = self.folder / self._testMethodName
        shutil.copytree(CONSUMER, self.source)
        shutil.copyfile(FIXTURES / "bundled.pt", self.source / "model.pt")
        self.build = self.source / "build"

    def configure(self, *options, code=0) -> str:
        return run("cmake", "-S", self.source, "-B", self.build, "-G", "Ninja",
                   f"-DCMAKE_PREFIX_PATH={self.prefix}", *options, code=code)

    def make(self, code=0) -> str:
        return run("cmake", "--build", self.build, "--parallel", "2", code=code)

    def test_model(self):
        self.configure()
        self.make()
        module, report, litert = (self.build / "paths.txt").read_text().split()
        self.assertEqual(str(self.build / "assets" / "classifier.pt"), module)
        program = self.prefix / "bin" / "nnapi-convert"
        alone = self.source / "classifier.pt"
        run(program, FIXTURES / "bundled.pt", "--nhwc", "-o", alone, "--litert", self.source / "alone.tflite")
        self.assertEqual(alone.read_bytes(), pathlib.Path(module).read_bytes())
        self.assertEqual(str(self.build / "litert" / "classifier.tflite"), litert)
        self.assertEqual((self.source / "alone.tflite").read_bytes(), pathlib.Path(litert).read_bytes())
        self.assertTrue(json.loads(pathlib.Path(report).read_text())["verification"]["passed"])

    def test_converts_again_only_what_changed(self):
        self.configure()
        self.assertIn("Converting model.pt", self.make())
        self.assertNotIn("Converting", self.make())
        shutil.copyfile(FIXTURES / "quant.pt", self.source / "model.pt")
        self.assertIn("Converting model.pt", self.make())
        text = (self.source / "CMakeLists.txt").read_text()
        (self.source / "CMakeLists.txt").write_text(text.replace("--nhwc --verify", "--nhwc --quant core"))
        self.assertIn("Converting model.pt", self.make())
        self.assertEqual("core", json.loads((self.build / "assets" / "classifier.report.json").read_text())["quant"])

    def test_model_that_is_refused_stops_the_build(self):
        shutil.copyfile(FIXTURES / "refused.pt", self.source / "model.pt")
        self.configure()
        self.assertIn("nnapi-convert: error: ", self.make(code=1))

    def test_wrong_calls(self):
        text = (self.source / "CMakeLists.txt").read_text()
        for wrong, needed in [("MODELL model.pt", "belongs to none of MODEL"), ("OUTPUT x.pt", "MODEL is missing")]:
            (self.source / "CMakeLists.txt").write_text(text.replace("MODEL model.pt OUTPUT assets/classifier.pt",
                                                                     wrong))
            self.assertIn(needed, " ".join(self.configure(code=1).split()))

    def test_library(self):
        self.configure("-DCONSUMER_COMPONENTS=library")
        self.make()
        out = self.source / "out.pt"
        report = json.loads(run(self.build / "consumer", self.source / "model.pt", out))
        self.assertTrue(report["converted"])
        program = self.prefix / "bin" / "nnapi-convert"
        run(program, "verify", self.source / "model.pt", out)
        self.assertIn("no such file", run(self.build / "consumer", "nothing.pt", out, code=3))


if __name__ == "__main__":
    unittest.main()
