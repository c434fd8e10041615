# SPDX-License-Identifier: BSD-3-Clause
"""Exported programs (.pt2) of three layouts of archives: the fixtures have what PyTorch 2 gave for their inputs."""

import io
import json
import random
import unittest

import torch

from cli import CliTest
from exported_fixtures import EXPORTED, LAYOUTS, OLDER, tensors
from stock_torch import StockTorchTest, load, load_lite
from zip_files import entries, stored


class Exported(CliTest, StockTorchTest):
    def assert_results(self, layout, name, *options):
        """What runs on the host's NNAPI gives what PyTorch 2 gave."""
        out = self.convert(EXPORTED / layout / f"{name}.pt2", "--verify", *options, out=f"{layout}.{name}.pt")
        arguments, keywords, expected = torch.load(EXPORTED / layout / f"{name}.results")
        with torch.no_grad():
            found = load(out)(*arguments, *keywords.values())
        for one, other in zip(tensors(expected), tensors(found)):
            self.assertEqual(one.shape, other.shape)
            spread = (one.max() - one.min()).item()
            self.assertGreater(spread, 1e-3, "a flat output shows nothing")
            self.assertLessEqual((one - other).abs().max().item(), 1e-4 * spread)
        return out

    def test_networks(self):
        for layout in LAYOUTS:
            for name in ("cnn", "tied", "attention", "lstm", "indexed"):
                for options in (["--nhwc"], ["--nchw"]) if name == "cnn" else ([],):
                    with self.subTest(layout=layout, name=name, options=options):
                        self.assert_results(layout, name, *options)

    def test_lanes_of_vmap(self):
        self.assert_results("since_2.9", "lanes")

    def test_complex_numbers_and_arguments_of_other_types(self):
        self.assert_results("since_2.9", "waves")

    def test_decomposed(self):
        for layout in LAYOUTS:
            for name in ("cnn_decomposed", "attention_decomposed", "spectrum", "spectrum_decomposed", "flags",
                         "flags_decomposed", "dynamic_decomposed"):
                with self.subTest(layout=layout, name=name):
                    self.assert_results(layout, name)

    def test_older_releases(self):
        for layout in OLDER:
            for path in sorted((EXPORTED / layout).glob("*.pt2")):
                with self.subTest(layout=layout, name=path.stem):
                    self.assert_results(layout, path.stem, "--fallback=partition", "--min-segment-macs", "0")

    def test_middle_layout(self):
        self.assert_results("2.8", "tied")

    def test_structures(self):
        for layout in LAYOUTS:
            with self.subTest(layout=layout):
                out = self.assert_results(layout, "tree", "--fallback=partition")
                _, _, expected = torch.load(EXPORTED / layout / "tree.results")
                arguments, keywords, _ = torch.load(EXPORTED / layout / "tree.results")
                found = load(out)(*arguments, *keywords.values())
                self.assertEqual(list(expected[0]), list(found[0]))

    def test_autocast(self):
        """What PyTorch 2 computed in bfloat16 is computed in float32. 2.6 exports the block's results as float32."""
        for layout in LAYOUTS:
            for name in ("autocast", "autocast_decomposed"):
                with self.subTest(layout=layout, name=name):
                    path, out, report = EXPORTED / layout / f"{name}.pt2", self.folder / "out.pt", self.folder / "r.json"
                    result = self.succeed(path, "--verify", "--min-segment-macs", "0", "--report", report, "-o", out)
                    is_stated = layout == "since_2.9" or name == "autocast_decomposed"
                    self.assertEqual(is_stated, "some steps of the model compute in bfloat16" in result.stderr)
                    self.assertEqual(1, json.loads(report.read_text()).get("partition", {"mac_share": 1})["mac_share"])
                    (x,), _, expected = torch.load(EXPORTED / layout / f"{name}.results")
                    with torch.no_grad():
                        found = load(out)(x)
                    second = torch.bfloat16 if layout == "since_2.9" else torch.float32
                    self.assertEqual([torch.float32, second], [each.dtype for each in found])
                    for one, other in zip(expected, found):
                        spread = (one.max() - one.min()).item()
                        self.assertGreater(spread, 0.1)
                        self.assertLess((one.float() - other.float()).abs().max().item(), 0.03 * spread)

    def test_dicts_of_several_types(self):
        """They are tuples in TorchScript, and --input names their tensors so."""
        for layout in LAYOUTS:
            with self.subTest(layout=layout):
                out = self.convert(EXPORTED / layout / "mixed.pt2", "--verify", "--fallback=partition", "--input",
                                   "parts[1][y]=2,4", "--min-segment-macs", "0", out=f"{layout}.pt")
                (parts, more), _, expected = torch.load(EXPORTED / layout / "mixed.results")
                found = load(out)((parts["x"], parts["rest"]), (more["pair"], more["z"]))
                for one, other in zip(expected, found):
                    self.assertGreater((one.max() - one.min()).item(), 0.1)
                    self.assertLess((one - other).abs().max().item(), 1e-4)

    def test_branch(self):
        for layout in LAYOUTS:
            with self.subTest(layout=layout):
                self.assert_results(layout, "branch", "--fallback=partition", "--min-segment-macs", "0")

    def test_branches_and_loops(self):
        for layout in LAYOUTS:
            for name in ("branches", "branches_decomposed", "loop", "loop_decomposed"):
                with self.subTest(layout=layout, name=name):
                    out = self.assert_results(layout, name, "--fallback=partition", "--min-segment-macs", "0")
                    (row,), _, _ = torch.load(EXPORTED / layout / f"{name}.results")
                    if name.startswith("branches"):  # the other sides, too
                        found = load(out)(-row)
                        self.assertLess((found[0] - (-row - 1)).abs().max().item(), 1e-5)
                        found = load(out)(row * 10)
                        self.assertLess((found[0] - (row * 10).sin()).abs().max().item(), 1e-4)
                        found = load(out)(row * 0.01)
                        self.assertLess((found[0] - (row * 0.01).cos()).abs().max().item(), 1e-4)
                    else:  # no step
                        self.assertLess((load(out)(row * 0.01) - row * 0.04).abs().max().item(), 1e-6)

    def test_state(self):
        for layout in LAYOUTS:
            for name in ("counter", "counter_decomposed"):
                with self.subTest(layout=layout, name=name):
                    out = self.assert_results(layout, name, "--fallback=partition", "--min-segment-macs", "0")
                    (row,), _, _ = torch.load(EXPORTED / layout / f"{name}.results")
                    module = load(out)
                    first, second = module(row), module(row)
                    self.assertLess((first * 2 - second).abs().max().item(), 1e-4)


class ExportedSizes(CliTest, StockTorchTest):
    def test_stated_sizes(self):
        for layout in LAYOUTS:
            with self.subTest(layout=layout):
                out = self.convert(EXPORTED / layout / "dynamic.pt2", "--fallback=partition", "--verify",
                                   out=f"{layout}.pt")
                arguments, _, expected = torch.load(EXPORTED / layout / "dynamic.results")
                self.assert_close(expected, load(out)(*arguments))

    def test_other_sizes(self):
        model = EXPORTED / "since_2.9" / "dynamic.pt2"
        self.convert(model, "--input", "3,3,16,8", "--verify")
        out = self.folder / "out.pt"
        self.fail_with(2, model, "-o", out, "--input", "20,3,16,8", needed=["size 20", "1 to 16"])
        self.fail_with(2, model, "-o", out, "--input", "2,3,16,9", needed=["size 9 found at axis 3, 8 needed"])
        self.fail_with(2, model, "-o", out, "--input", "2,3,16", needed=["rank 3 found, 4 needed"])

    def test_sizes_that_depend_on_each_other(self):
        """y has twice as many rows as x."""
        model = EXPORTED / "since_2.9" / "derived.pt2"
        arguments, _, expected = torch.load(EXPORTED / "since_2.9" / "derived.results")
        self.assert_close(expected, load(self.convert(model, "--verify", out="any.pt"))(*arguments))
        self.convert(model, "--input", "x=5,6", "--verify")
        inspected = json.loads(self.succeed("inspect", self.folder / "out.pt", "--format", "json").stdout)
        self.assertEqual([[5, 6], [10, 6]], [each["shape"] for each in inspected["metadata"]["inputs"]])
        out = self.folder / "refused.pt"
        self.fail_with(2, model, "-o", out, "--input", "y=5,6", needed=["size 5", "2*s"])
        self.fail_with(2, model, "-o", out, "--input", "x=3,6", "--input", "y=8,6",
                       needed=["input y: size 8 found at axis 0, 6 needed, as x has size 3 at axis 0"])
        self.fail_with(2, model, "-o", out, "--input", "y=40,6", needed=["4 to 32 needed"])

    def test_sizes_of_older_releases(self):
        for layout in ("2.1", "2.4"):
            model = EXPORTED / layout / "dynamic.pt2"
            with self.subTest(layout=layout):
                self.convert(model, "--input", "x=3,3,16,8", "--verify")
                self.fail_with(2, model, "-o", self.folder / "out.pt", "--input", "20,3,16,8",
                               needed=["size 20", "1 to 16"])
                self.fail_with(2, EXPORTED / layout / "derived.pt2", "-o", self.folder / "out.pt", "--input", "y=5,6",
                               needed=["size 5", "2*s"])

    def test_dynamic_size_in_arithmetic(self):
        """The number of rows divides, multiplies and is taken from tensors."""
        for layout in LAYOUTS:
            model = EXPORTED / layout / "divided.pt2"
            (rows,), _, expected = torch.load(EXPORTED / layout / "divided.results")
            for options in (["--feature-level", "4"], ["--feature-level", "4", "--runtime", "shim"],
                            ["--input", "x=3,4", "--feature-level", "4"]):
                with self.subTest(layout=layout, options=options):
                    out = self.convert(model, "--fallback=none", "--verify", *options)
                    if "shim" in options:
                        continue
                    with torch.no_grad():
                        found = load(out)(rows)
                    for one, other in zip(expected, found):
                        self.assertEqual(one.dtype, other.dtype)
                        self.assert_close(one.float(), other.float())
            out = self.convert(model, "--feature-level", "4", "--emit-cpu", self.folder / "cpu.pt")
            rows = torch.randn(7, 4)
            for one, other in zip(load(self.folder / "cpu.pt")(rows), load(out)(rows)):
                self.assert_close(one.float(), other.float())
            self.convert(model, "--feature-level", "1", "--verify")  # in parts, as it has no CAST

    def test_report_says_whose_sizes(self):
        report = self.folder / "report.json"
        self.convert(EXPORTED / "since_2.9" / "dynamic.pt2", "--fallback=partition", "--report", report)
        self.assertEqual({"exported program"}, {each["source"] for each in json.loads(report.read_text())["inputs"]})

    def test_message_has_the_source_line(self):
        path = EXPORTED / "since_2.9" / "branch.pt2"
        self.fail_with(1, path, "-o", self.folder / "out.pt", "--fallback", "none", needed=["make_exported.py:"])


class ExportedArguments(CliTest, StockTorchTest):
    """What torch.export took as a value is an argument still, and has that value."""

    def setUp(self):
        super().setUp()
        self.report = self.folder / "report.json"

    def results(self, layout, name):
        arguments, keywords, expected = torch.load(EXPORTED / layout / f"{name}.results")
        return [*arguments, *keywords.values()], expected

    def call(self, module, *arguments):
        with torch.no_grad():
            return module(*arguments)

    def assert_raises(self, message, module, *arguments):
        with self.assertRaisesRegex(Exception, message), torch.no_grad():
            module(*arguments)

    def test_fixed_values(self):
        for layout in LAYOUTS:
            for options in ([], ["--fallback=none"], ["--bundle-inputs"]):
                with self.subTest(layout=layout, options=options):
                    out = self.convert(EXPORTED / layout / "fixed.pt2", "--verify", "--report", self.report, *options)
                    self.assertNotIn("partition", json.loads(self.report.read_text()))
                    (times, x, mode, shift, gain), expected = self.results(layout, "fixed")
                    module = load(out)
                    self.assert_close(expected, self.call(module, times, x, mode, shift, gain))
                    self.assert_close(expected, self.call(module, times, x))  # as those at the end have their defaults
                    self.assert_close(expected, self.call(module, times, x, mode))
                    self.assert_raises("input times: 3 found, 2 needed", module, 3, x)
                    self.assert_raises("input mode: plain found, relu needed", module, times, x, "plain")
                    self.assert_raises("input shift: a value found, None needed", module, times, x, mode, x)
                    self.assert_raises("input gain: 1.5 found, 2.5 needed", module, times, x, mode, None, 1.5)
                    if "--bundle-inputs" in options:
                        self.assert_close(expected, self.call(module, *module.get_all_bundled_inputs()[0]))

    def test_fixed_values_with_the_shim(self):
        path = EXPORTED / "since_2.9" / "fixed.pt2"
        for options in ([], ["--fallback=cpu"]):
            with self.subTest(options=options):
                out = self.convert(path, "--verify", "--runtime", "shim", *options)
                self.succeed("verify", path, out, "--per-op")
                self.succeed("inspect", out)

    def test_fixed_values_and_other_options(self):
        path = EXPORTED / "since_2.9" / "fixed.pt2"
        for name, options in (("out.ptl", []), ("fp16.pt", ["--relax-fp16"]),
                              ("full.pt", ["--calibrate", "random:64", "--quant", "full"]),
                              ("cpu.pt", ["--emit-cpu", self.folder / "counterpart.pt"])):
            with self.subTest(options=options):
                self.convert(path, *options, out=name)
        (times, x, mode, shift, gain), expected = self.results("since_2.9", "fixed")
        self.assert_close(expected, self.call(load(self.folder / "counterpart.pt"), times, x, mode, shift, gain))
        self.assert_close(expected, self.call(load_lite(self.folder / "out.ptl"), times, x, mode, shift, gain))
        self.succeed("verify", path, self.folder / "cpu.pt", "--per-op")
        self.succeed("check", path)

    def test_fixed_values_in_the_command(self):
        path, out = EXPORTED / "since_2.9" / "fixed.pt2", self.folder / "out.pt"
        said = self.succeed(path, "--input", "times=2", "--input", 'mode="relu"', "-o", out).stderr
        self.assertIn("torch.export fixed argument times to 2", said)
        self.fail_with(2, path, "--input", "times=3", "-o", out, needed=["torch.export fixed times to 2"])

    def test_fixed_values_in_containers(self):
        """Dicts and lists of several types are tuples in TorchScript."""
        for layout in LAYOUTS:
            with self.subTest(layout=layout):
                out = self.convert(EXPORTED / layout / "options.pt2", "--verify")
                (batch, state, size), expected = self.results(layout, "options")
                module = load(out)
                batch = tuple(batch.values())
                self.assert_close(expected, self.call(module, batch, state, size))
                self.assert_raises(r"input batch\[1\]: 3\. found, 2\. needed", module, (batch[0], 3.0, "relu"), state,
                                   size)
                self.assert_raises(r"input state\[1\]: a value found, None needed", module, batch,
                                   (state[0], state[0], 3), size)
                self.assert_raises(r"input size\[0\]: 2 found, 4 needed", module, batch, state, (2, 4))

    def test_lists_with_flexible_sizes(self):
        for layout in LAYOUTS:
            with self.subTest(layout=layout):
                out = self.convert(EXPORTED / layout / "parts.pt2", "--verify")
                arguments, expected = self.results(layout, "parts")
                for one, other in zip(expected, self.call(load(out), *arguments)):
                    self.assert_close(one, other)
                out = self.convert(EXPORTED / layout / "parts.pt2", "--input", "rows[0]=5,4", "--verify", out="five.pt")
                rows = [torch.randn(5, 4) for _ in range(4)]
                self.assertEqual([5, 4], list(self.call(load(out), rows[:2], {"y": rows[2], "z": rows[3]})[1].shape))


    def test_number_that_sizes_follow(self):
        """count is the number of rows of x. The file's sample of x is a tensor with attributes."""
        model = EXPORTED / "since_2.9" / "numbered.pt2"
        (x, count), expected = self.results("since_2.9", "numbered")
        out = self.convert(model, "--verify")
        self.assert_close(expected, self.call(load(out), x, count))
        rows = torch.randn(5, 4)
        self.assertEqual([5, 2, 2], list(self.call(load(out), rows, 5).shape))
        for given in ("count=3", "x=3,4"):
            with self.subTest(given=given):
                out = self.convert(model, "--input", given, "--verify", "--report", self.report)
                self.assertNotIn("partition", json.loads(self.report.read_text()))  # NNAPI runs the whole model
                self.assert_close(expected, self.call(load(out), x, count))
                self.assert_raises("input count: 5 found, 3 needed", load(out), x, 5)
        self.fail_with(2, model, "--input", "x=3,4", "--input", "count=4", "-o", out,
                       needed=["size 3 found at axis 0, 4 needed, as count is 4"])
        self.fail_with(2, model, "--input", "count=0", "-o", out, needed=["0 found, 2 or more needed"])

    def test_samples_of_other_kinds(self):
        """The program converts without them."""
        content = entries(EXPORTED / "since_2.9" / "cnn.pt2")
        key = next(each for each in content if "/sample_inputs/" in each)
        for sample, reason in ((((torch.device("cpu"),), {}), "which is no plain tensor"),
                               (((torch.float32,), {}), "holds an object that is no tensor"),
                               ((({3: torch.ones(2)},), {}), "keys are no strings"),
                               (((), {}), "without one of the arguments"),
                               ((("text",), {}), "of another structure")):
            with self.subTest(reason=reason):
                data = io.BytesIO()
                torch.save(sample, data)
                content[key] = data.getvalue()
                path = self.folder / "changed.pt2"
                path.write_bytes(stored(content))
                said = self.succeed(path, "-o", self.folder / "out.pt", "--verify").stderr
                self.assertIn("the sample inputs in the file are left out: ", said)
                self.assertIn(reason, said)


if __name__ == "__main__":
    unittest.main()
