#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Quantises the networks of bench/quantise.py and bench/quantise_trained.py by ONNX Runtime's quantize_static, for
comparison. Runs where python3-onnx and python3-onnxruntime are installed (Debian 13), on the folders that their
--export filled, and leaves what the quantised networks give on the judging pictures there: NETWORK.METHOD.WEIGHTS.npz,
an array for each result."""

import argparse
import pathlib
from typing import List

import numpy
import onnx.reference  # before onnxruntime, which registers operators of the same names  # noqa: F401
import onnxruntime
from onnxruntime.quantization import CalibrationDataReader, CalibrationMethod, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

METHODS = {
    "min-max": CalibrationMethod.MinMax,
    "entropy": CalibrationMethod.Entropy,
    "percentile": CalibrationMethod.Percentile,
}


class Pictures(CalibrationDataReader):
    def __init__(self, name: str, pictures: numpy.ndarray) -> None:
        self.rest = iter([{name: picture[None]} for picture in pictures])

    def get_next(self):
        return next(self.rest, None)


def run(path: str, pictures: numpy.ndarray) -> List[numpy.ndarray]:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    found = [session.run(None, {name: picture[None]}) for picture in pictures]
    return [numpy.concatenate(each) for each in zip(*found)]


def quantise(folder: pathlib.Path) -> None:
    calibration, judging = numpy.load(folder / "calibration.npy"), numpy.load(folder / "judging.npy")
    for source in sorted(folder.glob("*.onnx")):
        if len(source.suffixes) > 1:  # written here
            continue
        name = onnxruntime.InferenceSession(str(source)).get_inputs()[0].name
        prepared, quantised = str(source.with_suffix(".prepared.onnx")), str(source.with_suffix(".quantised.onnx"))
        quant_pre_process(str(source), prepared)
        for method, calibrate in METHODS.items():
            for weights, per_channel in (("per channel", True), ("per tensor", False)):
                quantize_static(prepared, quantised, Pictures(name, calibration), quant_format=QuantFormat.QDQ,
                                per_channel=per_channel, activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8,
                                calibrate_method=calibrate)
                numpy.savez(folder / f"{source.stem}.{method}.{weights}.npz", *run(quantised, judging))
                print(source.stem, method, weights, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path, nargs="+")
    for folder in parser.parse_args().folder:
        quantise(folder)


if __name__ == "__main__":
    main()
