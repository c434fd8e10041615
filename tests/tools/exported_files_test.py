# SPDX-License-Identifier: BSD-3-Clause
"""Files of exported programs: what is read and refused of them, and files that were changed."""

import json
import random
import unittest
import warnings
import zipfile

import torch

from cli import CliTest, problems_of_failure, run
from exported_fixtures import EXPORTED, LAYOUTS, PROGRAM
from zip_files import entries, stored


class ExportedFiles(CliTest):
    """Programs that can't be read or converted: one clear error each."""

    def changed(self, change, layout="since_2.9", name="cnn"):
        content = entries(EXPORTED / layout / f"{name}.pt2")
        key = next(each for each in content if each.endswith(PROGRAM[layout]))
        program = json.loads(content[key])
        change(program)
        content[key] = json.dumps(program).encode()
        path = self.folder / "changed.pt2"
        path.write_bytes(stored(content))
        return path

    def fail(self, code, path, *needed):
        self.fail_with(code, path, "-o", self.folder / "out.pt", needed=needed)

    def graph(self, program):
        return program["graph_module"]["graph"]

    def test_version(self):
        def change(program):
            program["schema_version"]["major"] = 9
        self.fail(1, self.changed(change), "schema version 9.", "export the model again")

    def test_older_version(self):
        def no_schema(program):
            program["schema_version"] = 0
        self.fail(1, self.changed(no_schema, layout="2.1"), "schema version 0 found", "export the model again")

        def no_signature(program):
            del program["graph_module"]["signature"]["inputs_to_buffers"]
        self.fail(1, self.changed(no_signature, layout="2.1"), 'PyTorch 2.1', 'without "inputs_to_buffers"',
                  "export the model again with PyTorch 2.6 or later")

        def no_specs(program):
            del program["graph_module"]["signature"]["input_specs"]
        self.fail(1, self.changed(no_specs, layout="2.4"), 'PyTorch 2.3 to 2.5', 'without "input_specs"')

        def with_gradients(program):
            program["graph_module"]["signature"]["backward_signature"] = {"loss_output": "x"}
        self.fail(1, self.changed(with_gradients, layout="2.1"), "backward pass", "inference")

    def test_unknown_operator(self):
        def change(program):
            self.graph(program)["nodes"][0]["target"] = "torch.ops.aten.no_such.default"
        self.fail(1, self.changed(change), "make_exported.py:", "aten.no_such.default", "no such operator")

    def test_unknown_function(self):
        def change(program):
            self.graph(program)["nodes"][0]["target"] = "torch._no_such.function"
        self.fail(1, self.changed(change), "make_exported.py:", "torch._no_such.function", "no operator")

    def test_operator_in_lanes(self):
        """Only operators with a known form over all lanes of torch.vmap are taken."""
        def change(program):
            for node in self.graph(program)["nodes"]:
                if node["target"] == "torch.ops.aten.sin.default":
                    node["target"] = "torch.ops.aten.cumsum.default"
        self.fail(1, self.changed(change, name="lanes"), "make_exported.py:", "aten.cumsum", "torch.vmap")

    def test_level_that_is_not_open(self):
        def change(program):
            nodes = self.graph(program)["nodes"]
            nodes[:] = [node for node in nodes if not node["target"].endswith("_vmap_increment_nesting")]
        self.fail(3, self.changed(change, name="lanes"), "level 1 found, 0 are open")

    def test_random_numbers_of_lanes(self):
        def change(program):
            for node in self.graph(program)["nodes"]:
                if node["target"].endswith("_vmap_increment_nesting"):
                    node["inputs"][1]["arg"] = {"as_string": "different"}
        self.fail(1, self.changed(change, name="lanes"), "random numbers that differ", "randomness")

    def test_unknown_value(self):
        def change(program):
            self.graph(program)["nodes"].reverse()
        self.fail(3, self.changed(change), "is read before something makes it")

    def test_missing_key(self):
        def change(program):
            del self.graph(program)["nodes"]
        self.fail(3, self.changed(change), '"nodes" is missing')

    def test_dtype(self):
        def change(program):
            self.graph(program)["tensor_values"]["x"]["dtype"] = 29
        self.fail(1, self.changed(change), "float8_e4m3fn")

    def test_layout_of_a_tensor(self):
        def change(program):
            self.graph(program)["tensor_values"]["x"]["layout"] = 1
        self.fail(1, self.changed(change), "layout")

    def test_several_models(self):
        content = entries(EXPORTED / "since_2.9" / "cnn.pt2")
        content["cnn/models/other.json"] = b"{}"
        path = self.folder / "two.pt2"
        path.write_bytes(stored(content))
        self.fail(1, path, "2 models: model, other")

    def test_weights_outside(self):
        content = entries(EXPORTED / "since_2.9" / "cnn.pt2")
        key = next(each for each in content if each.endswith("model_weights_config.json"))
        config = json.loads(content[key])
        for change in ({"storage_offset": {"as_int": 1 << 62}}, {"storage_offset": {"as_int": -1}},
                       {"sizes": [{"as_int": 1 << 40}] * 4}, {"strides": [{"as_int": 1 << 62}] * 4}):
            with self.subTest(change=change):
                other = json.loads(json.dumps(config))
                other["config"]["first.weight"]["tensor_meta"].update(change)
                content[key] = json.dumps(other).encode()
                path = self.folder / "outside.pt2"
                path.write_bytes(stored(content))
                self.fail(3, path, "first.weight", "outside its")

    def test_inspect(self):
        """What reads results of this program says that such a file is none."""
        for layout in LAYOUTS:
            result = run("inspect", EXPORTED / layout / "cnn.pt2")
            self.assertEqual(3, result.code, str(result))
            self.assertIn("nnapi-convert didn't write it: it is an exported program", result.stderr)

    def test_deep_json(self):
        content = entries(EXPORTED / "since_2.9" / "cnn.pt2")
        content["cnn/models/model.json"] = b"[" * 100000
        path = self.folder / "deep.pt2"
        path.write_bytes(stored(content))
        self.fail(3, path, "levels")

    def test_one_name_twice(self):
        for layout in LAYOUTS:
            with self.subTest(layout=layout):
                path = self.folder / "twice.pt2"
                path.write_bytes((EXPORTED / layout / "cnn.pt2").read_bytes())
                with warnings.catch_warnings(), zipfile.ZipFile(path, "a") as archive:
                    warnings.simplefilter("ignore")
                    name = next(each for each in archive.namelist() if each.endswith(PROGRAM[layout]))
                    archive.writestr(name, b"{}")
                self.fail(3, path, f"two entries named {name}")

    def test_entries_that_overlap(self):
        path = self.folder / "overlap.pt2"
        whole = bytearray((EXPORTED / "since_2.9" / "cnn.pt2").read_bytes())
        first = whole.index(b"PK\x01\x02")
        second = whole.index(b"PK\x01\x02", first + 4)
        third = whole.index(b"PK\x01\x02", second + 4)
        whole[second + 42:second + 46] = whole[third + 42:third + 46]  # where its local header lies
        path.write_bytes(whole)
        self.fail(3, path, "overlap")

    def test_dict_with_numbers_as_keys(self):
        self.fail(1, EXPORTED / "examples" / "pytree_flatten.pt2", "a dict with the key 1; strings needed")

    def test_truncated(self):
        for layout in LAYOUTS:
            whole = (EXPORTED / layout / "cnn.pt2").read_bytes()
            for part in (0.3, 0.9, 0.999):
                with self.subTest(layout=layout, part=part):
                    path = self.folder / "cut.pt2"
                    path.write_bytes(whole[:int(len(whole) * part)])
                    self.fail(3, path)


def places(value, path=()):
    """Every place in a JSON value."""
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else []
    for key, child in children:
        yield path + (key,)
        yield from places(child, path + (key,))


class ExportedChanges(CliTest):
    """Changed archives end in a result or in one error."""

    def change(self, program, chosen):
        place = chosen.choice(list(places(program)))
        parent = program
        for key in place[:-1]:
            parent = parent[key]
        if chosen.random() < 0.3:
            del parent[place[-1]]
        else:
            parent[place[-1]] = chosen.choice([None, -1, 1 << 62, "x", [], {}, 0.5, True, {"as_int": -5}])

    def path(self, layout, name):
        if name == "quantised":
            return EXPORTED / name / layout / "wide.pt2"
        return EXPORTED / layout / f"{name}.pt2"

    def test_changed_archives(self):
        chosen = random.Random(1)
        for number in range(40):
            layout = LAYOUTS[number % 2]
            name = ("cnn", "tree", "quantised", "dynamic", "branch")[number // 2 % 5]
            content = entries(self.path(layout, name))
            key = next(each for each in content if each.endswith(PROGRAM[layout]))
            program = json.loads(content[key])
            for _ in range(chosen.choice([1, 3])):
                self.change(program, chosen)
            content[key] = json.dumps(program).encode()
            path = self.folder / "changed.pt2"
            path.write_bytes(stored(content))
            with self.subTest(number=number, layout=layout, name=name):
                result = run(path, "-o", self.folder / "out.pt", "--fallback=partition")
                if result.code == 0:
                    continue
                self.assertIn(result.code, (1, 3), f"\n{result}")
                self.assertEqual([], problems_of_failure(result), f"\n{result}")


if __name__ == "__main__":
    unittest.main()
