"""Rules that convert TorchScript models to NNAPI: nnapi_model() and nnapi_model_zoo()."""

NnapiModelInfo = provider(
    "A converted model.",
    fields = {
        "module": "the TorchScript file that runs on NNAPI",
        "report": "JSON by schemas/report.schema.json",
        "litert": "the file for LiteRT; None without litert = True",
    },
)

_QUANT = ["auto", "none", "core", "full", "nnapi"]

def _nnapi_model_impl(ctx):
    module = ctx.actions.declare_file("{}.{}".format(ctx.label.name, ctx.attr.extension))
    report = ctx.actions.declare_file(ctx.label.name + ".report.json")
    arguments = ctx.actions.args()
    arguments.add(ctx.file.model)
    arguments.add("--output", module)
    arguments.add("--report", report)
    litert = ctx.actions.declare_file(ctx.label.name + ".tflite") if ctx.attr.litert else None
    if litert:
        arguments.add("--litert", litert)
    arguments.add_all(ctx.attr.inputs, before_each = "--input")
    if ctx.attr.nhwc:
        arguments.add("--nhwc")
    arguments.add("--quant", ctx.attr.quant)
    if ctx.attr.verify:
        arguments.add("--verify")
    arguments.add_all(ctx.attr.options)
    modules = [module] + ([litert] if litert else [])
    results = modules + [report]
    ctx.actions.run(
        executable = ctx.executable.converter,
        arguments = [arguments],
        inputs = [ctx.file.model] + ctx.files.data,
        tools = ctx.files.runtime,
        outputs = results,
        # Nothing of the caller's environment: the same bytes, whoever builds.
        env = {"OMP_NUM_THREADS": "1"},
        mnemonic = "NnapiConvert",
        progress_message = "Converting {} to NNAPI".format(ctx.file.model.short_path),
    )
    return [
        DefaultInfo(files = depset(results), runfiles = ctx.runfiles(files = modules)),
        NnapiModelInfo(module = module, report = report, litert = litert),
        OutputGroupInfo(
            module = depset([module]),
            report = depset([report]),
            litert = depset([litert] if litert else []),
        ),
    ]

nnapi_model = rule(
    implementation = _nnapi_model_impl,
    doc = "Converts one model: NAME.pt and NAME.report.json, and NAME.tflite where asked for.",
    attrs = {
        "model": attr.label(mandatory = True, allow_single_file = [".pt", ".pth", ".ptl", ".pt2"], doc = "TorchScript file, or exported program"),
        "inputs": attr.string_list(doc = "shapes of the arguments of forward, as --input has them"),
        "nhwc": attr.bool(doc = "run convolutions as NHWC, and hand 4-D inputs to NNAPI as NHWC"),
        "quant": attr.string(default = "auto", values = _QUANT, doc = "interface of a quantised model"),
        "verify": attr.bool(doc = "run original and result on the build machine and compare"),
        "litert": attr.bool(doc = "also write the model for LiteRT"),
        "options": attr.string_list(doc = "further options of nnapi-convert"),
        "data": attr.label_list(allow_files = True, doc = "files that options name"),
        "extension": attr.string(default = "pt", values = ["pt", "ptl"]),
        "converter": attr.label(
            default = "@nnapi_convert//:bin/nnapi-convert",
            allow_single_file = True,
            executable = True,
            cfg = "exec",
        ),
        "runtime": attr.label(default = "@nnapi_convert//:runtime", cfg = "exec", doc = "the library that converts, and the host's NNAPI for verify"),
    },
)

def nnapi_model_zoo(name, models, options_of = {}, visibility = None, **common):
    """An nnapi_model for each of many files, and a filegroup of them all.

    Args:
      name: of the filegroup; a model's target is NAME_STEM
      models: files, for example glob(["models/*.pt"])
      options_of: dictionaries of attributes by file, which go before the common ones
      visibility: of all targets
      **common: attributes of every nnapi_model
    """
    targets = []
    for model in models:
        stem = model.rpartition("/")[2].rpartition(":")[2].rpartition(".")[0]
        target = "{}_{}".format(name, stem)
        attributes = dict(common)
        attributes.update(options_of.get(model, {}))
        nnapi_model(name = target, model = model, visibility = visibility, **attributes)
        targets.append(":" + target)
    native.filegroup(name = name, srcs = targets, visibility = visibility)
