#!/usr/bin/python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the models that tests, demo and benchmark convert. Needs PyTorch and torchvision, and no network."""

import argparse
import concurrent.futures
import importlib.abc
import importlib.machinery
import os
import pathlib
import sys
import warnings

ROOT = pathlib.Path(__file__).resolve().parents[2]
GROUPS = ("tests", "demo", "bench", "fixtures", "zoo", "zoo_quantised", "zoo_video", "zoo_detection", "zoo_flow")


class RelativeSources(importlib.abc.MetaPathFinder, importlib.machinery.SourceFileLoader):
    """Loads the model package under paths relative to the repository: traces keep the paths of the code that made
    them, so that the same files come out of every checkout."""

    def __init__(self, name="", path=""):
        super().__init__(name, path)

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] != "models":
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is not None:
            spec.loader = RelativeSources(name, spec.loader.path)
        return spec

    def get_code(self, name):
        relative = os.path.relpath(self.path, ROOT)
        return compile(self.get_data(self.path), relative, "exec")


def recipes(group: str):
    sys.path.insert(0, str(ROOT / "scripts"))
    sys.meta_path.insert(0, RelativeSources())
    from models import detection_zoo, fixtures, quantised_zoo, torchvision_zoo, video_zoo, zoo

    groups = {
        "tests": zoo.test_recipes,
        "demo": zoo.demo_recipes,
        "bench": zoo.bench_recipes,
        "fixtures": fixtures.fixture_recipes,
        "zoo": torchvision_zoo.zoo_recipes,
        "zoo_quantised": quantised_zoo.quantised_zoo_recipes,
        "zoo_video": video_zoo.video_zoo_recipes,
        "zoo_detection": detection_zoo.detection_zoo_recipes,
        "zoo_flow": video_zoo.flow_zoo_recipes,
    }
    return groups[group]()


def newest_source() -> float:
    sources = [pathlib.Path(__file__), *(ROOT / "scripts" / "models").glob("*.py")]
    return max(source.stat().st_mtime for source in sources)


def up_to_date(recipe, out_dir: pathlib.Path) -> bool:
    paths = [out_dir / file for file in recipe.files]
    return all(path.exists() and path.stat().st_mtime > newest_source() for path in paths)


def write_all(stale, out_dir: pathlib.Path) -> None:
    """Runs in a thread of its own: a trace records the whole Python stack, so it lacks this script's absolute path."""
    import torch
    from models import common

    torch.set_num_threads(1)  # OMP_NUM_THREADS leaves QNNPACK its threads, which wait in busy loops
    with concurrent.futures.ThreadPoolExecutor(max_workers=1) as pool:
        for recipe in stale:
            pool.submit(common.write, recipe, out_dir).result()


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out_dir", nargs="?", type=pathlib.Path, help="folder to write to")
    parser.add_argument("--group", choices=GROUPS, default="tests")
    parser.add_argument("--only", nargs="+", metavar="NAME", help="make these only")
    parser.add_argument("--force", action="store_true", help="make files anew that are up to date")
    parser.add_argument("--list", action="store_true", help="list the group's models and stop")
    arguments = parser.parse_args()
    if not arguments.list and arguments.out_dir is None:
        parser.error("OUT_DIR is missing")
    return arguments


def select(known, names):
    if names is None:
        return known
    missing = set(names) - {recipe.name for recipe in known}
    if missing:
        raise SystemExit(f"unknown model: {', '.join(sorted(missing))}; see --list")
    return [recipe for recipe in known if recipe.name in names]


def fix_environment() -> None:
    """Starts over with one thread and a fixed hash seed: both decide what is written, and only a new process takes
    the seed."""
    wanted = {"PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"}
    if any(os.environ.get(name) != value for name, value in wanted.items()):
        os.execve(sys.executable, [sys.executable, *sys.argv], {**os.environ, **wanted})


def main() -> None:
    fix_environment()
    arguments = parse_arguments()
    out_dir = arguments.out_dir and arguments.out_dir.resolve()
    os.chdir(ROOT)
    warnings.filterwarnings("ignore", module="torch")
    chosen = select(recipes(arguments.group), arguments.only)
    if arguments.list:
        for recipe in chosen:
            print(f"{recipe.name:22} {recipe.about}\n{'':22} {', '.join(recipe.files)}")
        return
    out_dir.mkdir(parents=True, exist_ok=True)
    stale = [recipe for recipe in chosen if arguments.force or not up_to_date(recipe, out_dir)]
    write_all(stale, out_dir)


if __name__ == "__main__":
    main()
