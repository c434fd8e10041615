#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes torchvision's networks, torchaudio's models and small transformers as PyTorch 2 saves them: traced, scripted
and exported (.pt2), each with inputs and PyTorch 2's results. pytorch2_sweep.py converts them.

Run with PyTorch 2 and the libraries of the groups:
    make_pytorch2.py FOLDER --group vision --only resnet18 mobilenet_v2
"""

import argparse
import importlib
import pathlib
import sys

GROUPS = {"vision": "vision", "audio": "audio", "transformers": "families"}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--group", choices=GROUPS, required=True)
    parser.add_argument("--only", nargs="*", metavar="NAME", help="these networks")
    parser.add_argument("--list", action="store_true", help="print their names and stop")
    parser.add_argument("--most-parameters", type=float, default=1e8, help="leave out larger networks")
    arguments = parser.parse_args()
    networks = list(importlib.import_module(f"pytorch2.{GROUPS[arguments.group]}").networks())
    if arguments.list:
        print("\n".join(network.name for network in networks))
        return 0
    missing = set(arguments.only or ()) - {network.name for network in networks}
    if missing:
        parser.error(f"unknown network: {', '.join(sorted(missing))}; see --list")
    chosen = [network for network in networks if arguments.only is None or network.name in arguments.only]
    from pytorch2 import writer

    return 1 if writer.write_all(chosen, arguments.folder, arguments.most_parameters) else 0


if __name__ == "__main__":
    sys.exit(main())
