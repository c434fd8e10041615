#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Converts networks of torchvision, timm and Transformers by the Python module, and by files and the command, and
compares: whether NNAPI runs them whole, and whether the command's verify passes. Tells what convert() takes beyond the
export and the command, in CPU time of its process. No test of CI: it needs the wheel (scripts/packages/make-wheel.py) and
PyTorch 2 with the libraries.

    python3 -m venv build/try && build/try/bin/pip install build/bundle/*.whl torch torchvision timm transformers
    build/try/bin/python scripts/sweeps/try_python.py [NAME...]
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import time
import warnings
import zlib
from typing import Any, Callable, Dict, List, Tuple

import torch

import nnapi_convert
from nnapi_convert import models, program, work

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "makers"))

VISION = ("mobilenet_v2", "mobilenet_v3_small", "resnet18", "efficientnet_b0", "densenet121", "shufflenet_v2_x1_0",
          "squeezenet1_1", "regnet_y_400mf", "convnext_tiny", "vit_b_32", "mnasnet0_5", "googlenet")
TIMM = ("resnet10t", "mobilenetv4_conv_small", "efficientvit_b0", "ghostnet_100", "levit_128s", "vit_tiny_patch16_224",
        "mobilevit_xxs", "repvgg_a0", "edgenext_xx_small", "convnext_atto")
FAMILIES = tuple(f"hf_{name}" for name in (
    "bert", "distilbert", "albert", "roberta", "electra", "gpt2", "llama", "vit", "dinov2", "t5_encoder"))
MOST_OVERHEAD = 0.05  # seconds of this process's CPU time, of convert() beyond the export and the command


def timm_networks():
    import timm
    from pytorch2.network import Network

    for name in TIMM:
        yield Network(name, "timm", lambda name=name: timm.create_model(name, pretrained=False),
                      lambda: (torch.randn(1, 3, 224, 224),))


def networks():
    from pytorch2 import families, vision

    for chosen, found in ((VISION, vision.networks()), (None, timm_networks()), (FAMILIES, families.networks())):
        yield from (network for network in found if chosen is None or network.name in chosen)


class Clock:
    """Adds up what functions of the module take, which are the work of others."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def watch(self, owner: Any, name: str) -> None:
        function: Callable[..., Any] = getattr(owner, name)

        def watched(*arguments: Any, **options: Any) -> Any:
            start = time.process_time()
            try:
                return function(*arguments, **options)
            finally:
                self.seconds += time.process_time() - start

        setattr(owner, name, watched)


def command(*words: str) -> Tuple[int, str]:
    done = subprocess.run([program.program_path(), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return done.returncode, (done.stderr.strip().splitlines() or [""])[-1]


def by_files(model: torch.nn.Module, inputs: Tuple[torch.Tensor, ...], folder: str) -> str:
    """The same by a .pt2 file, or a traced one where PyTorch or the command refuses that."""
    problem = ""
    for kind in ("model.pt2", "model.pt"):
        path, out, report = (os.path.join(folder, name) for name in (kind, "file.pt", "file.json"))
        try:
            with torch.no_grad():
                if kind == "model.pt2":
                    torch.export.save(torch.export.export(model, inputs), path)
                else:
                    torch.jit.trace(model, inputs, check_trace=False, strict=False).save(path)
        except Exception as error:
            problem = f"{kind}: {type(error).__name__}"
            continue
        code, problem = command(path, "--nchw", "-o", out, "--report", report)
        if code == 0:
            code, problem = command("verify", path, out)
            whole = "partition" not in (nnapi_convert.errors.json_or_none(open(report, encoding="utf-8").read()) or {})
            return ("whole" if whole else "parts") if code == 0 else f"verify: exit code {code}"
    return problem[:120]


def main() -> int:
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    from pytorch2.network import enliven

    clock = Clock()
    clock.watch(models, "export")
    clock.watch(models, "trace")
    clock.watch(work, "run")
    rows: List[Dict[str, Any]] = []
    for network in networks():
        if sys.argv[1:] and network.name not in sys.argv[1:]:
            continue
        torch.manual_seed(zlib.crc32(network.name.encode()))
        try:
            model = enliven(network.make().eval(), network.inputs)
            inputs = network.inputs()
        except Exception as error:
            print(f"{network.name}: can't be made: {type(error).__name__}: {str(error)[:100]}", flush=True)
            continue
        with tempfile.TemporaryDirectory() as folder:
            clock.seconds, start = 0.0, time.process_time()
            out = os.path.join(folder, "out.pt")
            made, how = "", ""
            try:
                result = nnapi_convert.convert(model, inputs, out, nchw=True, progress=False)
                beyond = time.process_time() - start - clock.seconds
                made, how = "whole" if result.is_whole else "parts", result.how
                result.verify()
            except nnapi_convert.Error as error:
                beyond = time.process_time() - start - clock.seconds
                made = f"{made} {type(error).__name__}: {error.text.splitlines()[0][:120]}"
            files = by_files(model, inputs, folder)
        rows.append({"name": network.name, "module": made, "files": files, "beyond": beyond})
        print(f"{network.group:12} {network.name:24} module: {made} ({how}); files: {files}; "
              f"beyond {beyond * 1000:.0f} ms", flush=True)
    whole = {kind: sum(row[kind] == "whole" for row in rows) for kind in ("module", "files")}
    same = sum(row["module"] == row["files"] for row in rows)
    most = max((row["beyond"] for row in rows), default=0.0)
    print(f"{len(rows)} networks, PyTorch {torch.__version__}: {whole['module']} whole by the module, "
          f"{whole['files']} by files, {same} the same; beyond the export and the command at most {most * 1000:.0f} ms")
    return 0 if same == len(rows) and most <= MOST_OVERHEAD else 1


if __name__ == "__main__":
    sys.exit(main())
