# SPDX-License-Identifier: BSD-3-Clause
"""Helpers for the tests of partitioned models: a model scripted to a file, and the file of its conversion."""

from typing import Callable, Dict

import torch
from torch import nn

from cli import CliTest


class ScriptedModelTest(CliTest):
    models: Dict[str, Callable[[], nn.Module]] = {}  # by name

    def setUp(self):
        super().setUp()
        torch.manual_seed(0)
        self.path, self.out, self.report = (self.folder / name for name in ("model.pt", "out.pt", "report.json"))

    def save(self, name: str) -> torch.jit.ScriptModule:
        module = torch.jit.script(self.models[name]().eval())
        module.save(str(self.path))
        return module
