# SPDX-License-Identifier: BSD-3-Clause
"""Small configurations of families of transformers."""

from typing import Iterator

import torch
import transformers

from .network import Network, Picked

TOKENS = 16
VOCABULARY = 99
HIDDEN = ("last_hidden_state",)

COMMON = {"vocab_size": VOCABULARY, "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4,
          "intermediate_size": 64, "max_position_embeddings": 64}
DECODER = {**COMMON, "num_key_value_heads": 2, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
BART = {"vocab_size": VOCABULARY, "d_model": 32, "encoder_layers": 2, "decoder_layers": 2, "encoder_ffn_dim": 64,
        "decoder_ffn_dim": 64, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
        "max_position_embeddings": 64, "pad_token_id": 0}
PICTURE = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64,
           "image_size": 32, "patch_size": 8}
SPEECH = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64,
          "conv_dim": (32, 32, 32), "conv_stride": (5, 2, 2), "conv_kernel": (10, 3, 3), "num_feat_extract_layers": 3,
          "num_conv_pos_embeddings": 16, "num_conv_pos_embedding_groups": 4}

# Encoders of text take a mask, of which the last tokens are off; decoders see the whole sequence and keep no cache.
ENCODERS = {
    "bert": ("Bert", COMMON),
    "distilbert": ("DistilBert", {"vocab_size": VOCABULARY, "dim": 32, "n_layers": 2, "n_heads": 4, "hidden_dim": 64,
                                  "max_position_embeddings": 64}),
    "albert": ("Albert", {**COMMON, "embedding_size": 16}),
    "roberta": ("Roberta", {**COMMON, "max_position_embeddings": 66}),
    "electra": ("Electra", {**COMMON, "embedding_size": 16}),
    "mobilebert": ("MobileBert", {**COMMON, "embedding_size": 16, "intra_bottleneck_size": 16,
                                  "true_hidden_size": 16, "num_feedforward_networks": 2}),
    "squeezebert": ("SqueezeBert", {**COMMON, "embedding_size": 32}),
    "deberta_v2": ("DebertaV2", {**COMMON, "relative_attention": True, "pos_att_type": ["p2c", "c2p"],
                                 "position_buckets": 8, "norm_rel_ebd": "layer_norm", "share_att_key": True}),
    "modernbert": ("ModernBert", {**COMMON, "pad_token_id": 0, "local_attention": 8,
                                  "global_attn_every_n_layers": 2}),
    "mpnet": ("MPNet", {**COMMON, "max_position_embeddings": 66}),
    "xlm_roberta": ("XLMRoberta", {**COMMON, "max_position_embeddings": 66}),
    "funnel": ("Funnel", {"vocab_size": VOCABULARY, "block_sizes": [1, 1], "d_model": 32, "n_head": 4, "d_head": 8,
                          "d_inner": 64}),
    "fnet": ("FNet", {**COMMON, "use_tpu_fourier_optimizations": False}),
}
DECODERS = {
    "gpt2": ("GPT2", {"vocab_size": VOCABULARY, "n_positions": 64, "n_embd": 32, "n_layer": 2, "n_head": 4}),
    "gpt_neox": ("GPTNeoX", COMMON),
    "opt": ("OPT", {**COMMON, "ffn_dim": 64, "word_embed_proj_dim": 32}),
    "llama": ("Llama", DECODER),
    "mistral": ("Mistral", {**DECODER, "sliding_window": 8}),
    "qwen2": ("Qwen2", DECODER),
    "qwen3": ("Qwen3", {**DECODER, "head_dim": 8}),
    "gemma": ("Gemma", {**DECODER, "head_dim": 8}),
    "gemma2": ("Gemma2", {**DECODER, "head_dim": 8, "sliding_window": 8}),
    "phi": ("Phi", COMMON),
    "phi3": ("Phi3", DECODER),
    "bloom": ("Bloom", {"vocab_size": VOCABULARY, "hidden_size": 32, "n_layer": 2, "n_head": 4}),
    "falcon": ("Falcon", {"vocab_size": VOCABULARY, "hidden_size": 32, "num_hidden_layers": 2,
                          "num_attention_heads": 4}),
}
PICTURES = {
    "vit": ("ViT", PICTURE, 32),
    "deit": ("DeiT", PICTURE, 32),
    "beit": ("Beit", {**PICTURE, "use_relative_position_bias": True}, 32),
    "dinov2": ("Dinov2", PICTURE, 32),
    "swin": ("Swin", {"image_size": 32, "patch_size": 2, "embed_dim": 16, "depths": [2, 2], "num_heads": [2, 4],
                      "window_size": 4}, 32),
    "convnext": ("ConvNext", {"hidden_sizes": [16, 24, 32, 48], "depths": [1, 1, 1, 1]}, 64),
    "convnextv2": ("ConvNextV2", {"hidden_sizes": [16, 24, 32, 48], "depths": [1, 1, 1, 1]}, 64),
    "segformer": ("Segformer", {"hidden_sizes": [16, 24, 32, 48], "depths": [1, 1, 1, 1],
                                "num_attention_heads": [1, 2, 4, 8], "sr_ratios": [4, 2, 1, 1]}, 64),
    "mobilevit": ("MobileViT", {"hidden_sizes": [24, 32, 40], "neck_hidden_sizes": [8, 8, 16, 16, 24, 24, 48],
                                "image_size": 64}, 64),
    "levit": ("Levit", {"image_size": 64, "hidden_sizes": [16, 24, 32], "num_attention_heads": [2, 3, 4],
                        "depths": [1, 1, 1], "key_dim": [8, 8, 8]}, 64),
    "pvt": ("Pvt", {"image_size": 64, "hidden_sizes": [16, 24, 32, 48], "depths": [1, 1, 1, 1],
                    "num_attention_heads": [1, 2, 4, 8]}, 64),
    "resnet": ("ResNet", {"embedding_size": 16, "hidden_sizes": [16, 24, 32, 48], "depths": [1, 1, 1, 1]}, 64),
}


def tokens():
    return torch.randint(3, VOCABULARY, (1, TOKENS))


def masked_tokens():
    return tokens(), (torch.arange(TOKENS) < TOKENS - 4).to(torch.int64).unsqueeze(0)


def picked(prefix, options, names, arguments=None, suffix="Model"):
    """A function that makes the model: the classes are looked up late, since each import of one is slow."""
    def make():
        config = getattr(transformers, f"{prefix}Config")(**options)
        model = getattr(transformers, prefix + suffix)(config)
        return Picked(model, names, HIDDEN, arguments or {})
    return make


def encoder_of(whole: str, options: dict, names):
    def make():
        model = getattr(transformers, f"{whole}Model")(getattr(transformers, f"{whole}Config")(**options))
        return Picked(model.get_encoder(), names, HIDDEN, {})
    return make


def picture(size: int):
    return lambda: (torch.randn(1, 3, size, size),)


def networks() -> Iterator[Network]:
    def family(name, make, inputs):
        return Network(f"hf_{name}", "transformers", make, inputs, ("traced", "exported"))

    masked = ("input_ids", "attention_mask")
    for name, (prefix, options) in ENCODERS.items():
        named, inputs = (masked, masked_tokens) if name != "fnet" else (masked[:1], lambda: (tokens(),))
        yield family(name, picked(prefix, options, named), inputs)
    for name, (prefix, options) in DECODERS.items():
        yield family(name, picked(prefix, options, masked[:1], {"use_cache": False}), lambda: (tokens(),))
    for name, (prefix, options, size) in PICTURES.items():
        yield family(name, picked(prefix, options, ("pixel_values",)), picture(size))
    small = {"vocab_size": VOCABULARY, "d_model": 32, "d_kv": 8, "d_ff": 64, "num_layers": 2, "num_heads": 4}
    yield family("t5_encoder", picked("T5", small, masked, suffix="EncoderModel"), masked_tokens)
    yield family("bart_encoder", encoder_of("Bart", BART, masked), masked_tokens)
    yield family("clip_text", picked("CLIPText", COMMON, masked), masked_tokens)
    yield family("clip_vision", picked("CLIPVision", PICTURE, ("pixel_values",)), picture(32))
    yield family("siglip_vision", picked("SiglipVision", PICTURE, ("pixel_values",)), picture(32))
    whisper = {**BART, "num_mel_bins": 20, "max_source_positions": 32, "max_target_positions": 16}
    yield family("whisper_encoder", encoder_of("Whisper", whisper, ("input_features",)),
                 lambda: (torch.randn(1, 20, 64),))
    for name, prefix in (("wav2vec2", "Wav2Vec2"), ("hubert", "Hubert")):
        yield family(name, picked(prefix, SPEECH, ("input_values",)), lambda: (torch.randn(1, 2000),))
