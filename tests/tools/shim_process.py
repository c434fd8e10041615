# SPDX-License-Identifier: BSD-3-Clause
"""Runs files in a process without PyTorch, by the shim's C interface."""

import subprocess
import sys
from typing import Dict, List, Tuple

import numpy
import torch

from cli import HOST, LIBRARIES, ROOT, CliTest, environment
from mobile_models import seeded

SHIM = LIBRARIES / "libnnapi_shim.so"


class ShimProcessTest(CliTest):
    def script(self, make):
        path = self.folder / "model.pt"
        torch.jit.save(torch.jit.script(seeded(make)), str(path))
        return path

    def shim(self, path, calls: List[dict], methods: Tuple[str, ...] = (),
             library=HOST) -> subprocess.CompletedProcess:
        """Runs calls in a process without PyTorch. `library` is the folder of the phone's NNAPI."""
        arrays = {f"{i}/{name}": value.numpy() for i, call in enumerate(calls) for name, value in call.items()}
        numpy.savez(self.folder / "calls.npz", **arrays)
        command = [sys.executable, ROOT / "scripts/sweeps/shim_call.py", SHIM, path, self.folder / "calls.npz",
                   self.folder / "results.npz", *methods]
        return subprocess.run(list(map(str, command)), env=environment({"LD_LIBRARY_PATH": str(library)}), text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)

    def results(self, path, calls: List[dict], methods: Tuple[str, ...] = (), library=HOST) -> Dict[str, numpy.ndarray]:
        done = self.shim(path, calls, methods, library)
        self.assertEqual(0, done.returncode, done.stderr)
        return dict(numpy.load(self.folder / "results.npz"))

    def assert_same(self, expected: torch.Tensor, found: numpy.ndarray):
        expected = expected.detach().numpy()
        self.assertEqual((expected.shape, expected.dtype), (found.shape, found.dtype))
        self.assertGreater(expected.size, 0)
        numpy.testing.assert_allclose(found, expected, rtol=0, atol=1e-4 * (expected.max() - expected.min() or 1))
