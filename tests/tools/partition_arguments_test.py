# SPDX-License-Identifier: BSD-3-Clause
"""Models whose arguments are no tensors, or that keep state: the result has the original's interface."""

import json
import unittest
from typing import List, Tuple

import torch
from torch import nn
from torch.utils import bundled_inputs

from argument_models import MODELS, CollectedRows
from scripted_model import ScriptedModelTest
from stock_torch import StockTorchTest, images, load, tensors


def picture(*shape, seed=0):
    return images(*shape, seed=seed)


def flat(value):
    """Lists of the tensors and numbers of a result, and its structure."""
    if isinstance(value, torch.Tensor):
        return [value], "T"
    if isinstance(value, (int, float, bool)):
        return [torch.tensor(float(value))], type(value).__name__
    if value is None or isinstance(value, str):
        return [], value
    items = list(value.items()) if isinstance(value, dict) else list(enumerate(value))
    found, structure = [], []
    for key, part in items:
        inner, kind = flat(part)
        found += inner
        structure.append((key, kind))
    return found, (type(value).__name__, structure)


class Arguments(ScriptedModelTest, StockTorchTest):
    models = MODELS

    def partition(self, *arguments):
        self.succeed(self.path, *arguments, "--nhwc", "--min-segment-macs", "0", "--report", self.report,
                     "-o", self.out)
        return json.loads(self.report.read_text())["partition"]

    def assert_same(self, samples):
        original, converted = load(self.path), load(self.out)
        self.assertEqual(str(original.forward.schema).split("(", 1)[1].split(",", 1)[1],
                         str(converted.forward.schema).split("(", 1)[1].split(",", 1)[1])
        for arguments, named in samples:
            with torch.no_grad():
                expected, found = original(*arguments, **named), converted(*arguments, **named)
            (expected, one), (found, other) = flat(expected), flat(found)
            self.assertEqual(one, other)
            self.assert_close(expected, found) if all(t.numel() > 1 for t in expected) else [
                self.assertTrue(torch.allclose(a, b, atol=1e-4)) for a, b in zip(expected, found)]

    def assert_raises(self, text, *arguments, **named):
        with self.assertRaisesRegex(Exception, text):
            load(self.out)(*arguments, **named)


class Structures(Arguments):
    def test_list(self):
        self.save("TakesList")
        partition = self.partition("--input", "pictures[0]=4,8,8", "--input", "pictures[1]=4,12,8", "--verify")
        self.assertEqual(1, partition["mac_share"])
        pictures = [picture(4, 8, 8), picture(4, 12, 8, seed=1)]
        self.assert_same([((pictures,), {}), ((pictures, 2.0), {}), ((pictures,), {"scale": -3.0})])
        self.assertNotIn("for ", load(self.out).code)
        self.assert_raises(r"input pictures: 1 elements found, 2 needed", pictures[:1])
        self.assert_raises(r"input pictures\[1\]: shape \[4, 8, 8\] found, \[4, 12, 8\] needed",
                           [pictures[0], pictures[0]])
        self.assert_raises(r"input pictures\[0\]: dtype", [pictures[0].int(), pictures[1]])

    def test_exchanged_elements_and_objects(self):
        self.save("Exchanges")
        partition = self.partition("--input", "pictures[0]=4,8,8", "--input", "pictures[1]=4,8,8", "--verify")
        self.assertEqual(1, partition["mac_share"])
        self.assert_same([(([picture(4, 8, 8), picture(4, 8, 8, seed=1)],), {})])

    def test_flexible_sizes_and_bundled_inputs(self):
        """A bundled input fits sizes that are flexible, whatever its own are."""
        class Rows(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = torch.nn.Linear(4, 3)

            def forward(self, parts: List[torch.Tensor]):
                return torch.relu(self.linear(parts[0])), parts[1]

        torch.manual_seed(0)
        scripted = torch.jit.script(Rows().eval())
        sample = [torch.zeros(5, 4), torch.zeros(2)]
        bundled_inputs.bundle_inputs(scripted, [(sample,)]).save(str(self.path))
        self.partition("--input", "parts[0]=?,4", "--input", "parts[1]=2")
        self.assert_same([(([torch.randn(rows, 4), torch.randn(2)],), {}) for rows in (5, 7)])
        self.assertEqual([5, 4], list(load(self.out).get_all_bundled_inputs()[0][0][0].shape))

    def test_list_of_unknown_length_stays(self):
        self.save("TakesList")
        said = self.fail_with(1, self.path, "-o", self.out, needed=["pictures"]).stderr
        self.assertEqual(f"nnapi-convert {self.path} -o {self.out} --input 'pictures[0]=3,224,224'", said.splitlines()[-1])

    def test_left_out_element(self):
        self.save("TakesList")
        self.fail_with(2, self.path, "--input", "pictures[1]=4,8,8", "-o", self.out, needed=["pictures[0]"])

    def test_dict(self):
        self.save("TakesDict")
        partition = self.partition("--input", "features[low]=1,4,8,8", "--input", "features[skip]=1,4,4,4", "--input",
                                   "features[top]=1,4,8,6", "--verify")
        self.assertEqual(1, partition["mac_share"])
        features = {"low": picture(1, 4, 8, 8), "skip": picture(1, 4, 4, 4, seed=1), "top": picture(1, 4, 8, 6, seed=2)}
        self.assert_same([((features,), {})])
        self.assert_raises("input features: 2 elements found, 3 needed", {k: features[k] for k in ("low", "skip")})
        renamed = {**features, "other": features["top"]}
        del renamed["top"]
        self.assert_raises("input features: no key top found", renamed)

    def test_tuple(self):
        self.save("TakesTuple")
        partition = self.partition(*("--input", "1,4,8,8") * 3)
        self.assertEqual(1, partition["mac_share"])
        x, h, c = (picture(1, 4, 8, 8, seed=seed) for seed in range(3))
        self.assert_same([((x, (h, (c, rounds))), {}) for rounds in (0, 1, 3)])

    def test_optional(self):
        x, mask, shift = picture(1, 4, 8, 8), picture(1, 1, 8, 8, seed=1), picture(1, 4, 1, 1, seed=2)
        self.save("TakesOptional")
        self.partition("--input", "1,4,8,8", "--verify")
        self.assert_same([((x,), {}), ((x, None, None), {})])
        self.assert_raises("input mask: a value found, None needed", x, mask)
        self.assert_raises("input others: a value found, None needed", x, others=[{"shift": shift}])
        self.partition("--input", "x=1,4,8,8", "--input", "mask=1,1,8,8", "--input", "others[0][shift]=1,4,1,1",
                       "--verify")
        self.assert_same([((x, mask, [{"shift": shift}]), {})])
        self.assert_raises("input mask: None found, a value needed", x, None, [{"shift": shift}])

    def test_all_operations_in_one_segment(self):
        self.save("TakesMask")
        quiet = self.succeed(self.path, "--input", "1,4,8,8", "--nhwc", "--min-segment-macs", "0", "-o", self.out)
        self.assertEqual("", quiet.stderr)
        told = self.succeed(self.path, "--input", "1,4,8,8", "--nhwc", "--min-segment-macs", "0", "-v", "-o", self.out)
        self.assertIn("all operations go to NNAPI, in 1 segment that TorchScript calls", told.stderr)
        self.assertNotIn("on the CPU", told.stderr)
        self.fail_with(1, self.path, "--input", "1,4,8,8", "--nhwc", "--fallback", "none", "-o", self.out,
                       needed=["input mask of forward is Optional[Tensor]", "--fallback partition converts it in parts"])
        self.assert_same([((picture(1, 4, 8, 8),), {})])

    def test_nothing_for_nnapi(self):
        """The error tells what keeps the layers on the CPU, and not that forward takes a number."""
        model = self.folder / "collected.pt"
        torch.jit.script(CollectedRows()).save(str(model))
        result = self.fail_with(1, model, "--input", "x=1,8", "--input", "count=2", "-o", self.out,
                                needed=["no part of it can go to NNAPI", "aten::linear: the shape of its input"])
        self.assertNotIn("--fallback none", result.stderr)

    def test_numbers(self):
        self.save("TakesNumbers")
        partition = self.partition("--input", "1,4,8,8")
        self.assertEqual(1, partition["mac_share"])
        x = picture(1, 4, 8, 8)
        self.assert_same([((x, 0), {}), ((x, 3), {}), ((x, 2, 0.25), {}), ((x, 1), {"is_last": True})])
        result = self.fail_with(2, "verify", self.path, self.out, needed=["rounds", "--inputs"])
        torch.save((x, 3, 0.5, True), self.folder / "inputs.pt")
        self.succeed("verify", self.path, self.out, "--inputs", self.folder / "inputs.pt")

    def test_inspected(self):
        self.save("TakesList")
        self.partition("--input", "pictures[0]=4,8,8", "--input", "pictures[1]=4,12,8")
        for form in ("text", "json", "html", "dot"):
            with self.subTest(format=form):
                shown = self.succeed("inspect", self.out, "--format", form).stdout
                self.assertIn("pictures[0]", shown)
                self.assertIn("pictures[1]", shown)

    def test_whole_conversion_still_refuses(self):
        self.save("TakesDict")
        self.fail_with(1, self.path, "--fallback", "none", "-o", self.out, needed=["features", "takes tensors only"])


class Names(Arguments):
    """The names of values in arguments: fields, numbers, and texts of any characters."""

    def test_fields(self):
        x, skip, other = (picture(1, 4, 8, 8, seed=seed) for seed in range(3))
        for picture_name in ("view.picture", "view[picture]", "view[0]"):
            self.save("TakesNamedTuple")
            partition = self.partition("--input", f"{picture_name}=1,4,8,8", "--input", "view.skips[0]=1,4,8,8",
                                       "--verify")
            self.assertEqual(1, partition["mac_share"])
            self.assert_same([(((x, [skip]),), {})])
            self.assert_raises(r"input view.skips: 2 elements found, 1 needed", (x, [skip, skip]))
            self.assert_raises(r"input view.picture: shape", (x[:, :, :4], [skip]))
        self.partition("--input", "view.picture=1,4,8,8", "--input", "view.skips[0]=1,4,8,8", "--input",
                       "other.picture=1,4,8,8", "--input", "other.skips[0]=1,4,8,8", "--verify")
        self.assert_same([(((x, [skip]), (other, [skip])), {})])

    def test_example_names_a_field(self):
        self.save("TakesNamedTuple")
        self.fail_with(1, self.path, "--fallback", "none", "-o", self.out, needed=["--input 'view.picture=1,3,224,224'"])
        self.fail_with(2, self.path, "--input", "view.other=1,4,8,8", "-o", self.out, needed=["view.picture"])

    def test_numbers(self):
        self.save("TakesNumberedDict")
        partition = self.partition("--input", "levels[7]=1,4,8,8", "--input", "levels[-1]=1,4,8,8", "--input",
                                   "flags[True]=1,4,8,8", "--verify")
        self.assertEqual(1, partition["mac_share"])
        x, y, z = (picture(1, 4, 8, 8, seed=seed) for seed in range(3))
        self.assert_same([(({7: x, -1: y}, {True: z}), {})])
        self.assert_raises("input levels: no key -1 found", {7: x, 1: y}, {True: z})

    def test_any_characters(self):
        self.save("CopiesKeys")
        keys = ["größe", "a b", "a=b", "x]y[0]", 'q"u\\', "{}{0}", "日本", "it's\n"]
        quoted = [key if key.isalpha() else '"' + key.replace("\\", "\\\\").replace('"', '\\"') + '"' for key in keys]
        named = [word for key in quoted for word in ("--input", f"features[{key}]=1,4,8,8")]
        partition = self.partition(*named, "--verify")
        self.assertEqual(1, partition["mac_share"])
        features = {key: picture(1, 4, 8, 8, seed=seed) for seed, key in enumerate(keys)}
        self.assert_same([((features,), {})])
        self.assert_raises("no key größe found", {**{key: features[key] for key in keys[1:]}, "x": features["größe"]})
        short = dict(features)
        short["{}{0}"] = short["{}{0}"][:, :, :4]
        self.assert_raises(r'input features\["\{\}\{0\}"\]: shape \[1, 4, 4, 8\] found', short)

    def test_bound_text(self):
        self.save("TakesText")
        self.succeed(self.path, "--input", "x=1,4,8,8", "--input", "mode=größe {}", "--nhwc", "--verify", "-o", self.out)
        x = picture(1, 4, 8, 8)
        self.assert_same([((x, "größe {}"), {})])
        self.assert_raises("input mode: Größe found, größe {} needed", x, "Größe")


class Results(Arguments):
    def test_constants(self):
        self.save("GivesConstants")
        for runtime in ("pytorch", "shim"):
            self.succeed(self.path, "--input", "1,4,8,8", "--nhwc", "--fallback", "none", "--runtime", runtime,
                         "--verify", "-o", self.out)
            if runtime == "pytorch":
                self.assert_same([((picture(1, 4, 8, 8),), {})])

    def test_optional(self):
        x = picture(1, 4, 8, 8)
        for model in ("GivesOptionals", "GivesOptional"):
            self.save(model)
            for both in (True, False):
                self.succeed(self.path, "--input", "x=1,4,8,8", "--input", f"both={both}", "--nhwc", "--verify", "-o",
                             self.out)
                self.assert_same([((x, both), {})])
        self.partition("--input", "x=1,4,8,8", "--verify")
        self.assert_same([((x, True), {}), ((x,), {})])

    def test_what_makes_a_result(self):
        """The reason names the node that makes a tuple, and doesn't say that tuples can be returned."""
        self.save("TakesTuple")
        module = torch.jit.script(GivesEither().eval())
        module.save(str(self.path))
        result = self.fail_with(1, self.path, "--input", "1,4", "--fallback", "none", "-o", self.out,
                                needed=["a value of type Tuple[Tensor, Tensor] that prim::If at"])
        self.assertNotIn("tuples, lists and dicts of them can be returned", result.stderr)


class GivesEither(nn.Module):
    def forward(self, x) -> Tuple[torch.Tensor, torch.Tensor]:
        if bool(x.sum() > 0):
            return x + 1, x
        return x, x - 1


class InPlace(Arguments):
    def test_inputs_apart(self):
        """Two inputs of which one is changed: tensors apart convert whole, and one tensor for both is an error."""
        self.save("ChangesOneInput")
        x, y = picture(1, 4, 8, 8), picture(1, 4, 8, 8, seed=1)
        for arguments in ([], ["--runtime", "shim"], ["--nhwc"]):
            with self.subTest(arguments=arguments):
                result = self.succeed(self.path, *("--input", "1,4,8,8") * 2, "--fallback", "none", *arguments,
                                      "--verify", "-o", self.out)
                self.assertIn("changes the caller's input in place", result.stderr)
                if "shim" in arguments:
                    continue
                found, expected = load(self.out)(x, y), load(self.path)(x.clone(), y)
                self.assert_close(expected, found)
                self.assert_raises("inputs x and y: one tensor found, two needed", x, x)
                self.assert_raises("inputs x and y: one tensor found, two needed", x, x.detach())

    def test_values_for_a_mask(self):
        """No mask that is made up at conversion fits the values; the caller's does."""
        self.save("PutsValues")
        partition = self.partition("--input", "x=1,4,8,8", "--input", "mask=1,4,8,8:bool", "--input", "values=5")
        self.assertEqual(1, partition["mac_share"])
        mask = torch.zeros(1, 4, 8, 8, dtype=torch.bool)
        mask[0, 1, 2, 3:] = True
        self.assert_same([((picture(1, 4, 8, 8), mask, picture(5, seed=1)), {})])


class Bundled(Arguments):
    def test_structure_from_bundled_inputs(self):
        from torch.utils.bundled_inputs import augment_model_with_bundled_inputs
        model = torch.jit.script(MODELS["TakesList"]().eval())
        pictures = [picture(4, 8, 8), picture(4, 6, 8, seed=1)]
        augment_model_with_bundled_inputs(model, [(pictures, 1.0), (pictures[::-1], 2.0)])
        model.save(str(self.path))
        self.partition("--verify")
        self.assert_same([((pictures, 1.0), {})])
        bundled = load(self.out).get_all_bundled_inputs()
        self.assertEqual(1, len(bundled))
        self.assertTrue(torch.equal(pictures[1], bundled[0][0][1]))

    def test_made_one(self):
        self.save("TakesOptional")
        self.partition("--input", "x=1,4,8,8", "--input", "mask=1,1,8,8", "--bundle-inputs")
        (sample,) = load(self.out).get_all_bundled_inputs()
        self.assertEqual([1, 4, 8, 8], list(sample[0].shape))
        self.assertIsNone(sample[2])


class State(Arguments):
    def test_is_kept(self):
        self.save("KeepsState")
        partition = self.partition("--input", "1,4,8,8")
        self.assertEqual(2, len(partition["segments"]))  # one on each side of the step that changes the state
        self.assertEqual(1, partition["mac_share"])
        self.assert_same([((picture(1, 4, 8, 8, seed=seed),), {}) for seed in range(3)])


if __name__ == "__main__":
    unittest.main()
