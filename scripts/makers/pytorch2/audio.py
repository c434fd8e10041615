# SPDX-License-Identifier: BSD-3-Clause
"""torchaudio's models in small configurations."""

from typing import Iterator, Tuple

import torch
import torchaudio
from torch import nn

from .network import Network

models = torchaudio.models

SMALL_ENCODER = {
    "extractor_mode": "group_norm", "extractor_conv_layer_config": [(32, 10, 5), (32, 3, 2), (32, 3, 2)],
    "extractor_conv_bias": False, "encoder_embed_dim": 48, "encoder_projection_dropout": 0.0,
    "encoder_pos_conv_kernel": 16, "encoder_pos_conv_groups": 4, "encoder_num_layers": 2, "encoder_num_heads": 4,
    "encoder_attention_dropout": 0.0, "encoder_ff_interm_features": 96, "encoder_ff_interm_dropout": 0.0,
    "encoder_dropout": 0.0, "encoder_layer_norm_first": False, "encoder_layer_drop": 0.0, "aux_num_out": 12,
}


def wave(length: int = 2000):
    return lambda: (torch.randn(1, length),)


def sound(channels: int, length: int):
    return lambda: (torch.randn(1, channels, length),)


def wav2vec2(**changes):
    return lambda: models.wav2vec2_model(**{**SMALL_ENCODER, **changes})


def wavlm():
    return models.wavlm_model(**SMALL_ENCODER, encoder_num_buckets=32, encoder_max_distance=64)


class FirstResult(nn.Module):
    """Wave in, features out: lengths are None."""
    def __init__(self, model: nn.Module):
        super().__init__()
        self.model = model

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.model(x, None)[0]


class TacotronEncoder(nn.Module):
    """Characters to features; the decoder draws its dropout at inference, too, and has no defined result."""
    def __init__(self):
        super().__init__()
        whole = models.Tacotron2(n_symbol=40, symbol_embedding_dim=32, encoder_embedding_dim=32,
                                 encoder_n_convolution=3)
        self.embedding, self.convolutions, self.lstm = whole.embedding, whole.encoder.convolutions, whole.encoder.lstm

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.embedding(tokens).transpose(1, 2)
        for convolution in self.convolutions:
            x = nn.functional.relu(convolution(x))
        return self.lstm(x.transpose(1, 2))[0]


def tacotron_postnet():
    whole = models.Tacotron2(n_mels=20, postnet_embedding_dim=32, postnet_n_convolution=3)
    return whole.postnet


def conformer():
    return models.Conformer(input_dim=32, num_heads=4, ffn_dim=64, num_layers=2, depthwise_conv_kernel_size=15)


def emformer():
    return models.Emformer(input_dim=32, num_heads=4, ffn_dim=64, num_layers=2, segment_length=4,
                           right_context_length=1)


def with_lengths(length: int, features: int, given: int):
    """One sequence: its length is that of the tensor, as the models want it."""
    return lambda: (torch.randn(1, length, features), torch.tensor([given], dtype=torch.int64))


class StreamingEmformer(nn.Module):
    """A segment of a stream: the state of each layer goes in and comes out."""
    def __init__(self):
        super().__init__()
        self.model = models.Emformer(input_dim=32, num_heads=4, ffn_dim=64, num_layers=2, segment_length=4,
                                     left_context_length=8, right_context_length=1)

    def forward(self, x: torch.Tensor, lengths: torch.Tensor) -> Tuple[torch.Tensor, torch.Tensor]:
        output, lengths, _ = self.model.infer(x, lengths, None)
        return output, lengths


def transcriber():
    return models.rnnt.emformer_rnnt_model(
        input_dim=20, encoding_dim=32, num_symbols=30, segment_length=8, right_context_length=4,
        time_reduction_input_dim=16, time_reduction_stride=4, transformer_num_heads=2, transformer_ffn_dim=48,
        transformer_num_layers=2, transformer_dropout=0.0, transformer_activation="gelu",
        transformer_left_context_length=8, transformer_max_memory_size=0,
        transformer_weight_init_scale_strategy="depthwise", transformer_tanh_on_mem=True, symbol_embedding_dim=24,
        num_lstm_layers=2, lstm_layer_norm=True, lstm_layer_norm_epsilon=1e-3, lstm_dropout=0.0).transcriber


def conv_tasnet():
    return models.ConvTasNet(num_sources=2, enc_kernel_size=16, enc_num_feats=32, msk_num_feats=16,
                             msk_num_hidden_feats=32, msk_num_layers=3, msk_num_stacks=2)


def wavernn():
    return models.WaveRNN(upsample_scales=[2, 2, 2], n_classes=16, hop_length=8, n_res_block=2, n_rnn=32, n_fc=32,
                          kernel_size=5, n_freq=16, n_hidden=16, n_output=16)


def hdemucs():
    return models.HDemucs(sources=["drums", "voice"], audio_channels=2, channels=8, nfft=256, depth=3)


def networks() -> Iterator[Network]:
    def audio(name, make, inputs, kinds=("traced", "scripted", "exported")):
        return Network(f"audio_{name}", "audio", make, inputs, kinds)

    yield audio("wav2vec2", lambda: FirstResult(wav2vec2()()), wave())
    yield audio("wav2vec2_layer_norm", lambda: FirstResult(wav2vec2(
        extractor_mode="layer_norm", extractor_conv_bias=True, encoder_layer_norm_first=True)()), wave())
    yield audio("hubert", lambda: FirstResult(wav2vec2(
        extractor_conv_layer_config=[(24, 10, 5), (24, 3, 2), (24, 2, 2)], encoder_embed_dim=64,
        aux_num_out=None)()), wave())
    yield audio("wavlm", lambda: FirstResult(wavlm()), wave())
    yield audio("conformer", conformer, with_lengths(24, 32, 24))
    yield audio("emformer", emformer, with_lengths(13, 32, 12))
    yield audio("emformer_streaming", StreamingEmformer, with_lengths(5, 32, 5))
    yield audio("rnnt_transcriber", transcriber, with_lengths(36, 20, 36))
    yield audio("tacotron2_encoder", TacotronEncoder, lambda: (torch.randint(0, 40, (1, 12)),))
    yield audio("tacotron2_postnet", tacotron_postnet, sound(20, 30))
    yield audio("wavernn", wavernn, lambda: (torch.randn(1, 1, 8 * (12 - 4)), torch.randn(1, 1, 16, 12)))
    yield audio("conv_tasnet", conv_tasnet, sound(1, 800))
    yield audio("deepspeech", lambda: models.DeepSpeech(n_feature=20, n_hidden=32, n_class=12),
                lambda: (torch.randn(1, 1, 16, 20),))
    yield audio("wav2letter", lambda: models.Wav2Letter(num_classes=20, input_type="mfcc", num_features=13),
                sound(13, 120))
    yield audio("wav2letter_wave", lambda: models.Wav2Letter(num_classes=20), sound(1, 20000))
    yield audio("hdemucs", hdemucs, lambda: (torch.randn(1, 2, 4096),))
