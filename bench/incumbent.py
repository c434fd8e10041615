# SPDX-License-Identifier: BSD-3-Clause
"""Converts a model with PyTorch's Python prototype, as its tutorial does: the process that bench.py measures
against."""

import sys

import torch
from torch.backends._nnapi.prepare import convert_model_to_nnapi


def main() -> None:
    model_path, out_path, layout, shape = sys.argv[1:]
    example = torch.zeros([int(extent) for extent in shape.split(",")])
    if layout == "nhwc":
        example = example.contiguous(memory_format=torch.channels_last)
        example.nnapi_nhwc = True
    with torch.no_grad():
        convert_model_to_nnapi(torch.jit.load(model_path), example).save(out_path)


main()
