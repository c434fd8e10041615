# SPDX-License-Identifier: BSD-3-Clause
"""Files of other formats: every subcommand says what the file is, and what to do."""

import bz2
import gzip
import io
import json
import lzma
import os
import struct
import tarfile
import unittest
import zipfile

import torch
from torch import nn
from cli import CliTest, run
from zip_files import stored

IMAGE = ["--input", "1,3,16,16", "--nhwc"]


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 8, 3)
        self.norm = torch.nn.BatchNorm2d(8)

    def forward(self, x):
        return self.norm(self.conv(x)).relu()


def saved(value, **options) -> bytes:
    data = io.BytesIO()
    torch.save(value, data, **options)
    return data.getvalue()


def checkpoint():
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    net(torch.rand(1, 3, 8, 8)).sum().backward()
    optimizer.step()
    return {"epoch": 3, "state_dict": net.state_dict(), "optimizer": optimizer.state_dict()}


def onnx() -> bytes:
    data = io.BytesIO()
    torch.onnx.export(Net().eval(), torch.rand(1, 3, 8, 8), data)
    return data.getvalue()


def safetensors() -> bytes:
    header = json.dumps({"w": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}).encode()
    return struct.pack("<Q", len(header)) + header + bytes(8)


def without_code(content: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return stored({name: archive.read(name) for name in archive.namelist() if "/code/" not in name})


class FileKinds(CliTest):
    def assert_named(self, content: bytes, *needed):
        """Checks that every subcommand that takes a model gives the same sentence."""
        model = self.folder / "model.bin"
        model.write_bytes(content)
        sentences = set()
        for command in ([model, "-o", self.folder / "out.pt"], ["check", model], ["inspect", model],
                        ["verify", model, self.fixture("bundled.pt")]):
            result = self.fail_with(3, *command, needed=[f"can't read {model}: it is ", *needed])
            sentences.add(result.stderr)
        self.assertEqual(1, len(sentences), sentences)
        self.assertEqual(1, len(sentences.pop().splitlines()))

    def test_pipe_and_device(self):
        """Neither is waited for."""
        pipe = self.folder / "pipe.pt"
        os.mkfifo(pipe)
        for path in (pipe, "/dev/zero"):
            for command in ([path, "-o", self.folder / "out.pt"], ["check", path], ["inspect", path]):
                self.fail_with(3, *command, needed=[f"can't read {path}: it is a pipe or a device"])

    def test_pipes_in_options(self):
        """No file that an option names is waited for."""
        model, out = self.fixture("bundled.pt"), self.folder / "out.pt"
        converted = self.convert("bundled.pt", "--nhwc", out="converted.pt")

        def pipe(name):
            os.mkfifo(self.folder / name)
            return self.folder / name
        for arguments in ([model, "-o", out, "--device-profile", pipe("profile.json")],
                          [model, "-o", out, "--calibrate", pipe("data.npy")],
                          [model, "-o", out, "--calibrate", pipe("data.npz")],
                          [model, "-o", out, "--calibrate", pipe("data.pt")],
                          [model, "-o", out, "--calibrate", pipe("list.txt"), "--mean", "0", "--std", "1"],
                          [model, "-o", out, "--calibration", pipe("table.json")],
                          [model, "-o", out, "--torch-library", pipe("operators.so")],
                          ["verify", model, converted, "--inputs", pipe("inputs.pt")],
                          ["batch", pipe("zoo.json"), "-o", self.folder / "results"],
                          ["batch", str(self.fixture("bundled.pt")).replace("bundled", "bundle?"), "--nhwc", "-o",
                           self.folder / "results", "--baseline", pipe("summary.json")]):
            with self.subTest(arguments=arguments):
                self.fail_with(3, *arguments, needed=["it is a pipe or a device"], timeout=20)
        self.fail_with(3, "verify", model, converted, needed=["it is a pipe or a device"], timeout=20,
                       env={"NNAPI_HOST_LIBRARY": str(pipe("libneuralnetworks.so"))})

    def test_pipe_in_a_zoo(self):
        zoo, out = self.folder / "zoo", self.folder / "results"
        zoo.mkdir()
        os.mkfifo(zoo / "pipe.pt")
        result = run("batch", zoo, "-o", out, timeout=20)
        self.assertEqual(1, result.code, f"\n{result}")
        self.assertIn("it is a pipe or a device", (out / "summary.json").read_text())

    def test_state_dict(self):
        self.assert_named(saved(Net().state_dict()), "a state_dict", "conv.weight", "load_state_dict(torch.load(file))")

    def test_state_dict_of_many_weights(self):
        weights = {f"layer{i}.some.very.long.name.of.a.weight": torch.zeros(1) for i in range(4000)}
        self.assert_named(saved(weights), "a state_dict", "layer0.some")

    def test_checkpoint(self):
        self.assert_named(saved(checkpoint()), "a training checkpoint (a dict of epoch, state_dict, optimizer)",
                          'torch.load(file)["state_dict"]')

    def test_pickled_module(self):
        self.assert_named(saved(Net()), "a pickled object of class __main__.Net", "torch.export.save(", "torch.jit.trace")

    def test_tensor(self):
        self.assert_named(saved(torch.rand(3)), "a tensor")

    def test_other_values(self):
        self.assert_named(saved([1, 2]), "torch.save")
        self.assert_named(saved({"epoch": 1}), "a dict of epoch")

    def test_before_1_6(self):
        legacy = {"_use_new_zipfile_serialization": False}
        form = "in the form of PyTorch before 1.6"
        self.assert_named(saved(Net().state_dict(), **legacy), "a state_dict", "conv.weight", form)
        self.assert_named(saved(checkpoint(), **legacy), "a training checkpoint", form)
        self.assert_named(saved(Net(), **legacy), "a pickled object of class __main__.Net", form)

    def test_newer_protocol(self):
        self.assert_named(saved(Net().state_dict(), pickle_protocol=4), "a state_dict", "conv.weight")

    def test_onnx(self):
        self.assert_named(onnx(), "an ONNX model")

    def test_other_formats(self):
        for content, name in [(b"\x1c\0\0\0TFL3" + bytes(100), "TensorFlow Lite"), (safetensors(), "safetensors"),
                              (b"\x89HDF\r\n\x1a\n" + bytes(100), "HDF5"), (b"\x1c\0\0\0PTMF" + bytes(100), ".ptl"),
                              (b"\x1c\0\0\0ET12" + bytes(100), "ExecuTorch"),
                              (stored({"config.json": b"{}", "model.weights.h5": b""}), "Keras")]:
            with self.subTest(name=name):
                self.assert_named(content, name)

    def test_packed_files(self):
        model = self.fixture("bundled.pt").read_bytes()
        archive = io.BytesIO()
        with tarfile.open(fileobj=archive, mode="w") as tar:
            tar.addfile(tarfile.TarInfo("model.pt"))
        for content, *needed in [(gzip.compress(model), "packed by gzip", "gunzip"),
                                 (bz2.compress(model), "packed by bzip2", "bunzip2"),
                                 (lzma.compress(model), "packed by xz", "unxz"),
                                 (b"\x28\xb5\x2f\xfd" + bytes(40), "packed by zstd", "unzstd"),
                                 (archive.getvalue(), "a tar archive", "tar -xf"),
                                 (stored({"a.txt": b"", "best/model.pt": model}), "a zip archive of best/model.pt",
                                  "unpack it"),
                                 (stored({"a.txt": b"", "b.txt": b""}), "a zip archive of a.txt, b.txt", "torch.jit.trace")]:
            with self.subTest(needed=needed):
                self.assert_named(content, *needed)

    def test_what_a_download_leaves(self):
        pointer = ("version https://git-lfs.github.com/spec/v1\n"
                   "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n")
        self.assert_named(pointer.encode(), "a pointer of Git LFS", "git lfs pull")
        for begin in ("<!DOCTYPE html>", "<!doctype html>", "<html>"):
            self.assert_named(f"{begin}<title>Not found</title>".encode(), "a web page", "download the model")

    def test_bytecode_alone(self):
        self.assert_named(without_code(self.fixture("lite.ptl").read_bytes()), "the lite interpreter", "bytecode")

    def test_no_such_format(self):
        """Files that look like a known kind but are not."""
        for content in (b"\x08\x07 text", b"\x08\x00\x12\x02ab:\x00", b"TFL3" + bytes(40), b"\xff" * 9 + b"{" * 9):
            model = self.folder / "model.bin"
            model.write_bytes(content)
            self.fail_with(3, model, "-o", self.folder / "out.pt", needed=["not a zip archive"])


class ConvertedAlready(CliTest):
    def test_converted_file(self):
        model = self.fixture("residual.pt")
        for options in (["--runtime", "pytorch"], ["--runtime", "shim"]):
            with self.subTest(options=options):
                out = self.folder / "out.pt"
                self.succeed(model, *IMAGE, *options, "-o", out)
                for command in ([out, "-o", self.folder / "twice.pt"], ["check", out], ["verify", out, out],
                                ["verify", model, out, "--reference", out]):
                    self.fail_with(3, *command, needed=[f"can't read {out}: nnapi-convert wrote it", "inspect"])
                self.succeed("inspect", out)

    def test_batch(self):
        models = self.folder / "models"
        models.mkdir()
        self.succeed(self.fixture("residual.pt"), *IMAGE, "-o", models / "converted.pt")
        (models / "weights.pt").write_bytes(saved(Net().state_dict()))
        results = self.folder / "results"
        run("batch", models, "-o", results, "--keep-going", *IMAGE)
        for name, needed in [("converted", "nnapi-convert wrote it"), ("weights", "a state_dict")]:
            report = json.loads((results / f"{name}.report.json").read_text())
            self.assertFalse(report["converted"])
            self.assertIn(needed, report["error"])


if __name__ == "__main__":
    unittest.main()
