# SPDX-License-Identifier: BSD-3-Clause
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
        litert = true
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
# The same of its newer releases: the variants' sources. Kotlin's functions are interfaces of one method, as here.
VARIANTS = """
import org.gradle.api.file.DirectoryProperty
interface Function { DirectoryProperty invoke(Object task) }
class Assets {
    Project project
    List tasks = []
    def addGeneratedSourceDirectory(Object task, Function output) {
        output.invoke(task).set(project.layout.buildDirectory.dir('generated/assets/' + task.name))
        tasks << task
    }
}
class Sources { Assets assets }
class Variant { Sources sources }
class Selector { Object all() { this } }
class Version { int major = 9; int minor = 0 }
class Components {
    Project project
    List variants
    Version pluginVersion = new Version()
    Selector selector() { new Selector() }
    void onVariants(Object selector, Action<Object> action) {
        project.afterEvaluate { variants.each { action.execute(it) } }
    }
}
class AndroidPlugin implements Plugin<Project> {
    void apply(Project project) {
        def variants = ['debug', 'release'].collect {
            new Variant(sources: new Sources(assets: new Assets(project: project)))
        } + [new Variant(sources: new Sources())]
        project.extensions.add('androidComponents', new Components(project: project, variants: variants))
        project.tasks.create('mergeAssets') {
            dependsOn { variants.collect { it.sources.assets?.tasks ?: [] }.flatten() }
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
        self.assets = self.app / "build" / "generated" / "nnapi"

    def result(self, name: str) -> pathlib.Path:
        return self.assets / pathlib.Path(name).stem / "models" / name

    def results(self):
        return {path.name: path.read_bytes() for path in self.assets.rglob("*.pt*")}

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
            alone, litert = self.app / name, self.app / (name + ".tflite")
            run(self.prefix / "bin" / "nnapi-convert", FIXTURES / fixture, *options, "-o", alone, "--litert", litert)
            self.assertEqual(alone.read_bytes(), self.result(name).read_bytes())
        self.assertEqual(litert.read_bytes(), self.result("quantised.tflite").read_bytes())
        self.assertFalse(self.result("classifier.tflite").exists())
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
        results = self.results()
        self.assertEqual({"classifier.pt", "quantised.ptl"}, set(results))
        elsewhere = self.folder / "elsewhere"
        shutil.copytree(self.app, elsewhere, ignore=shutil.ignore_patterns("build", ".gradle"))
        self.app, self.assets = elsewhere, elsewhere / "build" / "generated" / "nnapi"
        self.assertEqual({"Classifier": "FROM-CACHE", "Quantised": "FROM-CACHE"}, self.build("--build-cache")[0])
        self.assertEqual(results, self.results())

    def test_failures(self):
        shutil.copyfile(FIXTURES / "refused.pt", self.app / "models" / "classifier.pt")
        text = self.build("--continue", code=1)[1]
        self.assertIn("classifier.pt was not converted (exit code 1):\n", text)
        self.assertIn("aten::linalg_matrix_exp: no rule for aten::linalg_matrix_exp", text)
        self.assertTrue(self.result("quantised.ptl").exists())
        self.write(change=lambda text: text.replace("model = 'models/quantised.pt'", ""))
        self.assertIn("nnapiModels.quantised: model is missing", self.build(code=1)[1])
        self.write(change=lambda text: re.sub("converter = .*", "converter = 'no-such-program'", text))
        self.assertIn("no no-such-program on PATH; set converter", self.build(code=1)[1])

    def test_another_extension_leaves_nothing_of_the_old_one(self):
        self.build()
        self.write(change=lambda text: text.replace("extension = 'ptl'", "extension = 'pt'"))
        self.build()
        self.assertEqual({"classifier.pt", "quantised.pt"}, set(self.results()))

    def test_a_model_that_another_task_makes(self):
        made = """model = tasks.create('makeModel') {
            outputs.file file('made.pt')
            doLast { file('made.pt').bytes = file('models/classifier.pt').bytes }
        }"""
        self.write(change=lambda text: text.replace("model = 'models/classifier.pt'", made))
        text = self.build()[1]
        self.assertLess(text.index(":makeModel"), text.index(":convertClassifierToNnapi"))
        self.assertTrue(self.result("classifier.pt").exists())

    def android(self, plugin: str):
        source = self.app / "buildSrc" / "src" / "main" / "groovy"
        source.mkdir(parents=True)
        (source / "AndroidPlugin.groovy").write_text("import org.gradle.api.*\n" + plugin)
        ids = self.app / "buildSrc" / "src" / "main" / "resources" / "META-INF" / "gradle-plugins"
        ids.mkdir(parents=True)
        (ids / "com.android.application.properties").write_text("implementation-class=AndroidPlugin\n")
        self.write(android="apply plugin: 'com.android.application'")

    def test_assets_by_source_sets(self):
        self.android(ANDROID)
        text = self.gradle("showAssets", cwd=self.app)
        self.assertIn(f"assets: [{self.assets / 'classifier'}, {self.assets / 'quantised'}]", text)
        self.assertTrue(self.result("classifier.pt").exists())

    def test_assets_by_variants(self):
        self.android(VARIANTS)
        self.gradle("mergeAssets", cwd=self.app)
        assets = self.app / "build" / "generated" / "assets"
        self.assertTrue((assets / "convertClassifierToNnapi" / "models" / "classifier.pt").exists())
        self.assertTrue((assets / "convertQuantisedToNnapi" / "models" / "quantised.ptl").exists())
        self.assertFalse(self.assets.exists())


if __name__ == "__main__":
    unittest.main()
