"""The converter as a repository: an installation of nnapi-convert, by Debian's package or `cmake --install`."""

_BUILD = """
package(default_visibility = ["//visibility:public"])

filegroup(
    name = "runtime",
    srcs = glob(["lib/**/*.so"]),
)

exports_files(["bin/nnapi-convert"])
"""

def _nnapi_convert_repository_impl(repository_ctx):
    prefix = repository_ctx.path(repository_ctx.attr.prefix)
    program = prefix.get_child("bin").get_child("nnapi-convert")
    if not program.exists:
        fail("nnapi_convert_repository: no {}; install nnapi-convert, or set prefix".format(program))

    # What decides the results is the program, its library that converts and the host's NNAPI: all are inputs of each
    # action, by content.
    repository_ctx.symlink(program, "bin/nnapi-convert")
    for folder in ["lib", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu"]:
        for name in ["libnnapi_convert_engine.so", "libneuralnetworks.so"]:
            library = repository_ctx.path("{}/{}/nnapi-convert/{}".format(prefix, folder, name))
            if library.exists:
                repository_ctx.symlink(library, "{}/nnapi-convert/{}".format(folder, name))
    repository_ctx.file("BUILD.bazel", _BUILD)

nnapi_convert_repository = repository_rule(
    implementation = _nnapi_convert_repository_impl,
    attrs = {"prefix": attr.string(default = "/usr", doc = "where bin/nnapi-convert is")},
    local = True,
    doc = "Makes @NAME//:bin/nnapi-convert of an installation. LibTorch is the system's, as a C library is: machines that " +
          "share a cache need the same package of it.",
)
