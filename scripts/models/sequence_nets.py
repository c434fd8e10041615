# SPDX-License-Identifier: BSD-3-Clause
"""Networks for text, sound and other sequences, as apps have them, in small."""

from typing import Callable, Dict, List

import torch
from torch import nn
from torch.nn import functional

from .common import Arguments, Made, Recipe, init_weights, settle, traced

WORDS = 50


class LstmTagger(nn.Module):
    """A tag for each word of a sentence: embedding, LSTM in both directions, scores."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, 12)
        self.lstm = nn.LSTM(12, 10, num_layers=2, bidirectional=True, batch_first=True)
        self.tags = nn.Linear(20, 6)

    def forward(self, sentence):
        features, _ = self.lstm(self.words(sentence))
        return self.tags(features)


class KeywordSpotter(nn.Module):
    """Which word was said: convolutions along time over filter banks, a GRU, scores of its last state."""

    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv1d(20, 16, 5, stride=2, padding=2, bias=False), nn.BatchNorm1d(16), nn.ReLU(),
            nn.Conv1d(16, 16, 3, stride=2, padding=1, bias=False), nn.BatchNorm1d(16), nn.ReLU())
        self.gru = nn.GRU(16, 12, batch_first=True)
        self.scores = nn.Linear(12, 8)

    def forward(self, banks):
        _, state = self.gru(self.features(banks).transpose(1, 2))
        return self.scores(state[-1])


class Denoiser(nn.Module):
    """One frame of a sound stream: a mask for its spectrum from a GRU, whose state goes in and out."""

    def __init__(self):
        super().__init__()
        self.dense = nn.Linear(33, 16)
        self.gru = nn.GRU(16, 16, num_layers=2, batch_first=True)
        self.mask = nn.Linear(16, 33)

    def forward(self, frame, state):
        features, state = self.gru(torch.tanh(self.dense(frame)), state)
        return frame * torch.sigmoid(self.mask(features)), state


class BagClassifier(nn.Module):
    """Text by the mean of its words' vectors."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, 16)
        self.hidden = nn.Linear(16, 16)
        self.scores = nn.Linear(16, 4)

    def forward(self, text):
        return self.scores(torch.relu(self.hidden(self.words(text).mean(dim=1))))


class Encoder(nn.Module):
    """A transformer encoder over words and their places."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, 16)
        self.places = nn.Parameter(torch.randn(1, 9, 16))
        layer = nn.TransformerEncoderLayer(16, 4, 32, dropout=0.1, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=2)
        self.scores = nn.Linear(16, 5)

    def forward(self, text):
        return self.scores(self.encoder(self.words(text) + self.places)[:, 0])


class AttentionBlock(nn.Module):
    """A block of DistilBERT at its size, 768 features in 12 heads, with a mask of what is padding."""

    WIDTH, HEADS = 768, 12

    def __init__(self):
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(self.WIDTH, self.WIDTH) for _ in range(4))
        self.attention_norm = nn.LayerNorm(self.WIDTH, eps=1e-12)
        self.inner, self.outer = nn.Linear(self.WIDTH, 4 * self.WIDTH), nn.Linear(4 * self.WIDTH, self.WIDTH)
        self.output_norm = nn.LayerNorm(self.WIDTH, eps=1e-12)

    def heads(self, tensor):
        batch = tensor.size(0)
        return tensor.view(batch, -1, self.HEADS, self.WIDTH // self.HEADS).transpose(1, 2)

    def forward(self, hidden, mask):
        query = self.heads(self.query(hidden)) / (self.WIDTH // self.HEADS) ** 0.5
        scores = torch.matmul(query, self.heads(self.key(hidden)).transpose(2, 3))
        hide = (mask == 0).view(mask.size(0), 1, 1, -1).expand_as(scores)
        weights = torch.softmax(scores.masked_fill(hide, -1e4), dim=-1)
        context = torch.matmul(weights, self.heads(self.value(hidden))).transpose(1, 2).contiguous()
        context = self.out(context.view(hidden.size(0), -1, self.WIDTH))
        middle = self.attention_norm(context + hidden)
        return self.output_norm(self.outer(functional.gelu(self.inner(middle))) + middle)


class SpeechNet(nn.Module):
    """Letters from sound: separable convolutions along time with growing dilation, and skip connections."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv1d(16, 24, 11, stride=2, padding=5)
        self.norm = nn.BatchNorm1d(24)
        self.deep = nn.ModuleList(
            nn.Conv1d(24, 24, 5, padding=2 * dilation, dilation=dilation, groups=24) for dilation in (1, 2, 4))
        self.wide = nn.ModuleList(nn.Conv1d(24, 24, 1) for _ in range(3))
        self.letters = nn.Conv1d(24, 10, 1)

    def forward(self, banks):
        features = torch.relu(self.norm(self.stem(banks)))
        for deep, wide in zip(self.deep, self.wide):
            features = torch.relu(wide(deep(features)) + features)
        return functional.log_softmax(self.letters(features), dim=1)


def words(count: int, length: int) -> List[Arguments]:
    return [(torch.randint(0, WORDS, (1, length)),) for _ in range(count)]


def noise(count: int, *sizes: int) -> List[Arguments]:
    return [(torch.randn(1, *sizes),) for _ in range(count)]


def stream(count: int) -> List[Arguments]:
    return [(torch.randn(1, 1, 33), torch.tanh(torch.randn(2, 1, 16))) for _ in range(count)]


def masked(count: int) -> List[Arguments]:
    return [(torch.randn(1, 8, AttentionBlock.WIDTH), (torch.arange(8) < 4 + i).long()[None]) for i in range(count)]


def live(build: Callable[[], nn.Module], samples: List[Arguments]) -> nn.Module:
    model = init_weights(build())
    for module in model.modules():
        if isinstance(module, nn.RNNBase):
            for parameter in module.parameters():
                nn.init.uniform_(parameter, -1, 1)
    if any(isinstance(module, nn.BatchNorm1d) for module in model.modules()):
        settle(model, [torch.cat([arguments[0] for arguments in samples])])
    return model.eval()


def sequence_net(name: str, build: Callable[[], nn.Module], samples: Callable[[int], List[Arguments]],
                 about: str) -> Recipe:
    def make() -> Dict[str, Made]:
        given = samples(4)
        return {f"{name}.pt": traced(live(build, given), given)}

    return Recipe(name, [f"{name}.pt"], make, about)


def sequence_recipes() -> List[Recipe]:
    return [
        sequence_net("lstm_tagger", LstmTagger, lambda n: words(n, 7), "bidirectional LSTM; input 1,7:int64"),
        sequence_net("keyword_spotter", KeywordSpotter, lambda n: noise(n, 20, 32),
                     "1-D convolutions and a GRU; input 1,20,32"),
        sequence_net("denoiser", Denoiser, stream, "one frame through a GRU; inputs 1,1,33 and the state 2,1,16"),
        sequence_net("bag_classifier", BagClassifier, lambda n: words(n, 9), "mean of embeddings; input 1,9:int64"),
        sequence_net("transformer_encoder", Encoder, lambda n: words(n, 9), "nn.TransformerEncoder; input 1,9:int64"),
        sequence_net("attention_block", AttentionBlock, masked,
                     "a block of DistilBERT's size; inputs 1,8,768 and a mask 1,8:int64"),
        sequence_net("speech_net", SpeechNet, lambda n: noise(n, 16, 64), "1-D speech net; input 1,16,64"),
    ]
