// SPDX-License-Identifier: BSD-3-Clause
/* app MODEL INPUT OUTPUT SIZE...: runs a model of one input and one output, both raw files, by the shim's C interface.
 * The sizes are those of the argument, in PyTorch's order. */
#include <nnapi_shim.h>
#include <stdio.h>
#include <stdlib.h>

static nnapi_shim_error error;

static int fail(const char* what) {
  fprintf(stderr, "app: %s: %s\n", what, error.message);
  return 1;
}

static int read_file(const char* path, void* data, size_t bytes) {
  FILE* file = fopen(path, "rb");
  const int is_read = file != NULL && fread(data, 1, bytes, file) == bytes && fgetc(file) == EOF;
  if (file != NULL) fclose(file);
  return is_read;
}

static int write_file(const char* path, const void* data, size_t bytes) {
  FILE* file = fopen(path, "wb");
  return file != NULL && fwrite(data, 1, bytes, file) == bytes && fclose(file) == 0;
}

int main(int argc, char** argv) {
  nnapi_shim_model* model = NULL;
  nnapi_shim_tensor in, out;
  int64_t sizes[8];
  nnapi_shim_shape shape = {0, sizes};
  if (argc < 5 || argc > 12) return 2;
  for (int i = 4; i < argc; ++i) sizes[shape.rank++] = atoll(argv[i]);
  if (nnapi_shim_open_file(argv[1], &model, &error) != NNAPI_SHIM_OK) return fail("open");
  if (nnapi_shim_input(model, &shape, 1, 0, &in, &error) != NNAPI_SHIM_OK) return fail("input");
  if (nnapi_shim_output(model, &shape, 1, 0, &out, &error) != NNAPI_SHIM_OK) return fail("output");
  const nnapi_shim_buffer input = {malloc(in.bytes), in.bytes}, output = {malloc(out.bytes), out.bytes};
  if (!read_file(argv[2], input.data, input.bytes)) return fail("the input's file has another size");
  if (nnapi_shim_run(model, &shape, 1, &input, 1, &output, 1, &error) != NNAPI_SHIM_OK) return fail("run");
  if (!write_file(argv[3], output.data, output.bytes)) return fail("the output's file");
  nnapi_shim_close(model);
  free(input.data);
  free(output.data);
  return 0;
}
