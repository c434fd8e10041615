# SPDX-License-Identifier: BSD-3-Clause
"""An integer NNAPI of its own in NumPy: reads a converted file and computes it exactly. It shares nothing with the
program or the host's NNAPI. `Exact` rounds sums of products once, by exact multipliers; `fixed_point` is the reference
of TensorFlow Lite and of Android's own NNAPI runtime, a multiplier of 31 bits and a shift."""

import struct
import zipfile
from typing import Dict, List, NamedTuple, Optional

import numpy

ADD, AVERAGE_POOL_2D, CONCATENATION, CONV_2D, DEPTHWISE_CONV_2D = 0, 1, 2, 3, 4
FULLY_CONNECTED, LOGISTIC, MAX_POOL_2D, MUL, RELU, RESHAPE = 9, 14, 17, 18, 19, 22
MEAN, STRIDED_SLICE, SUB = 31, 35, 36
QUANT8, PER_CHANNEL = 5, 11
WEIGHTED = (CONV_2D, DEPTHWISE_CONV_2D, FULLY_CONNECTED)
DTYPES = {1: numpy.int32, 4: numpy.int32, QUANT8: numpy.uint8, 6: numpy.bool_, PER_CHANNEL: numpy.int8}


class Operand(NamedTuple):
    code: int
    shape: List[int]
    scale: float
    zero_point: int
    channel_scales: Optional[numpy.ndarray]


class Operation(NamedTuple):
    code: int
    inputs: List[int]
    outputs: List[int]


class Model(NamedTuple):
    operands: List[Operand]
    values: Dict[int, numpy.ndarray]  # of operands: constants
    operations: List[Operation]
    inputs: List[int]
    outputs: List[int]


class Words:
    def __init__(self, data: bytes) -> None:
        self.data, self.at = data, 0

    def take(self, form: str, count: int = 1) -> list:
        """Rows of words; `form` is of `struct`, one letter a word."""
        size = struct.calcsize("<" + form)
        rows = [struct.unpack_from("<" + form, self.data, self.at + i * size) for i in range(count)]
        self.at += size * count
        return rows

    def numbers(self, count: int) -> List[int]:
        return [number for (number,) in self.take("i", count)]


def records(path) -> List[bytes]:
    """The archive's tensors, by their numbers."""
    with zipfile.ZipFile(path) as archive:
        tensors = {int(name.rsplit("/", 1)[1]): archive.read(name) for name in archive.namelist() if "/data/" in name}
    return [tensors[number] for number in sorted(tensors)]


def constant(operand: Operand, data: bytes) -> numpy.ndarray:
    return numpy.frombuffer(data[:max(1, int(numpy.prod(operand.shape))) * numpy.dtype(DTYPES[operand.code]).itemsize],
                            DTYPES[operand.code]).reshape(operand.shape)


def read_stock(path) -> Model:
    """What PyTorch's own loader reads (schemas/nnapi_buffer.md, version 1)."""
    buffer, *weights = records(path)
    words = Words(buffer)
    (_, operand_count, value_count, operation_count, input_count, output_count), = words.take("6i")
    rows, value_rows = words.take("iIfi", operand_count), words.take("3i", value_count)
    operation_rows = words.take("3i", operation_count)
    operands = [Operand(code, words.numbers(rank), scale, zero, None) for code, rank, scale, zero in rows]
    values = {}
    for operand, source, length in value_rows:
        data = buffer[words.at:words.at + length]
        words.at += (length + 3) // 4 * 4
        if source == 2:
            number, offset, size = struct.unpack("<3i", data)
            data = weights[number][offset:offset + size]
        values[operand] = constant(operands[operand], data)
    operations = [Operation(code, words.numbers(ins), words.numbers(outs)) for code, ins, outs in operation_rows]
    return Model(operands, values, operations, words.numbers(input_count), words.numbers(output_count))


def read_shim(path) -> Model:
    """What the shim reads (the same page, version 2)."""
    weights, buffer = records(path)
    words = Words(buffer)
    header = words.numbers(14)
    arguments, expressions, patches = header[9:12]
    for _ in range(arguments):
        words.numbers(words.numbers(1)[0])
    words.numbers(3 * expressions + 2 * patches)
    operand_count, value_count, operation_count, input_count, output_count = words.numbers(5)
    rows, value_rows = words.take("iIfiii", operand_count), words.take("iiqq", value_count)
    operation_rows = words.take("3i", operation_count)
    shapes = [words.numbers(row[1]) for row in rows]
    operands = []
    for (code, _, scale, zero, _, channels), shape in zip(rows, shapes):
        scales = numpy.array([each for (each,) in words.take("f", channels)]) if channels else None
        operands.append(Operand(code, shape, scale, zero, scales))
    values = {}
    for operand, source, offset, length in value_rows:
        data = weights[offset:offset + length] if source == 2 else buffer[words.at:words.at + length]
        words.at += (length + 3) // 4 * 4 if source == 0 else 0
        values[operand] = constant(operands[operand], data)
    operations = [Operation(code, words.numbers(ins), words.numbers(outs)) for code, ins, outs in operation_rows]
    inputs = [row[0] for row in words.take("3i", input_count)]
    return Model(operands, values, operations, inputs, [row[0] for row in words.take("2i", output_count)])


def rounded(numbers: numpy.ndarray) -> numpy.ndarray:
    """Halves away from zero."""
    return (numpy.sign(numbers) * numpy.floor(numpy.abs(numbers) + 0.5)).astype(numpy.int64)


def fixed_point(sums: numpy.ndarray, multiplier: float) -> numpy.ndarray:
    """SaturatingRoundingDoublingHighMul and RoundingDivideByPOT of gemmlowp, in 64 bits."""
    mantissa, exponent = numpy.frexp(multiplier)
    fixed = int(numpy.floor(mantissa * (1 << 31) + 0.5))
    left, right = max(int(exponent), 0), max(-int(exponent), 0)
    product = (sums.astype(numpy.int64) << left) * fixed
    high = numpy.where(product >= 0, (product + (1 << 30)) >> 31, -(((1 << 30) - 1 - product) >> 31))
    mask = (1 << right) - 1
    remainder = high & mask
    return (high >> right) + (remainder > (mask >> 1) + (high < 0))


def clamped(codes: numpy.ndarray, output: Operand, activation: int) -> numpy.ndarray:
    def code(number: float) -> int:
        return int(rounded(numpy.array(number / numpy.float64(output.scale)))) + output.zero_point

    low, high = {0: (0, 255), 1: (code(0), 255), 2: (code(-1), code(1)), 3: (code(0), code(6))}[activation]
    return numpy.clip(codes, max(0, low), min(255, high)).astype(numpy.uint8)


class Exact:
    """Runs a model on codes; keeps the codes of every operand in `codes`."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.codes: Dict[int, numpy.ndarray] = dict(model.values)
        self.checked = self.differing = 0  # codes of layers with weights, and how many fixed_point has otherwise
        self.greatest_difference = 0

    def run(self, *inputs: numpy.ndarray) -> List[numpy.ndarray]:
        self.codes = {**self.model.values, **dict(zip(self.model.inputs, inputs))}
        for operation in self.model.operations:
            output = self.model.operands[operation.outputs[0]]
            self.codes[operation.outputs[0]] = COMPUTE[operation.code](self, operation, output).reshape(output.shape)
        return [self.codes[number] for number in self.model.outputs]

    def operand(self, number: int) -> Operand:
        return self.model.operands[number]

    def steps(self, number: int) -> numpy.ndarray:
        """Codes without the zero point."""
        return self.codes[number].astype(numpy.int64) - self.operand(number).zero_point

    def real(self, number: int) -> numpy.ndarray:
        return self.steps(number) * numpy.float64(self.operand(number).scale)

    def integers(self, operation: Operation, begin: int, end: Optional[int] = None) -> List[int]:
        return [int(self.codes[number]) for number in operation.inputs[begin:end]]

    def rescaled(self, operation: Operation, sums: numpy.ndarray, output: Operand, activation: int) -> numpy.ndarray:
        """Sums of products, of which the last axis is that of the channels."""
        source, filters = self.operand(operation.inputs[0]), self.operand(operation.inputs[1])
        scales = filters.channel_scales if filters.channel_scales is not None else numpy.array([filters.scale])
        multipliers = numpy.float64(source.scale) * scales.astype(numpy.float64) / numpy.float64(output.scale)
        multipliers = numpy.broadcast_to(multipliers, sums.shape[-1:])
        sums = sums + self.codes[operation.inputs[2]].astype(numpy.int64)
        assert numpy.abs(sums).max() < 1 << 31, "an accumulator of NNAPI has 32 bits"
        codes = clamped(rounded(sums * multipliers) + output.zero_point, output, activation)
        for channel, multiplier in enumerate(multipliers):
            other = clamped(fixed_point(sums[..., channel], multiplier) + output.zero_point, output, activation)
            difference = numpy.abs(other.astype(int) - codes[..., channel])
            self.checked += difference.size
            self.differing += int((difference > 0).sum())
            self.greatest_difference = max(self.greatest_difference, int(difference.max()))
        return codes


def windows(image: numpy.ndarray, padding: List[int], strides: List[int], size: List[int], fill: int) -> numpy.ndarray:
    """[n, height, width, tap, channel], taps row by row; padding is left, right, top, bottom, strides and size x, y."""
    left, right, top, bottom = padding
    image = numpy.pad(image, ((0, 0), (top, bottom), (left, right), (0, 0)), constant_values=fill)
    rows = range(0, image.shape[1] - size[1] + 1, strides[1])
    columns = range(0, image.shape[2] - size[0] + 1, strides[0])
    return numpy.stack([numpy.stack([image[:, y:y + size[1], x:x + size[0]].reshape(image.shape[0], -1, image.shape[3])
                                     for x in columns], 1) for y in rows], 1)


def conv(exact: Exact, operation: Operation, output: Operand) -> numpy.ndarray:
    *padding, stride_x, stride_y, activation = exact.integers(operation, 3, 10)
    filters = exact.steps(operation.inputs[1])
    size = [filters.shape[2], filters.shape[1]]
    taps = windows(exact.steps(operation.inputs[0]), padding, [stride_x, stride_y], size, 0)
    sums = numpy.einsum("nyxtc,otc->nyxo", taps, filters.reshape(filters.shape[0], -1, filters.shape[3]))
    return exact.rescaled(operation, sums, output, activation)


def depthwise(exact: Exact, operation: Operation, output: Operand) -> numpy.ndarray:
    *padding, stride_x, stride_y, multiplier, activation = exact.integers(operation, 3, 11)
    filters = exact.steps(operation.inputs[1])
    size = [filters.shape[2], filters.shape[1]]
    taps = windows(exact.steps(operation.inputs[0]), padding, [stride_x, stride_y], size, 0)
    sums = numpy.einsum("nyxtc,tc->nyxc", taps.repeat(multiplier, -1), filters.reshape(-1, filters.shape[3]))
    return exact.rescaled(operation, sums, output, activation)


def fully_connected(exact: Exact, operation: Operation, output: Operand) -> numpy.ndarray:
    filters = exact.steps(operation.inputs[1])
    sums = exact.steps(operation.inputs[0]).reshape(-1, filters.shape[1]) @ filters.T
    return exact.rescaled(operation, sums, output, exact.integers(operation, 3, 4)[0])


def to_codes(numbers: numpy.ndarray, output: Operand, activation: int = 0) -> numpy.ndarray:
    return clamped(rounded(numbers / numpy.float64(output.scale)) + output.zero_point, output, activation)


def arithmetic(function):
    def compute(exact: Exact, operation: Operation, output: Operand) -> numpy.ndarray:
        one, other = (exact.real(number) for number in operation.inputs[:2])
        return to_codes(function(one, other), output, exact.integers(operation, 2, 3)[0])

    return compute


def pool(reduce):
    def compute(exact: Exact, operation: Operation, output: Operand) -> numpy.ndarray:
        *padding, stride_x, stride_y, width, height, activation = exact.integers(operation, 1, 10)
        assert not any(padding), "padded pools are not needed here"
        codes = exact.codes[operation.inputs[0]].astype(numpy.int64)
        taps = windows(codes, padding, [stride_x, stride_y], [width, height], 0)
        return clamped(reduce(taps), output, activation)

    return compute


def mean(exact: Exact, operation: Operation, output: Operand) -> numpy.ndarray:
    """Android's reference divides the sum of codes, and cuts off."""
    axes = tuple(int(axis) for axis in exact.codes[operation.inputs[1]].reshape(-1))
    source = exact.codes[operation.inputs[0]].astype(numpy.int64)
    sums = source.sum(axes)
    return clamped(sums // (source.size // sums.size), output, 0)


def strided_slice(exact: Exact, operation: Operation, _: Operand) -> numpy.ndarray:
    begin, end, strides = (exact.codes[number] for number in operation.inputs[1:4])
    assert exact.integers(operation, 4) == [0, 0, 0], "masks are not needed here"
    return exact.codes[operation.inputs[0]][tuple(map(slice, begin, end, strides))]


def concatenation(exact: Exact, operation: Operation, output: Operand) -> numpy.ndarray:
    parts = [to_codes(exact.real(number), output) for number in operation.inputs[:-1]]
    return numpy.concatenate(parts, int(exact.codes[operation.inputs[-1]]))


COMPUTE = {
    ADD: arithmetic(numpy.add),
    SUB: arithmetic(numpy.subtract),
    MUL: arithmetic(numpy.multiply),
    AVERAGE_POOL_2D: pool(lambda taps: rounded(taps.mean(3))),
    MAX_POOL_2D: pool(lambda taps: taps.max(3)),
    CONCATENATION: concatenation,
    CONV_2D: conv,
    DEPTHWISE_CONV_2D: depthwise,
    FULLY_CONNECTED: fully_connected,
    LOGISTIC: lambda exact, operation, output: to_codes(1 / (1 + numpy.exp(-exact.real(operation.inputs[0]))), output),
    MEAN: mean,
    RELU: lambda exact, operation, output: to_codes(exact.real(operation.inputs[0]), output, 1),
    RESHAPE: lambda exact, operation, _: exact.codes[operation.inputs[0]],
    STRIDED_SLICE: strided_slice,
}
