# SPDX-License-Identifier: BSD-3-Clause
"""The shim's C core, libnnapi_shim.so, by ctypes: runs an archive without PyTorch. Run as a program in a process of its own:
shim_core.py LIBRARY ARCHIVE SHAPES INPUT... OUTPUT, SHAPES being 1x3x16x16,... and the files raw tensors in NNAPI's order."""

import ctypes
import sys


class Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int32), ("code", ctypes.c_int32), ("message", ctypes.c_char * 512)]


class Shape(ctypes.Structure):
    _fields_ = [("rank", ctypes.c_uint32), ("sizes", ctypes.POINTER(ctypes.c_int64))]


class Tensor(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("rank", ctypes.c_uint32), ("sizes", ctypes.c_uint32 * 8),
                ("scale", ctypes.c_float), ("zero_point", ctypes.c_int32), ("bytes", ctypes.c_size_t),
                ("argument", ctypes.c_uint32), ("is_nhwc", ctypes.c_uint32)]


class Buffer(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("bytes", ctypes.c_size_t)]


def places(buffers):
    """Where ctypes' buffers lie, as the core takes it."""
    return (Buffer * len(buffers))(*[Buffer(ctypes.cast(each, ctypes.c_void_p), len(each)) for each in buffers])


class Model:
    def __init__(self, library: str, path: str):
        self.core = ctypes.CDLL(library)
        self.handle = ctypes.c_void_p()
        self.error = Error()
        self.call("nnapi_shim_open_file", path.encode(), ctypes.byref(self.handle))

    def call(self, function: str, *arguments):
        status = getattr(self.core, function)(*arguments, ctypes.byref(self.error))
        if status != 0:
            raise RuntimeError(self.error.message.decode())

    def run(self, shapes, inputs) -> bytes:
        """The bytes of all outputs, one after the other."""
        sizes = [(ctypes.c_int64 * len(shape))(*shape) for shape in shapes]
        given = (Shape * len(shapes))(*[Shape(len(each), each) for each in sizes])
        outputs = []
        for number in range(self.core.nnapi_shim_output_count(self.handle)):
            tensor = Tensor()
            self.call("nnapi_shim_output", self.handle, given, len(shapes), number, ctypes.byref(tensor))
            outputs.append(ctypes.create_string_buffer(tensor.bytes))
        kept = [ctypes.create_string_buffer(each, len(each)) for each in inputs]
        self.call("nnapi_shim_run", self.handle, given, len(shapes), places(kept), len(kept), places(outputs),
                  len(outputs))
        return b"".join(each.raw for each in outputs)


if __name__ == "__main__":
    shapes = [[int(size) for size in shape.split("x")] for shape in sys.argv[3].split(",")]
    inputs = [open(path, "rb").read() for path in sys.argv[4:-1]]
    try:
        made = Model(sys.argv[1], sys.argv[2]).run(shapes, inputs)
    except RuntimeError as problem:
        sys.exit(str(problem))
    with open(sys.argv[-1], "wb") as file:
        file.write(made)
