#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""shim_call.py LIBRARY FILE CALLS.npz RESULTS.npz [METHOD...]: runs a file that was written with --runtime shim in a
process without PyTorch, by the C interface of libnnapi_shim.so (nnapi_shim_call).

CALLS.npz has an array for each argument of each call, "NUMBER/PATH": "0/x", "1/images[0]". A call whose METHOD is
given, such as "3=reset_states", calls that in place of forward. RESULTS.npz gets the results in the same form, and
"seconds", the CPU time of each call. LD_LIBRARY_PATH has to lead to libneuralnetworks.so."""

import ctypes
import sys
import time

import numpy

MOST_AXES = 8
DTYPES = {0: "uint8", 1: "int8", 2: "int16", 3: "int32", 4: "int64", 5: "float16", 6: "float32", 7: "float64", 11: "bool"}
NUMBERS = {name: number for number, name in DTYPES.items()}


class NamedTensor(ctypes.Structure):
    _fields_ = [("path", ctypes.c_char_p), ("dtype", ctypes.c_int32), ("rank", ctypes.c_uint32),
                ("sizes", ctypes.POINTER(ctypes.c_int64)), ("data", ctypes.c_void_p), ("bytes", ctypes.c_size_t)]


class Error(ctypes.Structure):
    _fields_ = [("status", ctypes.c_int32), ("nnapi_code", ctypes.c_int32), ("message", ctypes.c_char * 512)]


class ShimModel:
    def __init__(self, library, file):
        self.library = ctypes.CDLL(library)
        self.library.nnapi_shim_result_new.restype = ctypes.c_void_p
        self.library.nnapi_shim_result_count.restype = ctypes.c_uint32
        self.handle = ctypes.c_void_p()
        error = Error()
        status = self.library.nnapi_shim_open_file(str(file).encode(), ctypes.byref(self.handle), ctypes.byref(error))
        if status != 0:
            raise RuntimeError(error.message.decode(errors="replace"))
        self.result = ctypes.c_void_p(self.library.nnapi_shim_result_new())

    def call(self, method, arguments):
        """Returns {path: array}."""
        self.run(method, arguments)
        return dict(self.results())

    def run(self, method, arguments):
        """Leaves the results where they are: results() copies them."""
        kept = {path: numpy.ascontiguousarray(array) for path, array in arguments.items()}
        tensors = (NamedTensor * len(kept))()
        for tensor, (path, array) in zip(tensors, kept.items()):
            shape = arguments[path].shape
            tensor.path, tensor.dtype, tensor.rank = path.encode(), NUMBERS[str(array.dtype)], len(shape)
            tensor.sizes = (ctypes.c_int64 * MOST_AXES)(*shape)
            tensor.data, tensor.bytes = array.ctypes.data, array.nbytes
        error = Error()
        status = self.library.nnapi_shim_call(self.handle, method.encode(), tensors, len(kept), self.result,
                                              ctypes.byref(error))
        if status != 0:
            raise RuntimeError(error.message.decode(errors="replace"))

    def results(self):
        for index in range(self.library.nnapi_shim_result_count(self.result)):
            tensor = NamedTensor()
            self.library.nnapi_shim_result_tensor(self.result, index, ctypes.byref(tensor), None)
            shape = tuple(tensor.sizes[:tensor.rank])
            data = ctypes.string_at(tensor.data, tensor.bytes) if tensor.bytes else b""
            yield tensor.path.decode(), numpy.frombuffer(data, dtype=DTYPES[tensor.dtype]).reshape(shape)


def main():
    library, file, calls, results, *methods = sys.argv[1:]
    named = dict(method.split("=", 1) for method in methods)
    given = numpy.load(calls)
    model = ShimModel(library, file)
    with open("/proc/self/maps") as maps:
        torch = [line.split()[-1] for line in maps if "libtorch" in line or "libc10" in line]
    if torch:
        sys.exit(f"shim_call.py: {torch[0]} is in the process")  # the first call loads NNAPI; the host's has LibTorch
    arguments = {}
    for key in given.files:
        number, _, path = key.partition("/")
        arguments.setdefault(int(number), {})[path] = given[key]
    arguments.update({int(number): {} for number in named if int(number) not in arguments})
    found, seconds = {}, []
    for number in sorted(arguments):
        begin = time.process_time()
        result = model.call(named.get(str(number), "forward"), arguments[number])
        seconds.append(time.process_time() - begin)
        found.update({f"{number}/{path}": array for path, array in result.items()})
    numpy.savez(results, seconds=numpy.array(seconds), **found)


if __name__ == "__main__":
    try:
        main()
    except RuntimeError as problem:
        sys.exit(f"shim_call.py: {problem}")
