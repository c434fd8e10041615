#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Shows that PyTorch 1.13.1, which Android has, reads and runs what a program built on another LibTorch writes.

    written_files.py convert FOLDER   converts the small models of testdata into FOLDER, by $NNAPI_CONVERT
    written_files.py verify FOLDER    compares these files with their originals, by $NNAPI_CONVERT built on 1.13.1, and
                                      loads those for the lite interpreter; needs PyTorch 1.13.1
"""

import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PICTURE = ["--input", "1,3,16,16"]
MODELS = {
    "models/residual.pt": PICTURE,
    "models/depthwise.pt": PICTURE,
    "models/scripted.pt": PICTURE,
    "models/tuple_output.pt": PICTURE,
    "models/shared_weights.pt": ["--input", "1,6,12,12"],
    "models/two_input.pt": ["--input", "1,3,16,16", "--input", "1,2,16,16"],
    "models/unknown_operations.pt": [*PICTURE, "--min-segment-macs", "0"],
    "models/control_flow.pt": PICTURE,
    "models/lite.ptl": [],
    "models/quant.pt": [],
    "models/quant_quint8_bundled.pt": [],
    "pytorch2/attention_causal.pt": [],
    "exported/since_2.9/attention.pt2": [],
}
FORMS = {"nhwc.pt": ["--nhwc"], "nchw.ptl": ["--nchw"]}


def files(folder):
    """Yields each original, its options and its converted file."""
    for model, options in MODELS.items():
        for form, layout in FORMS.items():
            name = model.replace("/", "_").rsplit(".", 1)[0]
            yield ROOT / "testdata" / model, [*options, *layout], folder / f"{name}.{form}"


def run(*command):
    done = subprocess.run([os.environ["NNAPI_CONVERT"], *map(str, command)], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, timeout=300)
    if done.returncode != 0:
        print(" ".join(map(str, command)), done.stdout, sep="\n")
    return done.returncode == 0


def convert(folder):
    folder.mkdir(parents=True, exist_ok=True)
    return [run(model, *options, "-o", out) for model, options, out in files(folder)]


def loads_on_device(path):
    from torch.jit.mobile import _load_for_lite_interpreter
    try:
        _load_for_lite_interpreter(str(path))
    except RuntimeError as error:
        print(path, error, sep="\n")
        return False
    return True


def verify(folder):
    passed = [run("verify", model, out) for model, _, out in files(folder)]
    return passed + [loads_on_device(out) for _, _, out in files(folder) if out.suffix == ".ptl"]


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("convert", "verify"):
        sys.exit(__doc__)
    passed = (convert if sys.argv[1] == "convert" else verify)(pathlib.Path(sys.argv[2]))
    print(f"{sys.argv[1]}: {sum(passed)} of {len(passed)} passed")
    sys.exit(0 if all(passed) else 1)


if __name__ == "__main__":
    main()
