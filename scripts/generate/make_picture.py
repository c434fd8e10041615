#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes docs/picture.png, README's picture: a terminal with a conversion, beside the graph of its report page.

    ./scripts/install.sh chromium chromium-driver python3-selenium fonts-dejavu-core
    scripts/generate/make_picture.py [PNET]

PNET is the first network of MTCNN, a face detector, as TorchScript: facenet-pytorch's PNet, traced. Without it the weights are
untrained, and the picture is the same. What an app does with the results is added here: boxes of all windows, the best of them,
and suppression, which stays on the CPU. Both sides of the picture are of one run of build/release. The terminal has the lines
that begin with those of SHOWN, and an ellipsis for what is left out before them."""

import argparse
import base64
import contextlib
import html
import io
import pathlib
import shutil
import subprocess
import sys
import tempfile
import warnings
from typing import Iterator, List, Optional, Tuple

import torch
import torchvision
from PIL import Image
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from torch import nn

ROOT = pathlib.Path(__file__).resolve().parents[2]
SIZE = (240, 320)
WINDOW = 12  # pixels of a face that the network looks for
STEP = 2
KEPT = 100
COMMAND = ["nnapi-convert", "face_detector.pt", "--input", f"1,3,{SIZE[0]},{SIZE[1]}", "--nhwc", "--torch-library",
           "./torchvision.so", "--verify", "--report", "report.html", "-o", "out.pt"]
BREAKS = ["--input", "--torch-library", "--verify"]  # the words that begin a line of the command
SHOWN = ["nnapi-convert: warning: NNAPI can't run all", "passed (", "out.pt: "]

WIDTH, HEIGHT = 1280, 820
GRAPH = (460, 734)
SCALE = 2  # pixels of the file for one of the page
COLOURS = 192
MOST_BYTES = 200_000

# Only the canvas of the page, in the size that the picture has for it.
CANVAS_ONLY = """
const style = document.createElement("style");
style.textContent = `header, .bar, #details, #tables, #findings { display: none !important; }
  section { max-width: none !important; margin: 0 !important; padding: 0 !important; }
  #canvas { flex: none !important; width: ${arguments[0]}px !important; height: ${arguments[1]}px !important;
            border: none !important; border-radius: 0 !important; }`;
document.head.append(style);
view.draw();
view.graph.steps.forEach((step, i) => { if (step.segment == null && view.isOpen[i]) view.toggle(i); });
view.showAll();
"""

PAGE = """<!doctype html><meta charset="utf-8"><style>
* { box-sizing: border-box; margin: 0; }
body { width: %(width)dpx; height: %(height)dpx; padding: 28px; display: flex; gap: 24px; background: #24303f; color: #dbe4ee;
       font: 20px/1.45 "DejaVu Sans", sans-serif; }
.left { flex: 1; display: flex; flex-direction: column; justify-content: center; gap: 30px; }
.terminal { border-radius: 10px; background: #0d1218; overflow: hidden; }
.dots { display: flex; gap: 8px; padding: 13px 16px 4px; }
.dots i { width: 11px; height: 11px; border-radius: 50%%; background: #3a4654; }
pre { padding: 8px 22px 24px; font: 18px/1.5 "DejaVu Sans Mono", monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
pre b { color: #ffffff; }
pre .prompt, pre .passed { color: #5fd38a; }
pre .cut { color: #8996a5; }
dl { display: grid; grid-template-columns: 34px 1fr; gap: 12px 16px; padding-left: 22px; align-items: center; }
dt { width: 34px; height: 25px; border: 2px solid; border-radius: 5px; }
.graph { flex: none; width: %(graph_width)dpx; border-radius: 10px; overflow: hidden; background: #ffffff; }
.graph p { padding: 7px 16px; background: #dfe4ea; color: #3c4753; font-size: 15px; line-height: 20px; }
.graph img { display: block; }
</style>
<div class="left"><div class="terminal"><div class="dots"><i></i><i></i><i></i></div><pre>%(terminal)s</pre></div>
<dl>%(legend)s</dl></div>
<div class="graph"><p>report.html</p>
<img width="%(graph_width)d" height="%(graph_height)d" src="data:image/png;base64,%(graph)s"></div>
"""


class PNet(nn.Module):
    """MTCNN's first network: offsets of boxes, and scores of no face and a face, for each window of the picture."""

    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(3, 10, 3), nn.PReLU(10), nn.MaxPool2d(2, 2, ceil_mode=True),
                                  nn.Conv2d(10, 16, 3), nn.PReLU(16), nn.Conv2d(16, 32, 3), nn.PReLU(32))
        self.scores, self.offsets = nn.Conv2d(32, 2, 1), nn.Conv2d(32, 4, 1)

    def forward(self, picture: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:
        middle = self.body(picture)
        scores = self.scores(middle).softmax(1)
        return self.offsets(middle), scores


class FaceDetector(nn.Module):
    """The boxes with the best scores, and their scores: 0 for those that a better box overlaps."""

    def __init__(self, network: nn.Module, height: int, width: int) -> None:
        super().__init__()
        self.network = network
        rows, columns = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
        corners = STEP * torch.stack([columns, rows], 2).view(-1, 2).float()
        self.register_buffer("windows", torch.cat([corners, corners + WINDOW], 1))

    def forward(self, picture: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:
        offsets, scores = self.network(picture)
        boxes = self.windows + WINDOW * offsets.permute(0, 2, 3, 1).reshape(-1, 4)
        best, places = scores[:, 1:].flatten().topk(KEPT)
        boxes = boxes[places]
        kept = torchvision.ops.nms(boxes, best, 0.5)
        return boxes, best * torch.zeros(KEPT).index_fill(0, kept, 1.0)


def make_model(path: pathlib.Path, trained: Optional[pathlib.Path]) -> None:
    torch.manual_seed(0)
    network = torch.jit.load(str(trained)) if trained else PNet()
    picture = torch.rand(1, 3, *SIZE)
    with torch.no_grad():
        scores = network(picture)[1]
        torch.jit.trace(FaceDetector(network, *scores.shape[2:]).eval(), picture, check_trace=False).save(str(path))


def convert(program: pathlib.Path, folder: pathlib.Path) -> List[str]:
    """Runs COMMAND in the folder, and returns the lines that it prints."""
    library = next(pathlib.Path(torchvision.__file__).parent.glob("_C*.so"))
    (folder / "torchvision.so").symlink_to(library)
    done = subprocess.run([str(program), *COMMAND[1:]], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    if done.returncode != 0:
        sys.exit(f"make_picture.py: {' '.join(COMMAND)}\n{done.stdout}")
    return done.stdout.splitlines()


def terminal_text(lines: List[str]) -> str:
    """The command and the lines of SHOWN as HTML."""
    command = " ".join(f"\\\n    {word}" if word in BREAKS else word for word in COMMAND)
    parts = [f'<span class="prompt">$</span> <b>{html.escape(command)}</b>']
    last = -1
    for start in SHOWN:
        number = next((i for i, line in enumerate(lines) if line.startswith(start)), None)
        if number is None:
            sys.exit(f"make_picture.py: no line that begins with {start!r} found in\n" + "\n".join(lines))
        if number > last + 1:
            parts.append('<span class="cut">…</span>')
        text = html.escape(lines[number])
        parts.append(f'<span class="passed">{text}</span>' if text.startswith("passed") else text)
        last = number
    return "\n".join(parts)


@contextlib.contextmanager
def browser(profile: pathlib.Path) -> Iterator[webdriver.Chrome]:
    chromium, driver_program = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver_program is None:
        sys.exit("make_picture.py: no chromium with chromedriver found; install Debian's chromium and chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={profile}"):
        options.add_argument(argument)
    driver = webdriver.Chrome(service=Service(driver_program), options=options)
    try:
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                               {"width": WIDTH, "height": HEIGHT, "deviceScaleFactor": SCALE, "mobile": False})
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia",
                               {"features": [{"name": "prefers-color-scheme", "value": "light"}]})
        yield driver
    finally:
        driver.quit()


def legend(driver: webdriver.Chrome) -> str:
    """What the colours of the page's steps mean, for those that the page has."""
    texts = {False: "runs on NNAPI, in one call", True: "stays on the CPU, in the same file"}
    colours = driver.execute_script(
        "return [...document.querySelectorAll('#canvas .step .back')].map((back, i) => {const {fill, stroke} ="
        " getComputedStyle(back); return [view.graph.steps[i].segment == null, fill, stroke];})")
    return "".join(f'<dt style="background: {fill}; border-color: {stroke}"></dt><dd>{texts[is_cpu]}</dd>'
                   for is_cpu, fill, stroke in colours)


def draw(folder: pathlib.Path, lines: List[str]) -> bytes:
    with browser(folder / "profile") as driver:
        driver.get((folder / "report.html").as_uri())
        driver.execute_script(CANVAS_ONLY, *GRAPH)
        graph = driver.find_element(By.ID, "canvas").screenshot_as_base64
        page = folder / "picture.html"
        page.write_text(PAGE % {"width": WIDTH, "height": HEIGHT, "graph_width": GRAPH[0], "graph_height": GRAPH[1],
                                "terminal": terminal_text(lines), "legend": legend(driver), "graph": graph})
        driver.get(page.as_uri())
        return base64.b64decode(driver.get_screenshot_as_base64())


def squeezed(png: bytes) -> bytes:
    """The picture in few colours, and nothing in the file besides it."""
    picture = Image.open(io.BytesIO(png)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    picture.info.clear()
    out = io.BytesIO()
    picture.save(out, "PNG", optimize=True)
    return out.getvalue()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pnet", nargs="?", type=pathlib.Path, metavar="PNET")
    parser.add_argument("--program", type=pathlib.Path, default=ROOT / "build/release/bin/nnapi-convert")
    parser.add_argument("-o", "--output", type=pathlib.Path, default=ROOT / "docs/picture.png")
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore")  # of tracing
    with tempfile.TemporaryDirectory(prefix="nnapi-convert-picture-") as name:
        folder = pathlib.Path(name)
        make_model(folder / "face_detector.pt", arguments.pnet)
        lines = convert(arguments.program.resolve(), folder)
        png = squeezed(draw(folder, lines))
    if len(png) > MOST_BYTES:
        sys.exit(f"make_picture.py: the picture has {len(png)} bytes, at most {MOST_BYTES} needed")
    arguments.output.write_bytes(png)
    print(f"{arguments.output}: {len(png) // 1000} kB")


if __name__ == "__main__":
    main()
