# SPDX-License-Identifier: BSD-3-Clause
"""The shim's C interface for pictures, labels and notes, by ctypes: as an app in C uses it."""

import ctypes
import struct
import zlib
from typing import List

import numpy

from cli import LIBRARIES

FLOAT32, QUANT8 = 3, 5  # ANEURALNETWORKS_TENSOR_*
RGB, RGBA, YUV_420 = 0, 1, 2


class Tensor(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int32), ("rank", ctypes.c_uint32), ("sizes", ctypes.c_uint32 * 8),
                ("scale", ctypes.c_float), ("zero_point", ctypes.c_int32), ("bytes", ctypes.c_size_t),
                ("argument", ctypes.c_uint32), ("is_nhwc", ctypes.c_uint32)]


class Picture(ctypes.Structure):
    _fields_ = [("struct_bytes", ctypes.c_size_t), ("pixels", ctypes.c_int32), ("width", ctypes.c_uint32),
                ("height", ctypes.c_uint32), ("planes", ctypes.c_void_p * 3), ("plane_bytes", ctypes.c_size_t * 3),
                ("row_bytes", ctypes.c_size_t * 3), ("pixel_bytes", ctypes.c_size_t * 3),
                ("cut", ctypes.c_uint32 * 4), ("rotation", ctypes.c_int32), ("is_mirrored", ctypes.c_int32)]


class Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int32), ("nnapi_code", ctypes.c_int32), ("message", ctypes.c_char * 512)]


class Shape(ctypes.Structure):
    _fields_ = [("rank", ctypes.c_uint32), ("sizes", ctypes.POINTER(ctypes.c_int64))]


class Score(ctypes.Structure):
    _fields_ = [("index", ctypes.c_uint32), ("score", ctypes.c_float), ("label", ctypes.c_char_p)]


class ShimError(Exception):
    pass


def rgb(pixels: numpy.ndarray, **changes) -> Picture:
    """Of rows of pixels, uint8[height, width, 3 or 4], which have to stay."""
    height, width, channels = pixels.shape
    picture = Picture(struct_bytes=ctypes.sizeof(Picture), pixels=RGB if channels == 3 else RGBA, width=width,
                      height=height)
    picture.planes[0] = pixels.ctypes.data
    picture.plane_bytes[0] = pixels.nbytes
    for name, value in changes.items():
        setattr(picture, name, value)
    return picture


def write_png(path, pixels: numpy.ndarray):
    """Of uint8[height, width, 3]."""
    def chunk(kind, content):
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
    height, width, _ = pixels.shape
    rows = b"".join(b"\0" + row.tobytes() for row in pixels)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">2I5B", width, height, 8, 2, 0, 0, 0))
                     + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


class Model:
    def __init__(self, path):
        self.library = ctypes.CDLL(str(LIBRARIES / "libnnapi_shim.so"))
        self.library.nnapi_shim_label.restype = ctypes.c_char_p
        self.library.nnapi_shim_note.restype = ctypes.c_char_p
        self.library.nnapi_shim_note_key.restype = ctypes.c_char_p
        self.handle = ctypes.c_void_p()
        self.call("nnapi_shim_open_file", str(path).encode(), ctypes.byref(self.handle))

    def call(self, name: str, *arguments):
        error = Error()
        if getattr(self.library, name)(*arguments, ctypes.byref(error)) != 0:
            raise ShimError(error.message.decode())

    def close(self):
        self.library.nnapi_shim_close(self.handle)

    def input(self, shape: List[int]) -> Tensor:
        sizes = (ctypes.c_int64 * len(shape))(*shape)
        shapes = (Shape * 1)(Shape(len(shape), sizes))
        tensor = Tensor()
        self.call("nnapi_shim_input", self.handle, shapes, ctypes.c_uint32(1), ctypes.c_uint32(0),
                  ctypes.byref(tensor))
        return tensor

    def fill(self, picture: Picture, tensor: Tensor) -> numpy.ndarray:
        """The input's numbers in its own order."""
        sizes = list(tensor.sizes[:tensor.rank])
        values = numpy.zeros(sizes, numpy.float32 if tensor.type == FLOAT32 else numpy.uint8)
        self.call("nnapi_shim_picture_fill", self.handle, ctypes.byref(picture), ctypes.byref(tensor),
                  values.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(values.nbytes))
        return values

    def boxes(self, picture: Picture, tensor: Tensor, boxes: numpy.ndarray) -> numpy.ndarray:
        taken = numpy.ascontiguousarray(boxes, numpy.float32)
        self.call("nnapi_shim_picture_boxes", self.handle, ctypes.byref(picture), ctypes.byref(tensor),
                  taken.ctypes.data_as(ctypes.c_void_p), ctypes.c_uint32(len(taken)))
        return taken

    def labels(self) -> List[str]:
        count = self.library.nnapi_shim_label_count(self.handle)
        return [self.library.nnapi_shim_label(self.handle, i).decode() for i in range(count)]

    def notes(self) -> dict:
        count = self.library.nnapi_shim_note_count(self.handle)
        keys = [self.library.nnapi_shim_note_key(self.handle, i) for i in range(count)]
        return {key.decode(): self.library.nnapi_shim_note(self.handle, key).decode() for key in keys}

    def top(self, scores: numpy.ndarray, count: int) -> list:
        output = Tensor(type=FLOAT32, bytes=scores.nbytes)
        best, found = (Score * count)(), ctypes.c_uint32(count)
        self.call("nnapi_shim_top", self.handle, ctypes.byref(output), scores.ctypes.data_as(ctypes.c_void_p), best,
                  ctypes.byref(found))
        return [(each.index, each.label.decode() if each.label else None) for each in best[:found.value]]
