#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""compare_detections.py MODEL OUT SHAPE: runs a detector and its converted form on seeded images and matches their
detections. Suppression and top-k are discontinuous: scores that differ by rounding swap places, and the last detection
of a list may be another. So the order does not count: each detection of the original needs one of the converted module
with the same label, a score within 1e-3 and a box within 1e-3 of the image's size; and the other way round. A detection
whose score is within 1e-3 of the lowest kept score may be missing. Writes JSON. LD_LIBRARY_PATH has to lead to
the host's libneuralnetworks.so."""

import json
import sys
import warnings

import torch
import torchvision  # noqa: F401, registers the operators

TOLERANCE = 1e-3
SAMPLES = 3


def tensors(value):
    """Returns boxes, scores and labels from the result of a traced or scripted detector."""
    if isinstance(value, tuple) and isinstance(value[0], dict):  # scripted: losses and detections
        value = value[1][0]
    values = list(value.values()) if isinstance(value, dict) else list(value)
    boxes = next(tensor for tensor in values if tensor.dim() == 2 and tensor.shape[1] == 4)
    labels = next(tensor for tensor in values if tensor.dim() == 1 and not tensor.is_floating_point())
    scores = next(tensor for tensor in values if tensor.dim() == 1 and tensor.is_floating_point())
    return boxes, scores, labels


def unmatched(one, other, size):
    """Returns how many detections of `one` have no match in `other`, and the largest distances of the matches."""
    missing, of_scores, of_boxes = 0, 0.0, 0.0
    least = min([scores.min().item() for _, scores, _ in (one, other) if len(scores)], default=0.0)
    for box, score, label in zip(*one):
        scores = (other[1] - score).abs()
        boxes = (other[0] - box).abs().amax(1) / size
        is_like = (other[2] == label) & (scores <= TOLERANCE) & (boxes <= TOLERANCE)
        if is_like.any():
            best = torch.where(is_like, boxes + scores, torch.inf).argmin()
            of_scores, of_boxes = max(of_scores, scores[best].item()), max(of_boxes, boxes[best].item())
        elif score.item() > least + TOLERANCE:
            missing += 1
    return missing, of_scores, of_boxes


def main():
    model, out, shape = sys.argv[1:]
    sizes = [int(size) for size in shape.split(",")]
    torch.set_num_threads(1)
    warnings.filterwarnings("ignore")
    original, converted = torch.jit.load(model).eval(), torch.jit.load(out).eval()
    result = {"detections": 0, "missing": 0, "score_error": 0.0, "box_error": 0.0}
    for seed in range(SAMPLES):
        image = torch.randn(sizes, generator=torch.Generator().manual_seed(seed))
        image = (torch.nn.functional.avg_pool2d(image, 5, 1, 2) * 2 + 0.2 * image).sigmoid()
        argument = image if "traced" in model else [image[0]]
        with torch.no_grad():
            expected, found = tensors(original(argument)), tensors(converted(argument))
        result["detections"] += len(expected[1])
        for one, other in ((expected, found), (found, expected)):
            missing, of_scores, of_boxes = unmatched(one, other, max(sizes))
            result["missing"] += missing
            result["score_error"] = max(result["score_error"], of_scores)
            result["box_error"] = max(result["box_error"], of_boxes)
    result["passed"] = result["missing"] == 0 and result["detections"] > 0
    print(json.dumps(result))


if __name__ == "__main__":
    main()
