# SPDX-License-Identifier: BSD-3-Clause
"""Attention as PyTorch 2 traces it: one operator, whose masks are floats (0 and minus infinity) of three types. The
layers' other way, by plain operators, says what is right: PyTorch 1.13.1 runs no mask but that of keys in one operator."""

import unittest

import torch
from torch import nn
from torch.nn import functional

from cli import CliTest
from stock_torch import StockTorchTest, load

WIDTH, HEADS, LENGTH = 16, 4, 6
INFINITY = float("inf")
CAUSAL, OF_KEYS, OF_ALL = 0, 1, 2


def as_float(hidden):
    return torch.zeros(hidden.shape).masked_fill(hidden, -INFINITY)


class Attention(nn.Module):
    """A layer's weights in one operator; `mask` is None for a mask that the caller gives."""

    def __init__(self, layer, mask, mask_type: int, need_weights: bool, average: bool):
        super().__init__()
        self.in_weight, self.in_bias = layer.in_proj_weight, layer.in_proj_bias
        self.out_weight, self.out_bias = layer.out_proj.weight, layer.out_proj.bias
        self.mask, self.mask_type, self.need_weights, self.average = mask, mask_type, need_weights, average

    def forward(self, x, given):
        mask = given if self.mask is None else self.mask
        result, weights = torch._native_multi_head_attention(
            x, x, x, 16, 4, self.in_weight, self.in_bias, self.out_weight, self.out_bias, mask, self.need_weights,
            self.average, self.mask_type)
        return (result, weights) if self.need_weights else (result, result)


class Layer(nn.Module):
    def __init__(self, layer, norm_first: bool, mask_type: int):
        super().__init__()
        attention = layer.self_attn
        self.weights = [each.detach() for each in (
            attention.in_proj_weight, attention.in_proj_bias, attention.out_proj.weight, attention.out_proj.bias,
            layer.norm1.weight, layer.norm1.bias, layer.norm2.weight, layer.norm2.bias, layer.linear1.weight,
            layer.linear1.bias, layer.linear2.weight, layer.linear2.bias)]
        self.norm_first, self.mask_type = norm_first, mask_type

    def forward(self, x, mask):
        w = self.weights
        return torch._transformer_encoder_layer_fwd(
            x, 16, 4, w[0], w[1], w[2], w[3], False, self.norm_first, 1e-5, w[4], w[5], w[6], w[7], w[8], w[9], w[10],
            w[11], mask, self.mask_type)


class FusedAttention(CliTest, StockTorchTest):
    def converted(self, module, *samples):
        torch.jit.script(module.eval()).save(str(self.folder / "model.pt"))
        dtypes = {torch.bool: ":bool", torch.float32: ""}
        specs = [text for each in samples
                 for text in ("--input", ",".join(map(str, each.shape)) + dtypes[each.dtype])]
        self.succeed(self.folder / "model.pt", *specs, "--fallback", "none", "--verify", "-o", self.folder / "out.pt")
        return load(self.folder / "out.pt")

    def expected(self, layer, x, hidden, average):
        """By plain operators; `hidden` is [batch, heads, length, length] or smaller."""
        mask = as_float(hidden.expand(x.shape[0], HEADS, LENGTH, LENGTH).reshape(-1, LENGTH, LENGTH))
        steps = x.transpose(0, 1)
        result, weights = functional.multi_head_attention_forward(
            steps, steps, steps, WIDTH, HEADS, layer.in_proj_weight, layer.in_proj_bias, None, None, False, 0.,
            layer.out_proj.weight, layer.out_proj.bias, attn_mask=mask, average_attn_weights=average)
        return result.transpose(0, 1), weights

    def masks(self):
        """Each mask as a bool one, by its type, in the shape that broadcasts to the scores."""
        keys = torch.zeros(2, LENGTH, dtype=torch.bool)
        keys[0, 4:], keys[1, 1:3] = True, True
        causal = torch.ones(LENGTH, LENGTH).triu(1).bool()
        both = (causal | keys[:, None, None]).expand(2, HEADS, LENGTH, LENGTH).clone()
        both[:, 1] = keys[:, None]  # another mask for one head
        return {OF_KEYS: (keys, keys[:, None, None]), CAUSAL: (causal, causal), OF_ALL: (both, both)}

    def test_masks(self):
        x = torch.randn(2, LENGTH, WIDTH)
        scaled = torch.rand(2, LENGTH, WIDTH) * 3
        for mask_type, (hidden, for_scores) in self.masks().items():
            for mask in (hidden, as_float(hidden), hidden.float() * 0.25):
                for need_weights, average in ((False, True), (True, mask_type != OF_ALL)):
                    with self.subTest(type=mask_type, dtype=mask.dtype, weights=need_weights, average=average):
                        layer = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
                        given = Attention(layer, None, mask_type, need_weights, average)
                        result, weights = self.expected(layer, x, for_scores, average)
                        with torch.no_grad():
                            found = self.converted(given, x, mask)(x, mask)
                        self.assert_close((result.detach(), (weights if need_weights else result).detach()), found)
                if mask.dtype == torch.bool:
                    continue
                with self.subTest(type=mask_type, is_constant=True):
                    layer = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
                    fixed = Attention(layer, mask, mask_type, False, True)
                    result, _ = self.expected(layer, scaled, for_scores, True)
                    with torch.no_grad():
                        found = self.converted(fixed, x, mask)(scaled, mask)
                    self.assert_close((result.detach(), result.detach()), found)

    def test_encoder_layers(self):
        x = torch.randn(2, LENGTH, WIDTH)
        for mask_type, (hidden, _) in self.masks().items():
            for norm_first in (False, True):
                with self.subTest(type=mask_type, norm_first=norm_first):
                    plain = nn.TransformerEncoderLayer(WIDTH, HEADS, 24, norm_first=norm_first, batch_first=True)
                    layer = Layer(plain, norm_first, mask_type)
                    keys = hidden if mask_type == OF_KEYS else None
                    others = as_float(hidden if mask_type == CAUSAL else hidden.reshape(-1, *hidden.shape[-2:]))
                    plain.train()  # the way by plain operators; dropout is off
                    for each in plain.modules():
                        if isinstance(each, nn.Dropout):
                            each.p = 0
                    plain.self_attn.dropout = 0
                    expected = plain(x, None if mask_type == OF_KEYS else others, keys).detach()
                    with torch.no_grad():
                        found = self.converted(layer, x, as_float(hidden))(x, as_float(hidden))
                    self.assert_close(expected, found)


class Filled(nn.Module):
    def forward(self, x, mask):
        return torch.relu(x).masked_fill(mask, 2.0)


class Scattered(nn.Module):
    def forward(self, x, mask):
        return torch.relu(x).masked_scatter(mask, x + 1)


class MisreadMasks(CliTest):
    """ATen of 1.13.1 reads the bytes of a mask that isn't bool, without a word."""

    def test_refused(self):
        for module in (Filled(), Scattered()):
            path = self.folder / "model.pt"
            torch.jit.script(module).save(str(path))
            for dtype in ("float32", "int64"):
                self.fail_with(1, path, "--input", "2,3", "--input", f"2,3:{dtype}", "--min-segment-macs", "0", "-o",
                               self.folder / "out.pt",
                               needed=["aten::masked_", f"a mask {dtype}[2, 3], of which PyTorch on the CPU reads the bytes",
                                       "compare it with 0"])
            self.succeed(path, "--input", "2,3", "--input", "2,3:bool", "--min-segment-macs", "0", "-o",
                         self.folder / "out.pt")


if __name__ == "__main__":
    unittest.main()
