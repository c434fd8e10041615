#!/usr/bin/python3
"""Quantises the networks of bench/quantise.py by ONNX Runtime's quantize_static, for comparison. Runs where
python3-onnx and python3-onnxruntime are installed (Debian 13), on the folder that `bench/quantise.py --export` filled,
and leaves what the quantised networks give on the judging pictures there: NETWORK.METHOD.WEIGHTS.npy."""

import argparse
import pathlib

import numpy
import onnx.reference  # before onnxruntime, which registers operators of the same names  # noqa: F401
import onnxruntime
from onnxruntime.quantization import CalibrationDataReader, CalibrationMethod, QuantFormat, QuantType, quantize_static

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


def run(path: str, pictures: numpy.ndarray) -> numpy.ndarray:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    return numpy.concatenate([session.run(None, {name: picture[None]})[0] for picture in pictures])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=pathlib.Path)
    folder = parser.parse_args().folder
    calibration, judging = numpy.load(folder / "calibration.npy"), numpy.load(folder / "judging.npy")
    for source in sorted(folder.glob("*.onnx")):
        if source.name.endswith(".quantised.onnx"):
            continue
        name = onnxruntime.InferenceSession(str(source)).get_inputs()[0].name
        for method, calibrate in METHODS.items():
            for weights, per_channel in (("per channel", True), ("per tensor", False)):
                quantised = str(source.with_suffix(".quantised.onnx"))
                quantize_static(str(source), quantised, Pictures(name, calibration), quant_format=QuantFormat.QDQ,
                                per_channel=per_channel, activation_type=QuantType.QUInt8, weight_type=QuantType.QInt8,
                                calibrate_method=calibrate)
                numpy.save(folder / f"{source.stem}.{method}.{weights}.npy", run(quantised, judging))
                print(source.stem, method, weights, flush=True)


if __name__ == "__main__":
    main()
