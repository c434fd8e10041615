# SPDX-License-Identifier: BSD-3-Clause
"""Reports' pages in Chromium: layout without overlaps, search by keyboard, details, light and dark, no network; and
graphs in Graphviz's dot. scripts/systems/test-page.sh installs both and runs this."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import warnings

import torch
import torchvision
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))
from block_models import MODELS, line_of  # noqa: E402  pylint: disable=wrong-import-position
from cli import CliTest, run  # noqa: E402  pylint: disable=wrong-import-position
from report_page_test import HostileNames  # noqa: E402  pylint: disable=wrong-import-position

warnings.filterwarnings("ignore")  # of tracing
SHOTS = os.environ.get("NNAPI_PAGE_SHOTS")
LIMIT = 2 * 1024 * 1024
IMAGE = ["--input", "1,3,16,16"]

# Pairs of boxes that overlap; of steps, of the operations in each, and of inputs and outputs.
OVERLAPS = """
const before = (a, b) => a <= b + 0.01;
const apart = (a, b) =>
  before(a.right, b.left) || before(b.right, a.left) || before(a.bottom, b.top) || before(b.bottom, a.top);
const rectangle = (x, y, item) => ({left: x, right: x + item.width, top: y, bottom: y + item.height});
const area = (box) => rectangle(box.x - box.width / 2, box.y - box.height / 2, box);
const steps = view.layout.steps.map((step) => rectangle(step.x, step.y, step));
const groups = [steps, view.layout.terminals.inputs.map(area), view.layout.terminals.outputs.map(area)];
for (const step of view.layout.steps) groups.push(step.boxes.map(area));
let found = 0;
for (const boxes of groups)
  for (let i = 0; i < boxes.length; i++)
    for (let j = i + 1; j < boxes.length; j++) if (!apart(boxes[i], boxes[j])) found++;
view.layout.steps.forEach((step, i) => {
  for (const box of step.boxes.map(area))
    if (box.left < steps[i].left || box.right > steps[i].right || box.top < steps[i].top ||
        box.bottom > steps[i].bottom) found++;
});
return found;
"""

# Operations, inputs and outputs of which a part is outside of the canvas.
OUT_OF_VIEW = """
const area = view.canvas.getBoundingClientRect();
const {x, y, scale} = view.view;
const outside = (from, to, most) => from * scale < -1 || to * scale > most + 1;
return view.boxes.filter((box) => outside(box.x - box.width / 2 - x, box.x + box.width / 2 - x, area.width)
  || outside(box.y - box.height / 2 - y, box.y + box.height / 2 - y, area.height)).map((box) => box.label);
"""

# Texts that are wider than their boxes.
WIDE_TEXTS = """
return [...document.querySelectorAll("#canvas .node")].filter((node) => {
  const rect = node.querySelector("rect");
  return rect && [...node.querySelectorAll("text")].some((text) => text.getBBox().width > rect.getBBox().width);
}).map((node) => node.textContent);
"""

# Edges that run through boxes they don't belong to: points along each path against each box of its step.
CROSSINGS = """
let found = 0;
for (const step of view.layout.steps) step.edges.forEach(([from, to], i) => {
  const points = step.paths[i];
  for (let k = 1; k < points.length; k++) for (const [number, box] of step.boxes.entries()) {
    if (number === from || number === to || points[k][0] !== points[k - 1][0]) continue;
    const inside = Math.abs(points[k][0] - box.x) < box.width / 2 - 1;
    if (inside && Math.max(points[k][1], points[k - 1][1]) > box.y - box.height / 2 + 1
        && Math.min(points[k][1], points[k - 1][1]) < box.y + box.height / 2 - 1) found++;
  }
});
return found;
"""


def boxed(model):
    """Takes a tensor and gives the detections' tensors."""

    class Boxed(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.model = model

        def forward(self, picture):
            return tuple(self.model([picture])[0].values())

    return Boxed().eval()


def torchvision_library():
    return pathlib.Path(torchvision.__file__).parent / next(
        name for name in os.listdir(pathlib.Path(torchvision.__file__).parent)
        if name.startswith("_C") and name.endswith(".so"))


class Browser(CliTest):
    @classmethod
    def setUpClass(cls):
        cls.profile = tempfile.mkdtemp(prefix="nnapi-convert-browser-")
        options = webdriver.ChromeOptions()
        options.binary_location = shutil.which("chromium")
        for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                         "--window-size=1400,1000", f"--user-data-dir={cls.profile}"):
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
        cls.driver = webdriver.Chrome(service=Service(shutil.which("chromedriver")), options=options)

    @classmethod
    def tearDownClass(cls):
        cls.driver.quit()
        shutil.rmtree(cls.profile, ignore_errors=True)

    def report(self, model, *arguments):
        """Converts and opens the report."""
        path = self.folder / "report.html"
        result = run(model, *arguments, "-o", self.folder / "out.pt", "--report", path)
        self.assertEqual(0, result.code, f"\n{result}")
        self.assertLess(path.stat().st_size, LIMIT)
        self.open(path)

    def open(self, path, width=1400):
        self.driver.set_window_size(width, 1000)
        self.driver.get_log("performance")
        self.driver.get(path.as_uri())
        self.check_page()

    def check_page(self):
        self.assertEqual([], self.driver.get_log("browser"))
        requests = [entry["message"] for entry in self.driver.get_log("performance")
                    if '"Network.requestWillBeSent"' in entry["message"]]
        self.assertEqual([], [text for text in requests if '"url":"http' in text])
        self.assertEqual([], self.driver.find_elements(By.CSS_SELECTOR, "img, iframe, object, embed, link"))
        self.assertEqual(0, self.driver.execute_script(OVERLAPS))
        self.assertEqual(0, self.driver.execute_script(CROSSINGS))
        self.assertEqual([], self.driver.execute_script(WIDE_TEXTS))
        self.assert_no_overflow()

    def assert_no_overflow(self):
        width, window = self.driver.execute_script("return [document.documentElement.scrollWidth, window.innerWidth]")
        self.assertLessEqual(width, window)

    def check_counts(self):
        """The graph's titles and the numbers at the top count alike."""
        titles = [title.get_attribute("textContent") for title in self.driver.find_elements(By.CSS_SELECTOR, ".step .head")]
        counts = {"NNAPI": 0, "CPU": 0}
        for title in titles:
            counts[title.split(",")[0].split(":")[0]] += int(re.search(r": ([\d,]+) operation", title)[1].replace(",", ""))
        facts = dict(zip(*[iter(self.text("#summary dl").splitlines())] * 2))
        self.assertEqual(str(counts["NNAPI"]), facts["NNAPI's operations"])
        if counts["CPU"]:
            self.assertEqual(counts["CPU"], int(facts["on the CPU"].split()[0].replace(",", "")))

    def shot(self, name):
        if SHOTS:
            pathlib.Path(SHOTS).mkdir(parents=True, exist_ok=True)
            self.driver.save_screenshot(str(pathlib.Path(SHOTS) / f"{name}.png"))

    def text(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector).text

    def mobilenet(self):
        torch.manual_seed(0)
        path = self.folder / "mobilenet_v2.pt"
        torch.jit.trace(torchvision.models.mobilenet_v2().eval(), torch.rand(1, 3, 224, 224)).save(str(path))
        return path


class WholeModel(Browser):
    def test_mobilenet(self):
        self.report(self.mobilenet(), "--input", "1,3,224,224", "--nhwc", "--verify")
        self.assertEqual("mobilenet_v2.pt", self.text("h1"))
        self.assertIn("passed", self.text("#verification"))
        self.assertEqual(64, len(self.driver.find_elements(By.CSS_SELECTOR, ".node.nnapi")))
        self.assertEqual(1, len(self.driver.find_elements(By.CSS_SELECTOR, "#verification figure")))
        self.assertRegex(self.text("#summary"), r"SNR\n\d+\.\d dB\ntop-1\n100\.0 %")
        self.assertRegex(self.text("#summary"), r"made by\nnnapi-convert \d+\.\d+\.\d+ \(LibTorch \S+\)\noptions\n"
                         r"--input 1,3,224,224 --nhwc --verify\n")
        for part in ("on NNAPI\n100 %, in one call", "Android\n10 and later (API level 29)"):
            self.assertIn(part, self.text("#summary"))
        self.check_counts()
        self.check_columns()
        self.shot("mobilenet")
        self.driver.execute_script("view.showAll()")
        self.shot("mobilenet_all")
        self.driver.execute_script("window.scrollTo(0, 820)")
        self.shot("mobilenet_tables")
        self.check_search()
        self.check_zoom()
        self.check_narrow()
        self.check_dark()

    def check_all_in_view(self, width, height, scheme, least):
        """A page that was opened shows all of the graph, at a scale at which its boxes are told apart."""
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 900})
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia",
                                    {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        self.driver.refresh()
        self.assertEqual([], self.driver.execute_script(OUT_OF_VIEW))
        self.assertGreater(self.driver.execute_script("return view.view.scale"), least)
        self.check_page()
        self.shot(f"opened_{width}_{scheme}")

    def test_all_operations_are_in_view(self):
        self.report(self.mobilenet(), "--input", "1,3,224,224", "--nhwc")
        for scheme in ("light", "dark"):
            self.check_all_in_view(1280, 900, scheme, 0.4)
            self.check_all_in_view(390, 844, scheme, 0.4)
            self.check_touch()
        self.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})

    def check_touch(self):
        """What is tapped is told beside it: the details are in the window, also in the middle of a tall graph."""
        self.driver.execute_script("window.scrollTo(0, view.canvas.getBoundingClientRect().top + scrollY + 600)")
        box = self.driver.execute_script(
            "return view.boxes.find((box) => {const {top} = view.groups.get(box).getBoundingClientRect();"
            "return box.kind === 'nnapi' && top > 100 && top < 400;}).label")
        self.driver.execute_script(
            "const box = view.boxes.find((box) => {const {top} = view.groups.get(box).getBoundingClientRect();"
            "return box.kind === 'nnapi' && top > 100 && top < 400;});"
            "view.groups.get(box).dispatchEvent(new MouseEvent('click', {bubbles: true}))")
        self.assertEqual(box, self.text("#details h3"))
        top, bottom, height = self.driver.execute_script(
            "const area = document.querySelector('#details').getBoundingClientRect();"
            "return [area.top, area.bottom, innerHeight]")
        self.assertGreater(top, height / 3)
        self.assertLessEqual(bottom, height + 1)
        self.shot("tapped")
        self.assertEqual("pan-y pinch-zoom", self.touch_action())
        self.driver.find_element(By.ID, "zoom-in").click()
        self.assertEqual("none", self.touch_action())

    def touch_action(self):
        return self.driver.execute_script("return getComputedStyle(view.canvas).touchAction")

    def check_columns(self):
        """A chain uses the width: its boxes reach over most of the canvas, and it is no taller than three screens."""
        left, right, height, width = self.driver.execute_script(
            "const boxes = view.layout.steps[0].boxes; const { scale } = view.view;"
            "return [Math.min(...boxes.map((box) => box.x)) * scale, Math.max(...boxes.map((box) => box.x)) * scale,"
            "        view.layout.height * scale, view.canvas.clientWidth]")
        self.assertGreater(right - left, 0.5 * width)
        self.assertLess(height, 3 * 1000)

    def check_search(self):
        """With the keyboard only: / goes to the search field, Enter to the next match; the page shows its details."""
        body = self.driver.find_element(By.TAG_NAME, "body")
        body.send_keys("/")
        field = self.driver.switch_to.active_element
        self.assertEqual("search", field.get_attribute("id"))
        field.send_keys("depthwise")
        self.assertEqual("1 of 17", self.text("#found"))
        self.assertEqual("DEPTHWISE_CONV_2D", self.text("#details h3"))
        field.send_keys(Keys.ENTER)
        self.assertEqual("2 of 17", self.text("#found"))
        self.assertEqual(17, len(self.driver.find_elements(By.CSS_SELECTOR, ".node.found")))
        details = self.text("#details")
        for part in ("filter", "TENSOR_FLOAT32 [1, 3, 3, 96]", "conv.py:", "NHWC", "multiply-adds"):
            self.assertIn(part, details)
        field.clear()
        field.send_keys("no such operation")
        self.assertEqual("nothing found", self.text("#found"))
        field.clear()
        canvas = self.driver.find_element(By.ID, "canvas")
        before = self.text("#details")
        canvas.send_keys("n")
        self.assertNotEqual(before, self.text("#details"))

    def check_zoom(self):
        scale = lambda: self.driver.execute_script("return view.view.scale")
        before = scale()
        self.driver.find_element(By.ID, "canvas").send_keys("+")
        self.assertGreater(scale(), before)
        self.driver.find_element(By.ID, "zoom-out").click()
        self.assertAlmostEqual(before, scale())
        place = self.driver.execute_script("return view.view.y")
        canvas = self.driver.find_element(By.ID, "canvas")
        webdriver.ActionChains(self.driver).drag_and_drop_by_offset(canvas, 0, -120).perform()
        self.assertAlmostEqual(place + 120 / scale(), self.driver.execute_script("return view.view.y"), places=0)

    def check_narrow(self):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                                    {"width": 390, "height": 844, "deviceScaleFactor": 1, "mobile": True})
        self.driver.refresh()
        self.assert_no_overflow()
        self.shot("mobilenet_narrow")
        self.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})

    def check_dark(self):
        """Texts differ from their backgrounds by the 4.5 that WCAG asks for, in both schemes."""
        for scheme in ("light", "dark"):
            self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia",
                                        {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
            for text, back in (("--text", "--back"), ("--faint", "--back"), ("--faint", "--panel"),
                               ("--good", "--back"), ("--bad", "--back"), ("--warning", "--back"),
                               ("--text", "--bad-back"), ("--text", "--warning-back"), ("--bad", "--bad-back")):
                self.assertGreaterEqual(self.contrast(text, back), 4.5, (scheme, text, back))
        self.driver.execute_script("view.select(view.boxes[12]); view.centre(view.boxes[12])")
        self.shot("mobilenet_dark")
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})

    def contrast(self, *names):
        def luminance(colour):
            parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
            linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
            return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

        script = "return getComputedStyle(document.documentElement).getPropertyValue(arguments[0]).trim()"
        light, dark = sorted((luminance(self.driver.execute_script(script, name)) for name in names), reverse=True)
        return (light + 0.05) / (dark + 0.05)

    def test_converted_file(self):
        path = self.convert("residual.pt", *IMAGE, "--nhwc")
        page = self.folder / "inspect.html"
        page.write_text(self.succeed("inspect", path, "--format", "html").stdout)
        self.open(page)
        self.assertEqual(4, len(self.driver.find_elements(By.CSS_SELECTOR, ".node.nnapi")))

    def test_refused(self):
        path = self.folder / "report.html"
        self.fail_with(1, self.fixture("unknown_operations.pt"), *IMAGE, "--fallback", "none",
                       "-o", self.folder / "out.pt", "--report", path)
        self.driver.get(path.as_uri())
        self.assertEqual([], self.driver.get_log("browser"))
        self.assertIn("aten::linalg_matrix_exp", self.text("#refusals"))
        self.assertEqual("2 operations can't be lowered to NNAPI", self.text(".error strong"))
        self.check_page()
        refused = self.driver.find_elements(By.CSS_SELECTOR, ".node.bad")
        self.assertEqual(["aten::linalg_matrix_exp"] * 2, [node.find_element(By.CSS_SELECTOR, ".name").text for node in refused])
        self.assertGreater(len(self.driver.find_elements(By.CSS_SELECTOR, ".node.cpu")), 2)
        self.driver.find_element(By.CSS_SELECTOR, "#details .worst button").click()
        self.assertIn("is refused: no rule", self.text("#details"))
        self.shot("refused")

    def test_subgraphs(self):
        self.report(self.fixture("control_flow.pt"), *IMAGE, "--nhwc", "--runtime", "shim", "--feature-level", "4",
                    "--control-flow", "nnapi")
        self.assertIn("subgraph 1", self.text("#details"))


class Findings(Browser):
    """What is wrong or slow comes first, in its colour."""

    def findings(self):
        return [(item.get_attribute("class"), item.text)
                for item in self.driver.find_elements(By.CSS_SELECTOR, "#findings li")]

    def test_nothing_on_nnapi(self):
        class Doubles(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.conv, self.scale = torch.nn.Conv2d(3, 8, 3).double(), torch.nn.Parameter(torch.rand(8, 1, 1))

            def forward(self, x):
                return torch.relu(self.conv(x.double()).float() * self.scale) + 1

        path = self.folder / "doubles.pt"
        torch.jit.trace(Doubles().eval(), torch.rand(1, 3, 16, 16)).save(str(path))
        self.report(path, *IMAGE, "--nhwc", "--min-segment-macs", "0")
        level, text = self.findings()[0]
        self.assertEqual(("bad", True), (level, text.startswith("0 % of the multiply-adds run on NNAPI")), self.findings())
        self.assertEqual(1, len(self.driver.find_elements(By.CSS_SELECTOR, "#summary dd.bad")))
        self.shot("nothing_on_nnapi")

    def test_far_from_float(self):
        """Samples that fit nothing else: the outputs are named, and the operations that lose most, ten before all."""
        torch.manual_seed(0)
        layers = [layer for _ in range(8) for layer in (torch.nn.Conv2d(3, 3, 3, padding=1), torch.nn.ReLU())]
        path, data = self.folder / "deep.pt", self.folder / "data.pt"
        torch.jit.trace(torch.nn.Sequential(*layers).eval(), torch.rand(1, 3, 16, 16)).save(str(path))
        torch.save([1e-3 * torch.rand(1, 3, 16, 16) for _ in range(8)], str(data))
        self.report(path, *IMAGE, "--nhwc", "--calibrate", data)
        self.assertIn("SNR to the float model", self.text("#summary"))
        rows = lambda selector: len(self.driver.find_elements(By.CSS_SELECTOR, f"#calibration {selector} tbody tr"))
        losses = self.driver.execute_script("return view.report.calibration.segments[0].losses.length")
        if losses > 10:
            self.assertEqual((10, losses), (rows("div > .wide"), rows("details.all")))
        self.assertTrue(self.findings())


class InParts(Browser):
    def test_small(self):
        self.report(self.fixture("unknown_operations.pt"), *IMAGE, "--nhwc", "--min-segment-macs", "0")
        self.assertEqual(2, len(self.driver.find_elements(By.CSS_SELECTOR, ".node.cpu")))
        self.driver.execute_script("view.centre(view.boxes.find((box) => box.kind === 'cpu'))")
        self.driver.find_element(By.CSS_SELECTOR, ".node.cpu").click()
        self.assertIn("stays on the CPU", self.text("#details"))
        self.shot("parts")

    def test_mask_rcnn(self):
        torch.manual_seed(0)
        model = torchvision.models.detection.maskrcnn_resnet50_fpn(
            weights=None, weights_backbone=None, min_size=96, max_size=192, box_score_thresh=0.0,
            rpn_pre_nms_top_n_test=100, rpn_post_nms_top_n_test=30, box_detections_per_img=30)
        path = self.folder / "mask_rcnn.pt"
        with torch.no_grad():
            torch.jit.trace(boxed(model.eval()), torch.rand(3, 96, 96), check_trace=False).save(str(path))
        self.report(path, "--input", "3,96,96", "--nhwc", "--torch-library", torchvision_library(),
                    "--feature-level", "4")
        places = self.driver.execute_script(
            "return view.graph.steps.flatMap((step) => step.nodes.map((node) => node.where || ''))")
        self.assertEqual([], [place for place in places if place.startswith(":")])  # a line of no file
        self.shot("mask_rcnn")
        self.driver.execute_script("view.showAll()")
        self.shot("mask_rcnn_all")
        self.driver.execute_script("window.scrollTo(0, 820)")
        self.shot("mask_rcnn_tables")
        shut = self.driver.execute_script("return view.isOpen.map((open, i) => open ? -1 : i)"
                                          ".filter((i) => i >= 0 && canOpen(view.graph.steps[i]))")
        for number in shut:
            self.driver.execute_script(f"view.toggle({number})")
            self.check_page()
        self.driver.execute_script("window.scrollTo(0, 0); view.showAll()")
        self.shot("mask_rcnn_open")


# Frames that overlap without one being in the other, steps outside of their frames or on their titles, titles that are
# cut.
FRAMES = """
const area = (box) => ({left: box.x, right: box.x + box.width, top: box.y, bottom: box.y + box.height});
const inside = (a, b) => a.left >= b.left && a.right <= b.right && a.top >= b.top && a.bottom <= b.bottom;
const apart = (a, b) => a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
const found = [];
const frames = view.layout.frames;
frames.forEach((frame, i) => {
  for (const other of frames.slice(i + 1))
    if (!apart(area(frame), area(other)) && !inside(area(other), area(frame)))
      found.push(`${frame.title}, ${other.title}`);
  const steps = (items) => items.flatMap((item) => (item.items ? steps(item.items) : [item.number]));
  const own = new Set(steps(frame.items));
  view.layout.steps.forEach((step, number) => {
    if (own.has(number) ? !inside(area(step), area(frame)) || step.y < frame.y + 30 : !apart(area(step), area(frame)))
      found.push(`${frame.title}: step ${number}`);
  });
});
for (const group of document.querySelectorAll("#canvas .frame"))
  if (group.querySelector("text").getBBox().width > group.querySelector("rect").getBBox().width / 2)
    found.push(group.textContent);
return found;
"""


class InBlocks(Browser):
    """Segments in branches and loops, in a frame of these."""

    def open_blocks(self, name):
        torch.manual_seed(0)
        path = self.folder / f"{name}.pt"
        torch.jit.script(MODELS[name]().eval()).save(str(path))
        self.report(path, "--input", "1,4,8,8", "--nhwc", "--min-segment-macs", "0")
        self.assertEqual([], self.driver.execute_script(FRAMES))

    def check_ways(self):
        titles = [frame.get_attribute("textContent") for frame in self.driver.find_elements(By.CSS_SELECTOR, ".frame")]
        loop, branch, inner = (line_of(text) for text in ("for i in", "if bool(y.mean", "for _ in range(2"))
        self.assertEqual([f"loop at {loop}", f"if at {branch}", f"loop at {inner}", f"else of {branch}"], titles)
        self.assertEqual([], self.driver.execute_script(FRAMES))
        self.assertIn(f"loop at {inner}", self.text("#details"))

    def test_frames(self):
        self.open_blocks("Ways")
        self.check_counts()
        self.check_ways()
        self.assertEqual(15, len(self.driver.find_elements(By.CSS_SELECTOR, ".node.nnapi")))
        self.assertIn(f"in the else of {line_of('if bool(y.mean')}", self.text("#segments"))
        self.driver.execute_script("view.select(view.boxes.find((box) => box.label === 'STRIDED_SLICE'))")
        self.assertIn(f"in the loop at {line_of('for _ in range(2')}", self.text("#details"))
        self.driver.execute_script("view.showAll()")
        self.shot("blocks_all")
        self.driver.execute_script("const frame = view.layout.frames[1]; view.fit();"
                                   "view.centre({x: frame.x + 200, y: frame.y + 300})")
        self.shot("blocks")

    def test_flows_come_out_of_both_branches(self):
        self.open_blocks("Ways")
        flows = self.driver.execute_script(
            "const last = view.layout.steps.length - 1;"
            "return view.layout.flows.filter((flow) => flow.to === last)"
            ".map((flow) => view.graph.steps[flow.from].segment)")
        self.assertTrue({4, 6, 0} <= set(flows), flows)  # the branches' results, and what there is without a round

    def test_of_a_converted_file(self):
        self.open_blocks("Ways")
        page = self.folder / "inspect.html"
        page.write_text(self.succeed("inspect", self.folder / "out.pt", "--format", "html").stdout)
        self.open(page)
        self.check_ways()

    def test_opened_and_shut(self):
        for name in ("Rounds", "FilledInLoop", "DictOfRounds", "SeldomRun"):
            with self.subTest(model=name):
                self.open_blocks(name)
                self.driver.execute_script(
                    "view.graph.steps.forEach((step, i) => { if (step.segment == null) view.toggle(i); })")
                self.check_page()
                self.assertEqual([], self.driver.execute_script(FRAMES))

    def test_what_is_not_counted(self):
        self.open_blocks("HalfKnown")
        self.check_counts()
        for part in ("1 of 4 convolutions and products", "100.0 % of the multiply-adds that can be counted",
                     "not counted: 3 on the CPU"):
            self.assertIn(part, self.text("#summary"))
        self.assertRegex(self.text("#cpu"), r"it depends on the loop at block_models.py:\d+")


class Hostile(Browser):
    model = HostileNames.model

    def test_names_stay_text(self):
        self.report(self.model(), *IMAGE, "--nhwc", "--min-segment-macs", "0")
        self.assertIn("<img src=x onerror=alert(1)>.pt", self.text("h1"))
        self.driver.execute_script("view.boxes.forEach((box) => view.select(box));"
                                   "view.graph.steps.forEach((step, i) => view.showStep(i))")
        self.check_page()
        self.assertIn("script><img",
                      self.driver.find_element(By.ID, "cpu").get_attribute("textContent") + self.text("#details"))


class Graphviz(CliTest):
    def test_draws(self):
        for name, options in (("residual.pt", []), ("unknown_operations.pt", ["--min-segment-macs", "0"]),
                              ("control_flow.pt",
                               ["--runtime", "shim", "--feature-level", "4", "--control-flow", "nnapi"])):
            path = self.convert(name, *IMAGE, "--nhwc", *options)
            text = self.succeed("inspect", path, "--format", "dot").stdout
            done = subprocess.run(["dot", "-Tsvg"], input=text.encode(), capture_output=True, check=False)
            self.assertEqual((0, b""), (done.returncode, done.stderr))
            self.assertIn(b"CONV_2D", done.stdout)


if __name__ == "__main__":
    unittest.main()
