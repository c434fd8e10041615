# SPDX-License-Identifier: BSD-3-Clause
"""The exported programs of testdata/exported: NAME.pt2, and in NAME.results what PyTorch 2 was given and gave."""

import torch

from cli import ROOT

EXPORTED = ROOT / "testdata" / "exported"
LAYOUTS = ["until_2.7", "since_2.9"]
OLDER = ["2.1", "2.2", "2.4"]  # rewritten by scripts/makers/make_older_exported.py
PROGRAM = {"since_2.9": "models/model.json"} | dict.fromkeys(["until_2.7"] + OLDER, "serialized_exported_program.json")


def tensors(value):
    if isinstance(value, torch.Tensor):
        return [value]
    return [each for part in (value.values() if isinstance(value, dict) else value) for each in tensors(part)]
