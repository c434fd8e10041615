#!/usr/bin/python3
"""remainder.py FOLDER [--only NAME] [--runs 9]: what a detector costs beside NNAPI: in libnnapi_shim without PyTorch, and in
TorchScript with libnnapi_shim_torch, of the same file in the same run.

FOLDER holds what `make_models.py FOLDER --group zoo_detection` wrote. Prints for each model the milliseconds of a call
outside of NNAPI (median), the time to load the file in times of its segments alone, the peak memory of both processes,
and the ratios. Both sides use one thread and the host's NNAPI. Times are of the wall clock, less what NNAPI's own
executions took: the machine has to be idle."""

import argparse
import ctypes
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))


class Profile(ctypes.Structure):
    """The head of nnapi_shim_profile."""
    _fields_ = [(name, ctypes.c_uint64) for name in ("build", "compile", "executions", "last", "total")] + [
        ("others", ctypes.c_uint8 * 1024)]


def peak_megabytes():
    for line in pathlib.Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    return 0


def torch_side(build, file, name, pictures):
    import torch
    import torchvision  # noqa: F401, registers the operators
    from shim_zoo import nested
    torch.set_num_threads(1)
    torch.ops.load_library(str(build / "lib/libnnapi_shim_torch.so"))
    module = torch.jit.load(str(file))
    segments = [each for each in module.modules() if hasattr(each, "nnapi_profile")]

    def nnapi_seconds():
        return sum(each.nnapi_profile()["total_execute_ns"] for each in segments) / 1e9

    def call(picture):
        with torch.inference_mode():
            module(*nested({name: torch.from_numpy(picture)}))

    return call, nnapi_seconds


def shim_side(build, file, name, pictures):
    from shim_call import ShimModel
    model = ShimModel(str(build / "lib/libnnapi_shim.so"), str(file))

    def nnapi_seconds():
        profile = Profile()
        model.library.nnapi_shim_get_profile(model.handle, ctypes.byref(profile))
        return profile.total / 1e9

    return lambda picture: model.call("forward", {name: picture}), nnapi_seconds


def measure(side, build, file, name, pictures, runs):
    """Runs in a process of its own."""
    import numpy
    stored = numpy.load(pictures)
    call, nnapi_seconds = (torch_side if side == "torch" else shim_side)(build, file, name, pictures)
    for picture in stored:  # compiles, and allocates what later calls use again
        call(picture)
    times = []
    for _ in range(runs):
        for picture in stored:
            before, begin = nnapi_seconds(), time.perf_counter()
            call(picture)
            times.append(time.perf_counter() - begin - (nnapi_seconds() - before))
    print(json.dumps({"milliseconds": 1e3 * statistics.median(times), "megabytes": peak_megabytes()}))


def run(command, build):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          env={"LD_LIBRARY_PATH": str(build / "lib/host"), "PATH": "/usr/bin:/bin", "OMP_NUM_THREADS": "1"})
    if done.returncode != 0:
        raise RuntimeError((done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1])
    return done.stdout


def compare(model, specs, arguments, work):
    import numpy
    from shim_zoo import image
    from zoo_parts import library_options
    (name, sizes), = specs
    out, pictures = work / "out.pt", work / "pictures.npy"
    run([arguments.build / "bin/nnapi-convert", model, "--nhwc", "--runtime", "shim", "--input",
         f"{name}={','.join(map(str, sizes))}", "-o", out, *library_options("detection")], arguments.build)
    numpy.save(pictures, numpy.stack([image(sizes, seed).numpy() for seed in range(3)]))
    sides = {side: json.loads(run([sys.executable, __file__, "--side", side, out, name, pictures, "--runs",
                                   arguments.runs, "--build", arguments.build], arguments.build))
             for side in ("torch", "shim")}
    load = json.loads(run([arguments.build / "bin/shim_load_time", out, arguments.runs], arguments.build))
    torch_side_, shim = sides["torch"], sides["shim"]
    return (f"| {model.stem} | {shim['milliseconds']:.2f} | {torch_side_['milliseconds']:.2f} | "
            f"{shim['milliseconds'] / torch_side_['milliseconds']:.2f} | {load['file_us'] / load['segments_us']:.2f} | "
            f"{shim['megabytes']:.0f} | {torch_side_['megabytes']:.0f} | "
            f"{shim['megabytes'] / torch_side_['megabytes']:.2f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, help="of models; with --side, a converted file")
    parser.add_argument("rest", nargs="*", help=argparse.SUPPRESS)
    parser.add_argument("--only", default="", help="models whose name has this text")
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release")
    parser.add_argument("--side", choices=("torch", "shim"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    arguments.build = arguments.build.resolve()
    if arguments.side:
        return measure(arguments.side, arguments.build, arguments.folder, *arguments.rest, arguments.runs)
    from shim_zoo import named_models
    print("| model | shim, ms | TorchScript, ms | ratio | load, of segments alone | shim, MB | TorchScript, MB | ratio |\n"
          "|---|---|---|---|---|---|---|---|")
    for model, specs in named_models(arguments.folder).items():
        if arguments.only not in model.name or len(specs) != 1:
            continue
        with tempfile.TemporaryDirectory() as work:
            print(compare(model, specs, arguments, pathlib.Path(work)), flush=True)
    return None


if __name__ == "__main__":
    main()
