# SPDX-License-Identifier: BSD-3-Clause
"""Small networks as apps have them (scripts/models/sequence_nets.py and picture_nets.py): each converts in both layouts
with nothing given but the file, which has its inputs bundled, and agrees with TorchScript."""

import unittest

from zoo_test import LAYOUTS, MODELS, Zoo


class Net(Zoo):
    def check_net(self, name, at_most, transposes=0, options=(), layouts=LAYOUTS):
        """At most so many operations, and of them TRANSPOSEs."""
        model = MODELS / f"{name}.pt"
        for layout in layouts:
            with self.subTest(name=name, layout=layout):
                out = self.convert(model, layout, *options)
                self.verified(model, out)
                operations = self.operations(out)
                self.assertLessEqual(operations.count("TRANSPOSE"), transposes)
                self.assertLessEqual(len(operations), at_most)


class Sequences(Net):
    def test_lstm_tagger(self):
        self.check_net("lstm_tagger", at_most=337)

    def test_keyword_spotter(self):
        self.check_net("keyword_spotter", at_most=94, transposes=1)

    def test_denoiser(self):
        self.check_net("denoiser", at_most=36)

    def test_bag_classifier(self):
        self.check_net("bag_classifier", at_most=4)

    def test_speech_net(self):
        self.check_net("speech_net", at_most=16, transposes=2)


class Transformers(Net):
    def test_encoder(self):
        self.check_net("transformer_encoder", at_most=80, transposes=4)

    def test_attention_block(self):
        self.check_net("attention_block", at_most=60, transposes=4)


class Segmentation(Net):
    def test_transposed(self):
        self.check_net("unet_transposed", at_most=13)

    def test_nearest(self):
        self.check_net("unet_nearest", at_most=15)

    def test_bilinear(self):
        self.check_net("unet_bilinear", at_most=23, transposes=6)  # products with constant matrices
        self.check_net("unet_bilinear", at_most=15, options=["--feature-level", "4"])


class Pictures(Net):
    def test_dcgan(self):
        self.check_net("dcgan", at_most=5)

    def test_espcn(self):
        self.check_net("espcn", at_most=6)

    def test_autoencoder(self):
        self.check_net("autoencoder", at_most=5)

    def test_style_net(self):
        self.check_net("style_net", at_most=35)


class Detection(Net):
    def test_ssdlite(self):
        self.check_net("ssdlite", at_most=220, transposes=6)

    def test_local_norms(self):
        self.check_net("local_norms", at_most=10)

    def test_yolo_head(self):
        self.check_net("yolo_head", at_most=58, transposes=2)

    def test_fbnet(self):
        self.check_net("fbnet", at_most=53)


class Videos(Net):
    """Volumes are planes, or columns of planes, from the first layer to the last: the change is a RESHAPE in NHWC."""

    def test_cubes(self):
        self.check_net("video_cubes", at_most=67, transposes=2)

    def test_separate(self):
        self.check_net("video_separate", at_most=50, transposes=1, layouts=["--nhwc"])
        self.check_net("video_separate", at_most=72, transposes=22, layouts=["--nchw"])

    def test_joined(self):
        self.check_net("video_joined", at_most=45, transposes=2, layouts=["--nhwc"])
        self.check_net("video_joined", at_most=61, transposes=20, layouts=["--nchw"])


if __name__ == "__main__":
    unittest.main()
