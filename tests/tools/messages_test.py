# SPDX-License-Identifier: BSD-3-Clause
"""What is said of models: which inputs lack a shape, which mode they were saved in, and where PyTorch itself can't run
them; and that verify makes inputs that a model takes."""

import json
import re
import unittest
from typing import Dict

import torch
from cli import CliTest, run
from torch import nn
from torch.nn import functional
from torch.utils.mobile_optimizer import optimize_for_mobile
from zip_files import entries, stored


class Tables(nn.Module):
    """Two tables of rows and a mask."""

    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(7, 16), nn.Embedding(4, 16)
        self.linear = nn.Linear(16, 3)

    def forward(self, ids, positions, mask):
        return self.linear((self.words(ids) + self.places(positions + 1)) * mask.unsqueeze(-1))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm, self.linear = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.Linear(8 * 64, 10)

    def forward(self, x):
        return self.linear(functional.max_pool2d(self.norm(self.conv(x)).relu(), 4).flatten(1))


class ModelTest(CliTest):
    def setUp(self):
        super().setUp()
        torch.manual_seed(0)
        self.model, self.out = self.folder / "model.pt", self.folder / "out.pt"

    def save(self, module, *example):
        module.eval()
        traced = torch.jit.trace(module, example) if example else torch.jit.script(module)
        traced.save(str(self.model))

    def refuse(self, *options, needed=(), code=1):
        """Checks that the conversion and `check` give the same message."""
        self.fail_with(code, self.model, *options, "-o", self.out, needed=needed)
        self.assertFalse(self.out.exists())
        if code != 1:
            return self.fail_with(code, "check", self.model, *options, needed=needed).stderr
        checked = run("check", self.model, *options)
        self.assertEqual(1, checked.code, checked)
        for fragment in needed:
            self.assertIn(fragment, checked.stdout)
        return checked.stdout


class ManyRefusals(ModelTest):
    def test_the_first_are_shown(self):
        class Doubles(nn.Module):
            def forward(self, x):
                x = x.double()
                return tuple(torch.sin(x[i:]) for i in range(1, 31))  # of 30 sizes, and so for 30 reasons

        self.save(Doubles(), torch.randn(40, 3))
        report = self.folder / "report.json"
        shown = self.fail_with(1, self.model, "--input", "40,3", "--fallback", "none", "--report", report,
                               "-o", self.out, needed=["operations can't be lowered"]).stderr
        self.assertEqual(20, len(re.findall(r"^  \S+messages_test.py:\d+: ", shown, re.MULTILINE)), shown)
        self.assertRegex(shown, r"and \d+ more: --report has all of them")
        refusals = json.loads(report.read_text())["refusals"]
        self.assertGreater(len(refusals), 30)
        self.assertIn(f"{len(refusals)} operations can't be lowered", shown)

    def test_equal_ones_are_one_line(self):
        class Doubles(nn.Module):
            def forward(self, x):
                x = x.double()
                for _ in range(30):
                    x = torch.sin(x)
                return torch.sin(x)

        self.save(Doubles(), torch.randn(2, 3))
        for command in ([self.model, "-o", self.out], ["check", self.model]):
            said = run(*command, "--input", "2,3", "--fallback", "none")
            self.assertEqual(1, said.code)
            line, = [line for line in (said.stdout + said.stderr).splitlines() if "aten::sin" in line]
            self.assertRegex(line, r"messages_test.py:\d+, \S*messages_test.py:\d+: aten::sin: .*, 31 times$")


class MissingShapes(ModelTest):
    def test_all_inputs_at_once(self):
        self.save(Tables(), torch.zeros(1, 5, dtype=torch.long), torch.zeros(1, 5, dtype=torch.long), torch.ones(1, 5))
        said = self.refuse(needed=["inputs ids, positions, mask: their sizes are not known",
                                   "--input ids=1,", ":int64 --input positions=1,", "--input mask=",
                                   "the model reads ids as indices", "aten::embedding"])
        self.assertNotIn("reads mask", said)
        self.refuse("--input", "mask=1,5", needed=["inputs ids, positions: their sizes are not known"])

    def test_example_runs(self):
        class Rows(nn.Module):
            def __init__(self):
                super().__init__()
                self.table = nn.Embedding(4, 8)

            def forward(self, ids):
                return self.table(ids).sum(1)

        self.save(Rows(), torch.zeros(1, 3, dtype=torch.long))
        self.refuse(needed=["input ids: its sizes are not known", "for example --input 1,100:int64"])
        self.succeed(self.model, "--input", "1,100:int64", "--verify", "-o", self.out)

    def test_examples_are_by_weights(self):
        """Sizes of a picture are an example for a network of pictures alone."""
        for module, size, example in [(nn.LSTM(6, 8, batch_first=True), (1, 4, 6), "--input 1,100,6"),
                                      (nn.Conv3d(2, 4, 3), (1, 2, 8, 8, 8), "--input 1,2,32,32,32"),
                                      (nn.Sequential(nn.Flatten(), nn.Linear(12, 4)), (1, 3, 4), "--input 1,12")]:
            with self.subTest(module=module):
                self.save(module, torch.rand(*size))
                self.assertNotIn("224", self.refuse(needed=[example]))

    def test_channels_of_a_convolution_over_one_axis(self):
        net = nn.Sequential(nn.Conv1d(3, 8, 5), nn.ReLU(), nn.Conv1d(8, 4, 3))
        self.save(net, torch.rand(1, 3, 80))
        self.refuse("--nhwc", needed=["only 1,3,?", "--input 1,3,100", "for any size --input '1,3,?'"])
        self.succeed(self.model, "--nhwc", "--input", "1,3,?", "--verify", "-o", self.out)

    def test_arguments_that_are_no_tensors(self):
        class Rate(nn.Module):
            def forward(self, x: torch.Tensor, rate: int):
                return torch.relu(x) * rate

        self.save(Rate())
        self.refuse("--input", "1,3", "--input", "1", code=2,
                    needed=["2 --input found, and forward takes 1 tensor: x; rate is int; bind it to a value with --input "
                            "rate=VALUE"])
        self.refuse("--input", "rates=1", code=2, needed=["--input rates: forward has no such tensor"])


class Layout(ModelTest):
    """Below feature level 3 NNAPI has NHWC alone."""

    def test_it_is_taken(self):
        self.save(Net(), torch.rand(1, 3, 32, 32))
        self.succeed("check", self.model, "--input", "1,3,32,32", "--min-api", "28")
        self.succeed(self.model, "--input", "1,3,32,32", "--feature-level", "2", "--verify", "-o", self.out)
        self.assertIn("NHWC", self.succeed("inspect", self.out).stdout)

    def test_the_cause_comes_first(self):
        deep = nn.Sequential(*[layer for _ in range(20) for layer in (nn.Conv2d(3, 3, 3, padding=1), nn.ReLU())])
        self.save(deep, torch.rand(1, 3, 32, 32))
        said = run(self.model, "--input", "1,3,32,32", "--nchw", "--feature-level", "2", "--fallback", "none",
                   "-o", self.out)
        self.assertEqual(1, said.code)
        lines = [line for line in said.stderr.splitlines() if "warning" not in line]
        self.assertIn("error: NNAPI has no NCHW at feature level 2: use --nhwc", lines[0])
        self.assertRegex(lines[1], r"operation 0 \(CONV_2D\) from .* and 19 others: feature level 2 found, 3 needed")
        self.assertEqual(2, len(lines), said)


class OtherDevices(ModelTest):
    """A trace on a graphics card names the card; neither the phone nor this machine has it."""

    def moved(self, module, example):
        self.save(module, example)
        files = {}
        for name, content in entries(self.model).items():
            if name.endswith(".py"):
                content = content.replace(b'torch.device("cpu")', b'torch.device("cuda:0")')
            if name.endswith("data.pkl"):
                content = content.replace(b"X\x03\0\0\0cpu", b"X\x06\0\0\0cuda:0")
            files[name] = content
        self.assertIn(b"cuda:0", b"".join(files.values()))
        self.model.write_bytes(stored(files))

    def test_trace(self):
        class Places(nn.Module):
            def __init__(self):
                super().__init__()
                self.conv = nn.Conv2d(3, 8, 3)

            def forward(self, x):
                y = self.conv(x)
                return torch.cummax(y + torch.ones(6, device=x.device), 3)[0] + torch.arange(6, device=x.device)

        self.moved(Places(), torch.rand(1, 3, 8, 8))
        self.succeed(self.model, "--input", "1,3,8,8", "--nhwc", "--min-segment-macs", "0", "-o", self.out)
        self.succeed("verify", self.model, self.out)
        torch.jit.load(str(self.out), map_location="cpu")
        self.assertNotIn(b"cuda", b"".join(content for name, content in entries(self.out).items() if name.endswith(".py")))

    def test_script(self):
        class Moves(nn.Module):
            def __init__(self):
                super().__init__()
                self.conv = nn.Conv2d(3, 8, 3)

            def forward(self, x: torch.Tensor):
                return self.conv(x.cuda()).to("cuda:1") + torch.zeros(1, device="cuda")

        self.save(Moves())
        self.succeed(self.model, "--input", "1,3,8,8", "--nhwc", "--verify", "-o", self.out)


class OtherPrograms(ModelTest):
    """What the libraries say that this program uses does not reach the user."""

    FOREIGN = ("0x", "INTERNAL ASSERT", "enforce fail", "json.exception", "InitGoogleLogging", "Warning:", ".cpp", ".cc:")

    def assert_own(self, said):
        said = said.replace(str(self.folder), "")  # its random name may have "0x"
        for part in self.FOREIGN:
            self.assertNotIn(part, said)

    def test_weights_of_onednn(self):
        net = nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU()).eval()
        with torch.no_grad():
            torch.jit.optimize_for_inference(torch.jit.trace(net, torch.rand(1, 3, 8, 8))).save(str(self.model))
        self.assert_own(self.fail_with(3, self.model, "--input", "1,3,8,8", "-o", self.out,
                                       needed=["torch.jit.optimize_for_inference", "oneDNN", "as it was before"]).stderr)

    def test_warnings_of_kernels(self):
        class RealPart(nn.Module):
            def forward(self, x):
                return torch.fft.fft(x).to(torch.float32) + x

        self.save(RealPart(), torch.rand(2, 8))
        result = self.succeed(self.model, "--input", "2,8", "--min-segment-macs", "0", "--verify", "-o", self.out)
        self.assert_own(result.stderr + result.stdout)

    def test_damaged_code(self):
        self.save(Net(), torch.rand(1, 3, 32, 32))
        whole = entries(self.model)
        code = next(name for name in whole if name.endswith(".py") and b"flatten" in whole[name])
        for damage, needed in ((lambda text: text.replace(b"self", b"slf", 1), r"code/__torch__\S*\.py:\d+"),
                               (lambda text: text.replace(b"return", b"retrn", 1), "its code can't be read"),
                               (lambda text: text[: len(text) // 2], "its code can't be read")):
            self.model.write_bytes(stored({**whole, code: damage(whole[code])}))
            said = self.fail_with(3, self.model, "-o", self.out, needed=["can't read"]).stderr
            self.assertRegex(said, needed)
            self.assert_own(said)

    def test_damaged_records(self):
        self.save(Net(), torch.rand(1, 3, 32, 32))
        whole = entries(self.model)
        root = next(iter(whole)).split("/")[0]
        for name, content, needed in (("version", b"999\n", "version 999"), ("version", b"x\n", "no number"),
                                      ("version", None, "version is missing"), ("data.pkl", None, "data.pkl is missing")):
            files = {key: value for key, value in whole.items() if key != f"{root}/{name}"}
            if content is not None:
                files[f"{root}/{name}"] = content
            self.model.write_bytes(stored(files))
            self.assert_own(self.fail_with(3, self.model, "-o", self.out, needed=["can't read", needed]).stderr)

    def test_damaged_json(self):
        out = self.convert("bundled.pt", "--nhwc")
        files = entries(out)
        metadata = next(name for name in files if name.endswith("nnapi_convert.json"))
        for content, needed in ((b"{", "no JSON: byte 2"), (b"{}", '"version" is missing'),
                                (files[metadata].replace(b'"shape"', b'"shapes"'), '"shape" is missing')):
            out.write_bytes(stored({**files, metadata: content}))
            self.assert_own(self.fail_with(3, "inspect", out, needed=[needed]).stderr)


class TrainingMode(ModelTest):
    example = torch.rand(1, 3, 32, 32)

    def said_of(self, module):
        module.save(str(self.model))
        return self.succeed(self.model, "--input", "1,3,32,32", "--nhwc", "-o", self.out).stderr

    def test_no_mode(self):
        net = Net().eval()
        traced = torch.jit.trace(net, self.example)
        function = torch.jit.trace(lambda x: torch.relu(x) * x, self.example)
        frozen = torch.jit.freeze(torch.jit.script(net))
        for module in (traced, function, frozen):
            self.assertNotIn("training", self.said_of(module))
        self.assertNotIn("training", self.said_of(optimize_for_mobile(traced, {
            torch.utils.mobile_optimizer.MobileOptimizerType.INSERT_FOLD_PREPACK_OPS})))

    def test_nothing_depends_on_it(self):
        self.assertNotIn("training", self.said_of(torch.jit.script(nn.Sequential(nn.Conv2d(3, 8, 3), nn.ReLU()).train())))

    def test_mode_that_matters(self):
        self.assertIn("saved in training mode and is converted in evaluation mode", self.said_of(torch.jit.script(Net())))

    def test_trace_of_training(self):
        torch.jit.trace(Net().train(), self.example, check_trace=False).save(str(self.model))
        self.fail_with(1, self.model, "--input", "1,3,32,32", "--nhwc", "--fallback", "none", "-o", self.out,
                       needed=["the model was traced in training mode", "aten::batch_norm"])


class IndexInputs(ModelTest):
    """Random inputs lie within the tables."""

    def verify(self, module, *inputs, example):
        self.save(module, *example)
        options = ["--feature-level", "4", *(option for spec in inputs for option in ("--input", spec))]
        self.succeed(self.model, *options, "--verify", "-o", self.out)
        self.succeed("verify", self.model, self.out, "--samples", "20")

    def test_tables(self):
        example = (torch.zeros(1, 5, dtype=torch.long), torch.zeros(1, 5, dtype=torch.long), torch.ones(1, 5))
        self.verify(Tables(), "1,5:int64", "1,5:int64", "1,5", example=example)

    def test_ways_to_an_index(self):
        class Ways(nn.Module):
            def __init__(self):
                super().__init__()
                self.table = nn.Embedding(5, 4)
                self.register_buffer("offsets", torch.tensor([0, 2]))

            def forward(self, x, ids):
                ids = ids.to(torch.long).reshape(2)
                rows = self.table(ids + self.offsets)  # up to 2
                picked = x.gather(1, ids.unsqueeze(0).expand(1, 2)) + x.index_select(1, 3 - ids)
                return rows.sum() * picked + functional.one_hot(ids, 3).sum(0)[:2] + self.table((ids * 2).clamp(0, 4)).sum()

        self.verify(Ways(), "1,4", "1,2:int32", example=(torch.rand(1, 4), torch.zeros(1, 2, dtype=torch.int32)))

    def test_unproved(self):
        """If the graph doesn't tell the shapes, the message explains how to give inputs, with PyTorch's reason."""
        class Squared(nn.Module):
            def __init__(self):
                super().__init__()
                self.table = nn.Embedding(3, 4)

            def forward(self, ids):
                return self.table(ids * ids + 2)

        self.save(Squared(), torch.zeros(1, 5, dtype=torch.long))
        self.succeed(self.model, "--input", "1,5:int64", "--feature-level", "4", "-o", self.out)
        said = self.fail_verify(needed=["the original doesn't run", "index out of range in self", "--inputs"])
        self.assertNotIn("Traceback", said)
        self.assertNotIn("frame #", said)
        inputs = self.folder / "inputs.pt"
        torch.save((torch.zeros(1, 5, dtype=torch.long),), str(inputs))
        self.succeed("verify", self.model, self.out, "--inputs", inputs)

    def fail_verify(self, needed):
        result = run("verify", self.model, self.out)
        self.assertEqual(4, result.code, result)
        for fragment in needed:
            self.assertIn(fragment, result.stderr)
        self.assertEqual(1, len(result.stderr.splitlines()), result)
        return result.stderr


class Wrong(nn.Module):
    """A contradiction of sizes for inputs of another size than the traced one."""

    def __init__(self, kind: str):
        super().__init__()
        self.kind = kind
        self.first, self.conv, self.linear = nn.Conv2d(3, 8, 3, padding=1), nn.Conv2d(16, 4, 1), nn.Linear(16, 10)
        self.register_buffer("weight", torch.rand(16, 5))
        self.register_buffer("map", torch.rand(1, 8, 16, 16))

    def forward(self, x):
        x = self.first(x).relu()
        ways = {"linear": lambda: self.linear(x),
                "matmul": lambda: x @ self.weight,
                "cat": lambda: torch.cat([x, self.map], 1),
                "add": lambda: x + self.map,
                "mul": lambda: self.map * x,
                "view": lambda: x.view(1, 8 * 16 * 16),
                "reshape": lambda: x.reshape(8, 16, 2, 8),
                "conv": lambda: self.conv(x.transpose(1, 2)),
                "norm": lambda: functional.layer_norm(x, [16]),
                "stack": lambda: torch.stack([x, self.map]),
                "expand": lambda: x.expand(2, 8, 16, 16),
                "split": lambda: torch.cat(x.split([10, 6], 3)[:1], 1),
                "where": lambda: torch.where(x > 0, x, self.map),
                "bmm": lambda: torch.bmm(x[0], self.map[0])}
        return torch.tanh(ways[self.kind]())


class OriginalFails(ModelTest):
    """PyTorch's reason and the model's line, and exit 1."""

    REASONS: Dict[str, str] = {
        "linear": "a last dimension of", "matmul": "equal sizes where",
        "cat": "Sizes of tensors must match except in dimension 1", "add": "must match the size of tensor b",
        "mul": "must match the size of tensor b", "view": "is invalid for input of size",
        "reshape": "is invalid for input of size", "conv": "channels (dimension 1)",
        "norm": "normalized_shape [16] of", "stack": "stack expects each tensor to be equal size",
        "expand": "must match the existing size", "split": "split_with_sizes expects split_sizes to sum exactly",
        "where": "must match the size of tensor b", "bmm": "needed: equal sizes where 64 and 16 meet"}

    def test_contradictions(self):
        for kind, reason in self.REASONS.items():
            with self.subTest(kind=kind):
                self.save(Wrong(kind), torch.rand(1, 3, 16, 16))
                self.succeed("check", self.model, "--input", "1,3,16,16", "--nhwc")
                for options in ([], ["--fallback", "none"]):
                    self.refuse("--input", "1,3,64,64", "--nhwc", *options,
                                needed=["the model itself can't run with x float32[1, 3, 64, 64]", reason, ".py:"])

    def test_net(self):
        self.save(Net(), torch.rand(1, 3, 32, 32))
        said = self.refuse("--input", "1,3,64,64", "--nhwc",
                           needed=["the model itself can't run", "a last dimension of 512", "--input"])
        self.assertNotIn("converts in", said)

    def test_script_with_other_arguments(self):
        class Scaled(nn.Module):
            def __init__(self):
                super().__init__()
                self.net = torch.jit.trace(Net().eval(), torch.rand(1, 3, 32, 32))

            def forward(self, x: torch.Tensor, scale: float = 2.0):
                return self.net(x) * scale

        self.save(Scaled())
        self.refuse("--input", "x=1,3,64,64", "--nhwc", needed=["the model itself can't run", "a last dimension of 512"])

    def test_script_that_writes_too_many_axes(self):
        class Written(nn.Module):
            def __init__(self):
                super().__init__()
                self.conv = nn.Conv2d(3, 4, 3)

            def forward(self, x):
                y = self.conv(x)
                both = y * 2
                both[0] = y
                return both

        self.save(Written())
        self.refuse("--input", "1,3,8,8", "--nhwc", needed=["the model itself can't run", "written into float32[4, 6, 6]"])

    def test_error_by_values(self):
        """A matrix of equal elements is singular, and its sizes are right."""
        class Solved(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(4, 64)

            def forward(self, x):
                return self.linear(x), torch.linalg.solve(x, torch.ones(4, 4))

        self.save(Solved(), torch.eye(4) + torch.rand(4, 4))
        self.succeed(self.model, "--input", "4,4", "-o", self.out)

    def test_lengths_of_sequences(self):
        """A script counts up to the longest of the lengths: any other number than the input's size is an error."""
        class Masked(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(8, 64)

            def forward(self, x: torch.Tensor, lengths: torch.Tensor):
                seen = torch.arange(int(lengths.max())).unsqueeze(0) < lengths.unsqueeze(1)
                return self.linear(x).masked_fill(~seen.view(1, 24, 1), 0.0)

        self.save(Masked())
        self.succeed(self.model, "--input", "1,24,8", "--input", "1:int64", "-o", self.out)

    def test_branch_that_is_not_taken(self):
        """An operator of a branch may never run."""
        class Branch(nn.Module):
            def __init__(self):
                super().__init__()
                self.conv, self.linear = nn.Conv2d(3, 8, 3), nn.Linear(5, 5)

            def forward(self, x: torch.Tensor):
                x = self.conv(x)
                if bool(x.sum() > 1e9):
                    x = self.linear(x)
                return torch.relu(x)

        self.save(Branch())
        self.succeed(self.model, "--input", "1,3,64,64", "--nhwc", "-o", self.out)


if __name__ == "__main__":
    unittest.main()
