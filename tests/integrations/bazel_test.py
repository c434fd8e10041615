# SPDX-License-Identifier: BSD-3-Clause
"""integrations/bazel with Debian's Bazel, offline: ten models, a build in which nothing is to be done, and a clean one
that an HTTP cache serves whole."""

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

MODELS = ["bundled", "conv_bn_relu6", "depthwise", "list_output", "quant", "quant_float", "repeated_output", "residual",
          "scripted", "three_operations"]
WORKSPACE = """
workspace(name = "app")
local_repository(name = "rules_nnapi", path = "{rules}")
load("@rules_nnapi//:repositories.bzl", "nnapi_convert_repository")
nnapi_convert_repository(name = "nnapi_convert", prefix = "{prefix}")
"""
PACKAGE = """
load("@rules_nnapi//:nnapi.bzl", "nnapi_model", "nnapi_model_zoo")
nnapi_model_zoo(
    name = "zoo",
    models = glob(["models/*.pt"]),
    inputs = ["1,3,16,16"],
    nhwc = True,
    verify = True,
    options_of = {"models/quant.pt": {"quant": "full"}},
)
nnapi_model(name = "lite", model = "models/bundled.pt", nhwc = True, extension = "ptl", litert = True, options = ["--relax-fp16"])
"""
NGINX = """
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{}}
http {{
  access_log {folder}/access.log;
  client_body_temp_path {folder}/body;
  proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  client_max_body_size 1g;
  server {{
    listen 127.0.0.1:{port};
    root {folder}/cache;
    location / {{ dav_methods PUT; create_full_put_path on; }}
  }}
}}
"""


class Bazel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="nnapi-convert-test-"))
        cls.addClassCleanup(cls.remove)
        cls.prefix = cls.folder / "prefix"
        run("cmake", "--install", BUILD, "--prefix", cls.prefix)
        cls.app = cls.folder / "app"
        (cls.app / "models").mkdir(parents=True)
        for name in MODELS:
            shutil.copyfile(FIXTURES / f"{name}.pt", cls.app / "models" / f"{name}.pt")
        (cls.app / "WORKSPACE").write_text(WORKSPACE.format(rules=ROOT / "integrations" / "bazel", prefix=cls.prefix))
        (cls.app / "BUILD.bazel").write_text(PACKAGE)
        cls.start_cache()

    @classmethod
    def remove(cls):
        subprocess.run(["bazel", f"--output_user_root={cls.folder}/bazel", "shutdown"], cwd=cls.app,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        subprocess.run(["chmod", "-R", "u+w", cls.folder])  # Bazel's results are read-only
        shutil.rmtree(cls.folder, ignore_errors=True)

    @classmethod
    def start_cache(cls):
        folder = cls.folder / "nginx"
        (folder / "cache").mkdir(parents=True)
        cls.port = 20000 + os.getpid() % 20000
        (folder / "nginx.conf").write_text(("user root;\n" if os.geteuid() == 0 else "")
                                           + NGINX.format(folder=folder, port=cls.port))
        nginx = shutil.which("nginx") or "/usr/sbin/nginx"
        server = subprocess.Popen([nginx, "-c", folder / "nginx.conf", "-p", folder, "-e", folder / "error.log"])
        cls.addClassCleanup(server.wait)
        cls.addClassCleanup(server.terminate)

    def bazel(self, *arguments, code=0) -> str:
        command = ["bazel", f"--output_user_root={self.folder}/bazel", *arguments]
        done = subprocess.run(command, cwd=self.app, env=environment(), stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        self.assertEqual(code, done.returncode, f"{' '.join(command)}\n{done.stdout}")
        return done.stdout

    def build(self, *targets, code=0) -> str:
        return self.bazel("build", f"--remote_cache=http://127.0.0.1:{self.port}", "--color=no",
                          "--curses=no", *targets, code=code)

    def processes(self, output: str) -> str:
        return re.search(r"INFO: (\d+ process\w*.*)", output).group(1)

    def results(self):
        return {path.name: path.read_bytes() for path in (self.app / "bazel-bin").glob("*.*")
                if path.suffix in (".pt", ".ptl", ".tflite", ".json")}

    def test_build_again_and_from_the_cache(self):
        first = self.build("//:zoo", "//:lite")
        self.assertIn("11 ", self.processes(first))
        results = self.results()
        self.assertEqual({f"zoo_{name}.pt" for name in MODELS} | {"lite.ptl", "lite.tflite"},
                         {n for n in results if not n.endswith(".json")})
        self.assertEqual("full", json.loads(results["zoo_quant.report.json"])["quant"])
        self.assertTrue(json.loads(results["zoo_residual.report.json"])["verification"]["passed"])
        with self.subTest("nothing is to be done"):
            self.assertEqual("1 process: 1 internal.", self.processes(self.build("//:zoo", "//:lite")))
        with self.subTest("from the cache"):
            self.bazel("clean")
            again = self.processes(self.build("//:zoo", "//:lite"))
            self.assertRegex(again, r"^12 processes: 11 remote cache hit, 1 internal\.$")
            self.assertEqual(results, self.results())
        with self.subTest("one model changes"):
            shutil.copyfile(FIXTURES / "refused.pt", self.app / "models" / "scripted.pt")
            self.assertIn("nnapi-convert: error: ", self.build("//:zoo", code=1))
            shutil.copyfile(FIXTURES / "residual.pt", self.app / "models" / "scripted.pt")
            self.assertIn("2 processes: 1 internal, 1 linux-sandbox",
                          self.processes(self.build("//:zoo")).replace("processwrapper", "linux"))

    def test_results_are_those_of_the_command(self):
        self.build("//:lite")
        alone, litert = self.folder / "lite.ptl", self.folder / "lite.tflite"
        run(self.prefix / "bin" / "nnapi-convert", FIXTURES / "bundled.pt", "--nhwc", "--relax-fp16", "-o", alone,
            "--litert", litert)
        for file in (alone, litert):
            self.assertEqual(file.read_bytes(), (self.app / "bazel-bin" / file.name).read_bytes())

    def test_wrong_attributes(self):
        package = self.app / "wrong"
        package.mkdir(exist_ok=True)
        self.addCleanup(shutil.rmtree, package)
        (package / "BUILD.bazel").write_text(
            'load("@rules_nnapi//:nnapi.bzl", "nnapi_model")\n'
            'nnapi_model(name = "x", model = "//:models/bundled.pt", quant = "half")\n')
        self.assertIn("quant", self.build("//wrong:x", code=1))


if __name__ == "__main__":
    unittest.main()
