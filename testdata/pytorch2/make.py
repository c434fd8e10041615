# SPDX-License-Identifier: BSD-3-Clause
"""Writes the files of this folder with PyTorch 2.14.1 (python3 make.py FOLDER): a small model for each operator that
PyTorch got after 1.13.1, traced or scripted, and PyTorch's own results for it in samples.pt."""

import math
import pathlib
import sys
from typing import Dict, Tuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn


def seeded(*shape, seed=0, dtype=torch.float32):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator).to(dtype)


class Call(nn.Module):
    """A traced function between two layers that NNAPI runs."""

    def __init__(self, function, width=8):
        super().__init__()
        torch.manual_seed(0)
        self.before = nn.Linear(width, width)
        self.function = function

    def forward(self, x):
        return self.function(self.before(x))


class Attention(nn.Module):
    def __init__(self, width: int = 8, heads: int = 2):
        super().__init__()
        torch.manual_seed(1)
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.heads = heads

    def split(self, x: Tensor) -> Tensor:
        return x.view(x.size(0), x.size(1), self.heads, -1).transpose(1, 2)

    def parts(self, x: Tensor) -> Tuple[Tensor, Tensor, Tensor]:
        return self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))

    def join(self, x: Tensor) -> Tensor:
        return x.transpose(1, 2).flatten(2)

    def forward(self, x: Tensor) -> Tensor:
        query, key, value = self.parts(x)
        return self.join(F.scaled_dot_product_attention(query, key, value))


class Causal(Attention):
    def forward(self, x: Tensor) -> Tensor:
        query, key, value = self.parts(x)
        return self.join(F.scaled_dot_product_attention(query, key, value, is_causal=True, scale=0.3))


class Masked(Attention):
    """The mask of booleans is an argument; its first row hides all."""

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        query, key, value = self.parts(x)
        return self.join(F.scaled_dot_product_attention(query, key, value, attn_mask=mask))


class Biased(Attention):
    def __init__(self):
        super().__init__()
        bias = seeded(5, 5, seed=3)
        bias[2] = -math.inf
        self.register_buffer("bias", bias)

    def forward(self, x: Tensor) -> Tensor:
        query, key, value = self.parts(x)
        return self.join(F.scaled_dot_product_attention(query, key, value, attn_mask=self.bias))


class Grouped(Attention):
    def forward(self, x: Tensor) -> Tensor:
        query, key, value = self.parts(x)
        return self.join(F.scaled_dot_product_attention(query, key[:, :1], value[:, :1], enable_gqa=True))


class Resize(nn.Module):
    """Scripted, F.interpolate names the operator of the mode "lanczos", which isn't taken."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(2)
        self.conv = nn.Conv2d(3, 4, 3)

    def forward(self, x: Tensor) -> Tensor:
        return F.interpolate(self.conv(x), scale_factor=2.0, mode="bilinear", align_corners=False)


class ResizeBy(Resize):
    """The mode is known when forward is called."""

    def forward(self, x: Tensor, mode: str) -> Tensor:
        y = self.conv(x)
        return torch.relu(y) + self.resized(y, mode)[:, :, :6, :6]

    def resized(self, y: Tensor, mode: str) -> Tensor:
        if mode == "nearest":
            return F.interpolate(y, scale_factor=2.0, mode="nearest")
        return torch.ops.aten._upsample_lanczos2d_aa(y, [12, 12], False)


class Lanczos(Resize):
    def forward(self, x: Tensor) -> Tensor:
        return F.interpolate(self.conv(x), size=[12, 12], mode="lanczos", antialias=True)


class Sizes(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(4)
        self.layer = nn.Linear(8, 8)

    def forward(self, x: Tensor) -> Tensor:
        y = self.layer(x)
        return y * (y.nbytes + y.itemsize)


class Streams(nn.Module):
    """Lists, dicts and tuples of tensors, so that the trace alone knows how many there are."""

    def forward(self, x: Tensor, more: Dict[str, Tensor], pair: Tuple[Tensor, Tensor]) -> Tensor:
        return torch.relu(x @ more["weight"]) + pair[0] * pair[1]


class WholeNumbers(nn.Module):
    def __init__(self, dtype):
        super().__init__()
        self.register_buffer("table", torch.arange(8).to(dtype))

    def forward(self, x: Tensor) -> Tensor:
        return x * self.table.to(torch.float32)


class Plain(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(5)
        self.layers = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Flatten(), nn.Linear(144, 5))

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)


MEAN, VARIANCE = seeded(5, seed=7), seeded(5, seed=8).abs() + 1

OPERATORS = {
    "rms_norm": Call(nn.RMSNorm(8, eps=1e-5)),
    "rms_norm_default_eps": Call(nn.RMSNorm((5, 8), elementwise_affine=False)),
    "fused_rms_norm": Call(lambda x: torch.ops.aten._fused_rms_norm(x, [8], None, 1e-5)[0]),
    "squeeze_dims": Call(lambda x: x.unsqueeze(0).unsqueeze(-1).squeeze((0, -1))),
    "any_dims": Call(lambda x: torch.where(torch.any(x > 1.2, dim=(0, 2), keepdim=True), x, -x)),
    "all_dims": Call(lambda x: torch.where(torch.all(x > -1.3, dim=(0, 2), keepdim=True), x, -x)),
    "all_dims_of_none": Call(lambda x: x + torch.ops.aten.all.dims(x > 0, None, True)),
    "var_correction": Call(lambda x: x / torch.var(x, dim=(1, 2), correction=0.5, keepdim=True)),
    "std_correction": Call(lambda x: x / torch.std(x, dim=-1, correction=1.5, keepdim=True)),
    "std_of_all": Call(lambda x: x / torch.std(x, correction=2)),
    "var_mean_correction": Call(lambda x: torch.stack(torch.var_mean(x, dim=1, correction=0.25))),
    "std_mean_correction": Call(lambda x: torch.stack(torch.std_mean(x, dim=1, correction=2.5))),
    "linspace": Call(lambda x: x * torch.linspace(torch.tensor(1.0), torch.tensor(2.0), 8)),
    "linspace_to_number": Call(lambda x: x * torch.linspace(torch.tensor(1.0), 3.0, 8)),
    "linspace_from_number": Call(lambda x: x * torch.linspace(-1.0, torch.tensor(2.0), 8)),
    "logspace": Call(lambda x: x * torch.logspace(torch.tensor(-1.0), torch.tensor(0.5), 8)),
    "logspace_to_number": Call(lambda x: x * torch.logspace(torch.tensor(-1.0), 0.5, 8, base=2.0)),
    "logspace_from_number": Call(lambda x: x * torch.logspace(-1.0, torch.tensor(0.5), 8)),
    "prelu_kernel": Call(lambda x: torch.ops.aten._prelu_kernel(x, torch.linspace(0.1, 0.8, 8))),
    "safe_softmax": Call(lambda x: torch.ops.aten._safe_softmax(
        x.masked_fill(torch.arange(5).reshape(5, 1) > 3, -math.inf), -1)),
    "unsafe_index": Call(lambda x: torch.ops.aten._unsafe_index(x, [None, torch.tensor([3, 0, 1])])),
    "unsafe_index_put": Call(lambda x: torch.ops.aten._unsafe_index_put(
        x, [None, torch.tensor([3, 0])], torch.ones(2, 8))),
    "empty_permuted": Call(lambda x: x + torch.empty_permuted([8], [0]).fill_(2.0)),
    "nonzero_static": Call(lambda x: torch.nonzero_static(x > 0, size=6).to(x.dtype) + x.sum()),
    "batch_norm_no_training": Call(lambda x: torch.ops.aten._native_batch_norm_legit_no_training(
        x, None, None, MEAN, VARIANCE, 0.1, 1e-5)[0]),
    "batch_norm_functional": Call(lambda x: torch.ops.aten._native_batch_norm_legit_functional(
        x, None, None, MEAN, VARIANCE, False, 0.1, 1e-5)[0]),
    "batch_norm_legit": Call(lambda x: torch.ops.aten._native_batch_norm_legit(
        x, None, None, MEAN, VARIANCE, False, 0.1, 1e-5)[0]),
    "batch_norm_no_stats": Call(lambda x: torch.ops.aten._native_batch_norm_legit.no_stats(
        x, None, None, True, 0.1, 1e-5)[0]),
    "batch_norm_no_update": Call(lambda x: torch.ops.aten._batch_norm_no_update(
        x, None, None, MEAN, VARIANCE, 0.1, 1e-5)[0]),
    "assert_scalar": Call(lambda x: (torch.ops.aten._assert_scalar(1, "no"), x * 2)[1]),
    "assert_async": Call(lambda x: (torch.ops.aten._assert_async.msg(torch.tensor(True), "no"), x * 2)[1]),
    "assert_metadata": Call(lambda x: (torch.ops.aten._assert_tensor_metadata(
        x, None, None, torch.float32, device=torch.device("cpu"), layout=torch.strided), x * 2)[1]),
    "constrain_range": Call(lambda x: (torch.ops.aten.sym_constrain_range(4, min=1, max=8), x * 2)[1]),
    "is_all_true": Call(lambda x: torch.where(torch.ops.aten._is_all_true(x[0, 0] > -9), x, -x)),
}

TRACED = {
    "attention": (Attention(), [seeded(2, 5, 8)]),
    "attention_causal": (Causal(), [seeded(2, 5, 8)]),
    "attention_masked": (Masked(), [seeded(2, 5, 8), torch.ones(5, 5).tril(-1).bool()]),
    "attention_biased": (Biased(), [seeded(2, 5, 8)]),
    "attention_grouped": (Grouped(), [seeded(2, 5, 8)]),
    "multi_head": (nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval(), [seeded(2, 5, 8)]),
    "plain": (Plain(), [seeded(1, 3, 8, 8)]),
    "containers": (Streams(), [seeded(2, 4), {"weight": seeded(4, 3, seed=1)},
                               (seeded(2, 3, seed=2), seeded(2, 3, seed=3))]),
    **{name: (module, [seeded(2, 5, 8)]) for name, module in OPERATORS.items()},
}

SCRIPTED = {
    "scripted_attention": (Attention(), [seeded(2, 5, 8)]),
    "scripted_masked": (Masked(), [seeded(2, 5, 8), torch.ones(5, 5).tril(-1).bool()]),
    "scripted_multi_head": (nn.TransformerEncoderLayer(8, 2, 16, batch_first=True).eval(), [seeded(2, 5, 8)]),
    "scripted_resize": (Resize(), [seeded(1, 3, 8, 8)]),
    "scripted_resize_by": (ResizeBy(), [seeded(1, 3, 8, 8), "nearest"]),
    "scripted_sizes": (Sizes(), [seeded(2, 5, 8)]),
}

# Their results aren't compared.
REFUSED = {
    "refused_lanczos": (Lanczos(), [seeded(1, 3, 8, 8)]),
    "refused_uint16": (WholeNumbers(torch.uint16), [seeded(2, 8)]),
    "refused_float8": (WholeNumbers(torch.float8_e4m3fn), [seeded(2, 8)]),
}


def main(folder: pathlib.Path):
    samples = {}
    with torch.no_grad():
        for name, (module, inputs) in {**TRACED, **REFUSED}.items():
            torch.jit.trace(module.eval(), tuple(inputs), check_trace=False).save(str(folder / f"{name}.pt"))
        for name, (module, inputs) in SCRIPTED.items():
            torch.jit.script(module.eval()).save(str(folder / f"{name}.pt"))
        for name, (module, inputs) in {**TRACED, **SCRIPTED}.items():
            samples[name] = (inputs, module.eval()(*inputs))
    torch.save(samples, folder / "samples.pt")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
