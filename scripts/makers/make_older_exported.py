#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes exported programs as PyTorch 2.1, 2.2 and 2.4 save them: the files of testdata/exported/2.1, 2.2 and 2.4.

Those releases aren't in Debian. PyTorch 2.6 exports and decomposes the models of make_exported.py, as PyTorch 2.1
does by itself, and this script rewrites what it saves by the older torch/_export/serde/schema.py (versions 1, 2 and
5.3) and serialize.py. Run with PyTorch 2.6:
    make_older_exported.py FOLDER
"""
import copy
import io
import json
import pathlib
import re
import sys
import tempfile
import zipfile

import make_exported
import torch
from torch.export import export, save

RELEASES = {  # the schema's version, and the models
    "2.1": (1, ["cnn", "tree", "dynamic", "derived", "counter", "tied", "indexed", "branch"]),
    "2.2": (2, ["cnn", "dynamic", "tied", "indexed"]),
    "2.4": ((5, 3), ["cnn", "dynamic", "derived", "counter", "tied", "attention", "indexed", "branch"]),
}
KINDS = ["as_none", "as_tensor", "as_tensors", "as_int", "as_ints", "as_float", "as_floats", "as_string", "as_strings",
         "as_sym_int", "as_sym_ints", "as_scalar_type", "as_memory_format", "as_layout", "as_device", "as_bool",
         "as_bools", "as_sym_bool", "as_sym_bools", "as_graph", "as_optional_tensors", "as_custom_obj"]
SYMBOL = re.compile(r"Symbol\('(\w+)'[^)]*\)")


def expression(text):
    """What str() gives for what sympy's srepr() gave; only symbols, and products of one with a number."""
    product = re.fullmatch(r"Mul\(Integer\((\d+)\), Symbol\('(\w+)'[^)]*\)\)", text)
    return f"{product[1]}*{product[2]}" if product else SYMBOL.sub(r"\1", text)


class Writer:
    def __init__(self, version):
        self.version = version
        self.major = version if isinstance(version, int) else version[0]

    def union(self, value, kinds):
        """dataclasses.asdict() writes all kinds of a union."""
        return {kind: value.get(kind) for kind in kinds} if self.major < 3 else value

    def symbol(self, value):
        if "as_expr" not in value:
            return self.union(value, ["as_expr", "as_int"])
        hint = value["as_expr"].get("hint")
        text = expression(value["as_expr"]["expr_str"])
        if self.major == 1:
            hint = hint["as_int"] if hint else None
        return self.union({"as_expr": {"expr_str": text, "hint": hint}}, ["as_expr", "as_int"])

    def tensor(self, meta):
        meta = dict(meta, sizes=[self.symbol(each) for each in meta["sizes"]],
                    strides=[self.symbol(each) for each in meta["strides"]])
        if self.major < 3:
            meta["storage_offset"] = 0
            meta["device"] = {"type": "cpu", "index": None}
        return {"meta": meta} if self.major == 1 else meta

    def argument(self, value):
        (kind, content), = value.items()
        if kind == "as_none":
            content = []
        elif kind == "as_graph":
            content = {"name": content["name"], "graph": self.graph(content["graph"])}
        elif kind == "as_optional_tensors" and self.major < 3:
            content = [self.union({"as_tensor": each["as_tensor"]["name"]} if "as_tensor" in each else {"as_none": []},
                                  ["as_tensor", "as_none"]) for each in content]
        elif kind in ("as_sym_int", "as_sym_bool"):
            content = self.union(content, ["as_name", kind.replace("sym_", "")])
        elif kind in ("as_sym_ints", "as_sym_bools"):
            content = [self.union(each, ["as_name", kind[:-1].replace("sym_", "")]) for each in content]
        return self.union({kind: content}, KINDS)

    def inputs(self, node):
        given = {each["name"]: each["arg"] for each in node["inputs"]}
        result = [{"name": each["name"], "arg": self.argument(each["arg"])} for each in node["inputs"]]
        name = re.fullmatch(r"torch\.ops\.(\w+)\.(\w+)\.(\w+)", node["target"])
        if name is None:
            return result
        schema = getattr(getattr(getattr(torch.ops, name[1]), name[2]), name[3])._schema
        return [{"name": each.name, "arg": self.argument(given.get(each.name) or plain(each.default_value))}
                for each in schema.arguments]

    def graph(self, graph):
        result = {
            "inputs": [self.argument(each) for each in graph["inputs"]],
            "outputs": [self.argument(each) for each in graph["outputs"]],
            "nodes": [{"target": node["target"], "inputs": self.inputs(node),
                       "outputs": [self.argument(each) for each in node["outputs"]], "metadata": node["metadata"]}
                      for node in graph["nodes"]],
            "tensor_values": {name: self.tensor(meta) for name, meta in graph["tensor_values"].items()},
            "sym_int_values": {name: self.symbol(each) for name, each in graph["sym_int_values"].items()},
            "sym_bool_values": {},
        }
        if self.major > 1:
            result["is_single_tensor_return"] = graph["is_single_tensor_return"]
        return result

    def signature(self, signature):
        if self.major == 1:
            return first_signature(signature)
        inputs, outputs = [], []
        for spec in signature["input_specs"]:
            (kind, content), = spec.items()
            content = dict(content)
            if kind == "user_input":
                content["arg"] = self.argument(content["arg"])
            if self.major < 3:
                content.pop("persistent", None)
            inputs.append(self.union({kind: content}, ["user_input", "parameter", "buffer", "tensor_constant"]))
        for spec in signature["output_specs"]:
            (kind, content), = spec.items()
            if kind == "user_output":
                content = {"arg": self.argument(content["arg"])}
            outputs.append(self.union({kind: content}, ["user_output", "loss_output", "buffer_mutation",
                                                        "gradient_to_parameter", "gradient_to_user_input"]))
        return {"input_specs": inputs, "output_specs": outputs}

    def program(self, program):
        module = program["graph_module"]
        calls = [{"fqn": call["fqn"], "signature": {key: call["signature"][key]
                                                    for key in ("inputs", "outputs", "in_spec", "out_spec")}}
                 for call in module["module_call_graph"] if call["fqn"] == ""]
        written = {"graph": self.graph(module["graph"]), "signature": self.signature(module["signature"])}
        result = {"graph_module": written, "opset_version": {"aten": 10},
                  "range_constraints": program["range_constraints"]}
        if self.major == 1:
            arguments = json.loads(calls[0]["signature"]["in_spec"])
            if not arguments[1]["children_spec"][1]["children_spec"]:
                arguments[1] = arguments[1]["children_spec"][0]
            written["call_spec"] = {"in_spec": json.dumps(arguments), "out_spec": calls[0]["signature"]["out_spec"]}
            result["equality_constraints"] = []
            result["example_inputs"] = None
        written["module_call_graph"] = calls
        result["schema_version"] = self.version if self.major < 3 else dict(zip(("major", "minor"), self.version))
        if self.major > 1:
            result["dialect"] = "ATEN"
        return result


def first_signature(signature):
    result = {"inputs_to_parameters": {}, "inputs_to_buffers": {}, "user_inputs": [], "user_outputs": [],
              "buffers_to_mutate": {}, "backward_signature": None}
    for spec in signature["input_specs"]:
        (kind, content), = spec.items()
        name = next(iter(content["arg"].values()))["name"] if kind == "user_input" else content["arg"]["name"]
        if kind == "user_input":
            result["user_inputs"].append(name)
        elif kind == "parameter":
            result["inputs_to_parameters"][name] = content["parameter_name"]
        else:  # constants are buffers there
            result["inputs_to_buffers"][name] = content.get("buffer_name") or content["tensor_constant_name"]
    for spec in signature["output_specs"]:
        (kind, content), = spec.items()
        if kind == "user_output":
            result["user_outputs"].append(content["arg"]["as_tensor"]["name"])
        else:
            result["buffers_to_mutate"][content["arg"]["name"]] = content["buffer_name"]
    return result


def plain(value):
    """A default value as an argument."""
    if value is None:
        return {"as_none": True}
    if isinstance(value, (list, tuple)):
        return {"as_ints": list(value)}
    kind = {bool: "as_bool", int: "as_int", float: "as_float", str: "as_string"}[type(value)]
    return {kind: value}


def saved(values):
    buffer = io.BytesIO()
    torch.save(values, buffer)
    return buffer.getvalue()


def write(path, program, version):
    with tempfile.TemporaryDirectory() as folder:
        save(program, f"{folder}/program.pt2")
        with zipfile.ZipFile(f"{folder}/program.pt2") as archive:
            content = json.loads(archive.read("serialized_exported_program.json"))
    text = json.dumps(Writer(version).program(content)).replace(f"{pathlib.Path(make_exported.__file__).parent}/", "")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("serialized_exported_program.json", text)
        if version == 1:
            archive.writestr("serialized_state_dict.json", saved(program.state_dict | program.constants))
            archive.writestr("version", "1")
            return
        archive.writestr("serialized_state_dict.pt", saved(program.state_dict))
        archive.writestr("serialized_constants.pt", saved(program.constants))
        if version != 2:
            archive.writestr("serialized_example_inputs.pt", saved(program.example_inputs))
        archive.writestr("version", "2" if version == 2 else "5.3")


def main():
    root = pathlib.Path(sys.argv[-1])
    torch.manual_seed(0)
    for name, (module, arguments, keywords, options) in make_exported.programs().items():
        releases = {each: version for each, (version, names) in RELEASES.items() if name in names}
        if not releases:
            continue
        module.eval()
        program = export(copy.deepcopy(module), arguments, keywords, **options).run_decompositions()
        with torch.no_grad():
            expected = module(*arguments, **keywords)
        for release, version in releases.items():
            folder = root / release
            folder.mkdir(parents=True, exist_ok=True)
            write(folder / f"{name}.pt2", program, version)
            torch.save((arguments, keywords, expected), folder / f"{name}.results")


if __name__ == "__main__":
    main()
