# SPDX-License-Identifier: BSD-3-Clause
"""Sound files of a form that is seldom seen: they convert, or it is said what of them is not read. "Damaged" is said where
a checksum, a length or a grammar proves it."""

import importlib
import io
import json
import sys
import unittest
import zipfile

import torch
from torch import nn

from cli import FIXTURES, CliTest
from sound_enums import Text, Way
from exported_fixtures import EXPORTED
from stock_torch import StockTorchTest, load
from zip_files import entries, stored

SOUND = EXPORTED / "sound"


class ByWay(nn.Module):
    def __init__(self, way: Way, text: Text):
        super().__init__()
        self.way, self.text = way, text
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        if self.way == Way.TURNED:
            x = x.transpose(0, 1)
        y = self.linear(x)
        if self.text == Text.LAST:
            y = torch.relu(y)
        return y


class Scripts(CliTest, StockTorchTest):
    def setUp(self):
        super().setUp()
        torch.manual_seed(0)
        self.model, self.out = self.folder / "model.pt", self.folder / "out.pt"

    def test_enums(self):
        x = torch.rand(4, 4) - 0.5
        results = []
        for way in Way:
            for text in Text:
                torch.manual_seed(1)
                module = torch.jit.script(ByWay(way, text).eval())
                module.save(str(self.model))
                self.succeed(self.model, "--input", "4,4", "--fallback", "none", "--verify", "-o", self.out)
                results.append(load(self.out)(x))
                self.assert_close(module(x), results[-1])
        for i, result in enumerate(results):
            self.assertTrue(all(not torch.allclose(result, other) for other in results[:i]))

    def test_names_beyond_ascii(self):
        """PyTorch writes such names and can't read them."""
        (self.folder / "módulo.py").write_text("import torch\n\n\nclass Net(torch.nn.Module):\n    def forward(self, x):\n"
                                               "        return torch.relu(x) + 1\n")
        sys.path.insert(0, str(self.folder))
        self.addCleanup(sys.path.remove, str(self.folder))
        module = importlib.import_module("módulo").Net()
        torch.jit.trace(module, torch.rand(2)).save(str(self.model))
        with self.assertRaises(Exception):
            torch.jit.load(str(self.model))
        said = self.fail_with(3, self.model, "-o", self.out,
                              needed=["módulo.py is not read", "a name with letters beyond ASCII"]).stderr
        self.assertNotIn("damaged", said)

    def test_argument_beyond_ascii(self):
        class Named(nn.Module):
            def forward(self, größe):
                return größe + 1

        torch.jit.trace(Named(), torch.rand(2)).save(str(self.model))
        said = self.fail_with(3, self.model, "-o", self.out, needed=["a name with letters beyond ASCII", "line "]).stderr
        self.assertNotIn("damaged", said)

    def test_much_code(self):
        """A few kilobytes that unpack to hundreds of megabytes of code are refused at once."""
        files = entries(FIXTURES / "mlp.pt")
        name = next(name for name in files if name.endswith(".py"))
        with zipfile.ZipFile(self.model, "w", zipfile.ZIP_DEFLATED) as archive:
            for each, content in files.items():
                archive.writestr(each, content + b"\n" * (40 << 20) if each == name else content)
        said = self.fail_with(3, self.model, "-o", self.out, needed=[f"entry {name} is not read", "bytes of code"]).stderr
        self.assertNotIn("damaged", said)


class CutFiles(CliTest):
    """What is there and what is missing of an archive that lost its end."""

    def test_of_pytorch(self):
        whole = self.fixture("bundled.pt").read_bytes()
        path = self.folder / "cut.pt"
        with zipfile.ZipFile(self.fixture("bundled.pt")) as archive:
            third = archive.infolist()[2]
            directory = archive.start_dir
        for size, needed in ((third.header_offset + 70, [f"within entry {third.filename}", "2 whole entries before it",
                                                         f"{third.header_offset + 70} bytes found"]),
                             (directory + 10, [f"{directory + 10} bytes found", "its list of entries breaks off"]),
                             (len(whole) - 1, ["its list of entries"])):
            path.write_bytes(whole[:size])
            with self.subTest(size=size):
                self.fail_with(3, path, "-o", self.folder / "out.pt", needed=["damaged", *needed])

    def test_of_python(self):
        """Headers that tell sizes tell how many bytes are missing."""
        path = self.folder / "cut.pt"
        path.write_bytes(stored(entries(self.fixture("bundled.pt"))))
        with zipfile.ZipFile(path) as archive:
            largest = max(archive.infolist(), key=lambda info: info.file_size)
        whole = path.read_bytes()
        begin = largest.header_offset + 30 + len(largest.filename)
        path.write_bytes(whole[:begin + 100])
        self.fail_with(3, path, "-o", self.folder / "out.pt",
                       needed=[f"{begin + 100} bytes found, at least {begin + largest.file_size} needed"])

    def test_a_part_in_the_middle(self):
        whole = self.fixture("bundled.pt").read_bytes()
        path = self.folder / "cut.pt"
        path.write_bytes(whole[:2000] + whole[2500:])
        self.fail_with(3, path, "-o", self.folder / "out.pt",
                       needed=[f"{len(whole) - 500} bytes found", f"of a file of {len(whole)} bytes"])


class Programs(CliTest, StockTorchTest):
    def setUp(self):
        super().setUp()
        self.model, self.out = self.folder / "model.pt2", self.folder / "out.pt"

    def pickled_by(self, protocol):
        """A program of PyTorch 2.8 whose weights torch.save pickled so."""
        files = entries(EXPORTED / "2.8" / "tied.pt2")
        for name, content in files.items():
            if not name.endswith("weights/model.pt"):
                continue
            data = io.BytesIO()
            torch.save(torch.load(io.BytesIO(content)), data, pickle_protocol=protocol)
            files[name] = data.getvalue()
        return stored(files)

    def test_pickle_protocols(self):
        inputs, _, expected = torch.load(EXPORTED / "2.8" / "tied.results")
        for protocol in (2, 3, 4, 5):
            with self.subTest(protocol=protocol):
                self.model.write_bytes(self.pickled_by(protocol))
                self.succeed(self.model, "-o", self.out)
                self.assert_close(expected, load(self.out)(*inputs))

    def test_other_protocols(self):
        self.model.write_bytes(self.pickled_by(1))
        said = self.fail_with(3, self.model, "-o", self.out, needed=["is not read", "pickle opcode"]).stderr
        self.assertNotIn("damaged", said)

    def test_as_pytorch_writes_it(self):
        """torch.export.save(pickle_protocol=4), whose example inputs are pickled so."""
        said = self.succeed(SOUND / "pickle_protocol_4.pt2", "--verify", "-o", self.out).stderr
        self.assertNotIn("left out", said)

    def test_packed(self):
        with zipfile.ZipFile(self.model, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, content in entries(EXPORTED / "since_2.9" / "cnn.pt2").items():
                packed = zipfile.ZIP_STORED if name.endswith("sample_inputs/model.pt") else zipfile.ZIP_DEFLATED
                archive.writestr(name, content, compress_type=packed)
        self.succeed(self.model, "--verify", "-o", self.out)

    def test_power_of_a_size(self):
        """An integer to the power of an integer is an integer."""
        self.succeed(SOUND / "power_of_size.pt2", "--min-segment-macs", "0", "-o", self.out)
        for size in (5, 3, 11):
            x = torch.rand(size)
            result = load(self.out)(x)  # the first call fixes a size
            self.assertEqual((size ** 2,), tuple(result.shape))
            torch.testing.assert_close(result, torch.zeros(size ** 2) + x.sum())

    def with_class(self, kind, context):
        files = entries(EXPORTED / "since_2.9" / "tree.pt2")
        name = next(name for name in files if name.endswith("models/model.json"))
        program = json.loads(files[name])
        signature = program["graph_module"]["module_call_graph"][0]["signature"]
        tree = json.loads(signature["out_spec"])
        tree[1]["children_spec"][0].update(type=kind, context=context)
        signature["out_spec"] = json.dumps(tree)
        files[name] = json.dumps(program).encode()
        self.model.write_bytes(stored(files))

    def test_objects_with_fields(self):
        """Transformers' outputs, and dataclasses with fields that are None."""
        inputs, by_keyword, expected = torch.load(EXPORTED / "since_2.9" / "tree.results")
        for kind, context in (("transformers.modeling_outputs.BaseModelOutput", '["first", "last"]'),
                              ("outputs.Pair", '[["first", "last"], ["attentions"]]')):
            self.with_class(kind, context)
            said = self.succeed(self.model, "-o", self.out).stderr
            self.assertIn(f"forward returned an object of class {kind}: the converted model returns a dict of its fields: "
                          "first, last", said)
            fields, listed = load(self.out)(*inputs, **by_keyword)
            self.assertEqual(["first", "last"], sorted(fields))
            self.assert_close(list(expected[0].values()), [fields["first"], fields["last"]])
            self.assert_close(expected[1], list(listed))

    def test_objects_without_fields(self):
        for context in ("null", "[]", '["one"]', '{"a": 1}', "no json", '["a", 2]'):
            self.with_class("some.Class", context)
            self.fail_with(1, self.model, "-o", self.out, needed=["an object of class some.Class"])


if __name__ == "__main__":
    unittest.main()
