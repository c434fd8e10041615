"""integrations/gradle with Debian's Gradle 4.4, offline: a task for each model, up-to-date checks by content, the build
cache, and the app's assets."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "packages"))
from installed import BUILD, FIXTURES, ROOT, environment, run  # noqa: E402

SCRIPT = """
buildscript {{ dependencies {{ classpath files('{jar}') }} }}
{android}
apply plugin: 'org.nnapi-convert'

nnapiModels {{
    converter = '{program}'
    folder = 'models'
    classifier {{
        model = 'models/classifier.pt'
        inputs '1,3,16,16'
        nhwc = true
        verify = true
    }}
    quantised {{
        model = 'models/quantised.pt'
        nhwc = true
        quant = 'full'
        extension = 'ptl'
    }}
}}
"""
# What the plugin uses of Android's: the extension with its source sets, and the task that all others come after.
ANDROID = """
class Assets { Set<File> srcDirs = []; def srcDir(Object folder) { srcDirs << folder } }
class SourceSet { String name; Assets assets = new Assets(); SourceSet(String name) { this.name = name } }
class Android { def sourceSets; Android(sets) { sourceSets = sets } }
class AndroidPlugin implements Plugin<Project> {
    void apply(Project project) {
        def sets = project.container(SourceSet)
        sets.create('main')
        project.extensions.create('android', Android, sets)
        project.tasks.create('preBuild')
        project.tasks.create('showAssets') {
            dependsOn 'preBuild'
            doLast { println 'assets: ' + sets.main.assets.srcDirs }
        }
    }
}
"""


class Gradle(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="nnapi-convert-test-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.addClassCleanup(subprocess.run, ["gradle", f"--gradle-user-home={cls.folder}/home", "--stop"],
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        cls.prefix = cls.folder / "prefix"
        run("cmake", "--install", BUILD, "--prefix", cls.prefix)
        cls.plugin = cls.folder / "plugin"
        shutil.copytree(ROOT / "integrations" / "gradle", cls.plugin)
        cls.gradle("jar", cwd=cls.plugin)
        cls.jar, = (cls.plugin / "build" / "libs").glob("*.jar")

    @classmethod
    def gradle(cls, *arguments, cwd=None, code=0) -> str:
        command = ["gradle", "--offline", "--console=plain", f"--gradle-user-home={cls.folder}/home", *arguments]
        done = subprocess.run(command, cwd=cwd, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True)
        if done.returncode != code:
            raise AssertionError(f"{' '.join(command)}\nexit code {done.returncode}\n{done.stdout}")
        return done.stdout

    def setUp(self):
        self.app = self.folder / self._testMethodName
        (self.app / "models").mkdir(parents=True)
        (self.app / "settings.gradle").write_text("rootProject.name = 'app'\n")
        for name, fixture in {"classifier.pt": "residual.pt", "quantised.pt": "quant.pt"}.items():
            shutil.copyfile(FIXTURES / fixture, self.app / "models" / name)
        self.write()
        self.assets = self.app / "build" / "generated" / "nnapi" / "assets"

    def write(self, android="", change=lambda text: text):
        text = SCRIPT.format(jar=self.jar, program=self.prefix / "bin" / "nnapi-convert", android=android)
        (self.app / "build.gradle").write_text(change(text))

    def build(self, *arguments, code=0):
        """How each model's task ended."""
        text = self.gradle("convertNnapiModels", *arguments, cwd=self.app, code=code)
        found = re.findall(r"^(?:> Task )?:convert(\w+)ToNnapi(?: (UP-TO-DATE|FROM-CACHE|FAILED))?$", text, re.M)
        return {name: outcome or "done" for name, outcome in found}, text

    def test_results(self):
        self.build()
        for name, fixture, options in [("classifier.pt", "residual.pt", ["--input", "1,3,16,16", "--nhwc"]),
                                       ("quantised.ptl", "quant.pt", ["--nhwc", "--quant", "full"])]:
            alone = self.app / name
            run(self.prefix / "bin" / "nnapi-convert", FIXTURES / fixture, *options, "-o", alone)
            self.assertEqual(alone.read_bytes(), (self.assets / "models" / name).read_bytes())
        report = json.loads((self.app / "build" / "reports" / "nnapi" / "classifier.report.json").read_text())
        self.assertTrue(report["verification"]["passed"])

    def test_only_what_changed(self):
        self.assertEqual({"Classifier": "done", "Quantised": "done"}, self.build()[0])
        os.utime(self.app / "models" / "classifier.pt")
        self.assertEqual({"Classifier": "UP-TO-DATE", "Quantised": "UP-TO-DATE"}, self.build()[0])
        self.write(change=lambda text: text.replace("quant = 'full'", "quant = 'core'"))
        self.assertEqual({"Classifier": "UP-TO-DATE", "Quantised": "done"}, self.build()[0])
        shutil.copyfile(FIXTURES / "scripted.pt", self.app / "models" / "classifier.pt")
        self.assertEqual({"Classifier": "done", "Quantised": "UP-TO-DATE"}, self.build()[0])

    def test_build_cache(self):
        self.build("--build-cache")
        results = {path.name: path.read_bytes() for path in (self.assets / "models").iterdir()}
        elsewhere = self.folder / "elsewhere"
        shutil.copytree(self.app, elsewhere, ignore=shutil.ignore_patterns("build", ".gradle"))
        self.app, self.assets = elsewhere, elsewhere / "build" / "generated" / "nnapi" / "assets"
        self.assertEqual({"Classifier": "FROM-CACHE", "Quantised": "FROM-CACHE"}, self.build("--build-cache")[0])
        self.assertEqual(results, {path.name: path.read_bytes() for path in (self.assets / "models").iterdir()})

    def test_failures(self):
        shutil.copyfile(FIXTURES / "refused.pt", self.app / "models" / "classifier.pt")
        text = self.build("--continue", code=1)[1]
        self.assertIn("classifier.pt was not converted (exit code 1):\n", text)
        self.assertIn("aten::linalg_matrix_exp: no rule for aten::linalg_matrix_exp", text)
        self.assertTrue((self.assets / "models" / "quantised.ptl").exists())
        self.write(change=lambda text: text.replace("model = 'models/quantised.pt'", ""))
        self.assertIn("nnapiModels.quantised: model is missing", self.build(code=1)[1])
        self.write(change=lambda text: re.sub("converter = .*", "converter = 'no-such-program'", text))
        self.assertIn("no no-such-program on PATH; set converter", self.build(code=1)[1])

    def test_assets_of_an_app(self):
        source = self.app / "buildSrc" / "src" / "main" / "groovy"
        source.mkdir(parents=True)
        (source / "AndroidPlugin.groovy").write_text("import org.gradle.api.*\n" + ANDROID)
        ids = self.app / "buildSrc" / "src" / "main" / "resources" / "META-INF" / "gradle-plugins"
        ids.mkdir(parents=True)
        (ids / "com.android.application.properties").write_text("implementation-class=AndroidPlugin\n")
        self.write(android="apply plugin: 'com.android.application'")
        text = self.gradle("showAssets", cwd=self.app)
        self.assertIn(f"assets: [{self.assets}]", text)
        self.assertTrue((self.assets / "models" / "classifier.pt").exists())


if __name__ == "__main__":
    unittest.main()
