// SPDX-License-Identifier: BSD-3-Clause
/* nnapi_shim: runs models that nnapi-convert wrote with --runtime shim on Android's Neural Networks API (NNAPI),
 * without PyTorch.
 *
 * A model is a buffer of 32-bit words and its weights; both lie in the archive (.pt, .ptl) that nnapi-convert writes.
 * An archive may be a package of several models of one network: then each warm-up and run uses the one that suits this
 * phone, and all of them have the same inputs and outputs. It may hold a program of steps outside of NNAPI, too: then
 * nnapi_shim_call runs the model.
 *
 * Sizes are in bytes unless a comment says otherwise. Every function that can fail returns an nnapi_shim_status. If
 * `error` is not NULL, the function writes one sentence for people into it. No function ends the process or throws.
 *
 * Threads: several threads may call functions on one model at the same time, except nnapi_shim_close.
 * Call nnapi_shim_configure before the first nnapi_shim_warm_up, nnapi_shim_run or nnapi_shim_visit_operations. */
#ifndef NNAPI_SHIM_H_
#define NNAPI_SHIM_H_

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define NNAPI_SHIM_API __attribute__((visibility("default")))
#else
#define NNAPI_SHIM_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* NOLINTBEGIN(modernize-use-using): this is C. */

typedef enum {
  NNAPI_SHIM_OK = 0,
  NNAPI_SHIM_BAD_MODEL = 1,    /* the buffer or archive is damaged, or of a version that this library does not know */
  NNAPI_SHIM_BAD_ARGUMENT = 2, /* the caller passed a wrong shape, size or option */
  NNAPI_SHIM_UNAVAILABLE = 3,  /* this phone has no NNAPI, or its NNAPI lacks functions that every model needs */
  NNAPI_SHIM_TOO_OLD = 4,      /* NNAPI's feature level (version) is below what the model or an option needs */
  NNAPI_SHIM_NO_DEVICE = 5,    /* no NNAPI device matches the options */
  NNAPI_SHIM_REFUSED = 6,      /* NNAPI or the driver refuses to build or compile the model */
  NNAPI_SHIM_FAILED = 7,       /* the execution failed */
  NNAPI_SHIM_TIMED_OUT = 8     /* compilation or execution took longer than the options allow */
} nnapi_shim_status;

#define NNAPI_SHIM_MESSAGE_BYTES 512

typedef struct {
  int32_t status;     /* an nnapi_shim_status */
  int32_t nnapi_code; /* NNAPI's result code (ANEURALNETWORKS_*), or 0 */
  char message[NNAPI_SHIM_MESSAGE_BYTES];
} nnapi_shim_error;

typedef struct nnapi_shim_model nnapi_shim_model;

/* The sizes of one argument of the module's forward, in PyTorch's order (NCHW for images). */
typedef struct {
  uint32_t rank;
  const int64_t* sizes;
} nnapi_shim_shape;

/* An input or output tensor in NNAPI's form: the caller's buffers hold tensors of this form. */
typedef struct {
  int32_t type; /* ANEURALNETWORKS_TENSOR_* */
  uint32_t rank;
  uint32_t sizes[8]; /* in NNAPI's order: NHWC if is_nhwc is 1 */
  float scale;       /* for quantised types */
  int32_t zero_point;
  size_t bytes;
  uint32_t argument; /* for an input: the index of forward's argument */
  uint32_t is_nhwc;  /* 1: NHWC here, NCHW for callers of the TorchScript module; 0: the same order for both */
} nnapi_shim_tensor;

typedef struct {
  void* data;
  size_t bytes;
} nnapi_shim_buffer;

typedef enum {
  NNAPI_SHIM_ANY_DEVICE = 0, /* NNAPI chooses */
  NNAPI_SHIM_GPU = 1,
  NNAPI_SHIM_ACCELERATOR = 2,
  NNAPI_SHIM_CPU = 3,              /* a driver's CPU device, or NNAPI's own */
  NNAPI_SHIM_NOT_REFERENCE_CPU = 4 /* all devices but NNAPI's own CPU, nnapi-reference */
} nnapi_shim_device_kind;

/* Options of a model. A struct filled with zeros, except `struct_bytes`, holds the defaults.
 *
 * If the chosen devices do not support all operations of the model, the library refuses the model and names those
 * operations. Exception: if device_kind is GPU, accelerator or CPU and its devices support some of the operations,
 * NNAPI's own CPU runs the others; timeouts and timing rule this out, as they need exactly one device. If NNAPI lacks
 * an option that only saves time (priority, cache, bursts, reuse), the library ignores the option. If NNAPI lacks an
 * option that chooses a device, limits or measures, the library answers NNAPI_SHIM_TOO_OLD.
 *
 * Drivers that are known to be wrong: the library contains rules about devices and operations, and uses no device that
 * a rule keeps away from the model. `driver_rules` or `driver_rules_file` replaces the rules
 * (schemas/driver_rules.schema.json, at most 65,536 bytes); {"version": 1, "rules": []} switches them off. */
typedef struct {
  size_t struct_bytes;         /* sizeof(nnapi_shim_options): lets the struct grow */
  const char* library;         /* path of the NNAPI library; NULL: libneuralnetworks.so */
  int32_t is_support_library;  /* 1: `library` is an NNAPI support library, drivers shipped with the app */
  const char* device;          /* the name of the one device to use; NULL: device_kind chooses */
  int32_t device_kind;         /* an nnapi_shim_device_kind */
  int32_t preference;          /* 0: the model's own; else 1 + ANEURALNETWORKS_PREFER_* */
  int32_t priority;            /* 0: NNAPI's default; else ANEURALNETWORKS_PRIORITY_* */
  uint64_t compile_timeout_ns; /* 0: none. Timeouts and timing need exactly one device */
  uint64_t execute_timeout_ns;
  uint64_t loop_timeout_ns;      /* for each WHILE operation; 0: NNAPI's default */
  int32_t measure_timing;        /* 1: ask the driver for the device's time */
  const char* cache_directory;   /* where drivers keep compiled models, and this library its verdicts; NULL: nowhere */
  uint32_t max_compiled;         /* the number of shapes that stay compiled; 0: 4 */
  int32_t no_burst, no_reuse;    /* 1: use no bursts, reuse no executions, even if NNAPI can */
  int32_t no_self_check;         /* 1: don't run the samples of the file before a device is trusted */
  uint32_t variant;              /* for a package: the number of the model to use, from 1 on; 0: the library chooses */
  const char* driver_rules;      /* JSON of the drivers known to be wrong, in place of the library's own rules */
  const char* driver_rules_file; /* path of such JSON, in place of `driver_rules` */
  int32_t measure_models;        /* for a package; 1: run all models that suit this phone, and use the fastest */
} nnapi_shim_options;

/* Measurements of a model. Times are in nanoseconds; 0 means not measured. */
typedef struct {
  uint64_t build_ns;   /* building NNAPI's model for the newest compiled shape */
  uint64_t compile_ns; /* compiling the model for the newest compiled shape */
  uint64_t executions;
  uint64_t last_execute_ns, total_execute_ns;
  uint64_t last_on_device_ns, last_in_driver_ns; /* with measure_timing */
  uint32_t compiled;                             /* shapes compiled so far, including dropped ones */
  uint32_t feature_level;                        /* NNAPI's level on this phone; 0: NNAPI is not loaded yet */
  uint64_t weight_bytes;
  uint32_t weights_are_mapped; /* 1: NNAPI maps the newest compiled shape's weights from the file */
  char devices[256];           /* the device names, separated by ", "; empty: NNAPI chooses */
  uint64_t check_ns;           /* running the samples of the file on the device of the newest compiled shape */
  uint32_t checked_samples;    /* the number of samples that ran then */
} nnapi_shim_profile;

/* Opens a model from a buffer of `word_count` words and its weights. The function copies the words. The weights have
 * to stay in place until nnapi_shim_close. */
NNAPI_SHIM_API int nnapi_shim_open_memory(const void* words, size_t word_count, const void* weights,
                                          size_t weight_bytes, nnapi_shim_model** model, nnapi_shim_error* error);
/* Opens an archive that nnapi-convert wrote. Maps the weights and hands them to NNAPI by file descriptor. */
NNAPI_SHIM_API int nnapi_shim_open_file(const char* path, nnapi_shim_model** model, nnapi_shim_error* error);
/* Opens an archive within an open file, such as an app's asset: it begins at `offset` and has `bytes` bytes;
 * UINT64_MAX: up to the file's end. The asset has to be stored uncompressed. The function duplicates `fd`. */
NNAPI_SHIM_API int nnapi_shim_open_descriptor(int fd, uint64_t offset, uint64_t bytes, nnapi_shim_model** model,
                                              nnapi_shim_error* error);
/* Opens an archive in memory, such as a decrypted one, which has to stay in place until nnapi_shim_close. */
NNAPI_SHIM_API int nnapi_shim_open_archive(const void* archive, size_t bytes, nnapi_shim_model** model,
                                           nnapi_shim_error* error);
/* Reads `bytes` bytes of an archive, from `offset` on, into `destination`. Returns 0, or another number if it can't. */
typedef int (*nnapi_shim_reader)(void* context, uint64_t offset, void* destination, size_t bytes);
/* Opens an archive of `bytes` bytes that `reader` reads, for example by decrypting it. Calls `reader` in this thread,
 * for one part after the other from the begin to the end, each of at most 1 MiB, and not after this function has
 * returned. The weights stay in memory of this process alone. */
NNAPI_SHIM_API int nnapi_shim_open_reader(nnapi_shim_reader reader, void* context, uint64_t bytes,
                                          nnapi_shim_model** model, nnapi_shim_error* error);
NNAPI_SHIM_API void nnapi_shim_close(nnapi_shim_model* model);

NNAPI_SHIM_API int nnapi_shim_configure(nnapi_shim_model* model, const nnapi_shim_options* options,
                                        nnapi_shim_error* error);

NNAPI_SHIM_API uint32_t nnapi_shim_argument_count(const nnapi_shim_model* model);
NNAPI_SHIM_API uint32_t nnapi_shim_input_count(const nnapi_shim_model* model);
NNAPI_SHIM_API uint32_t nnapi_shim_output_count(const nnapi_shim_model* model);
NNAPI_SHIM_API uint32_t nnapi_shim_feature_level(const nnapi_shim_model* model); /* the lowest that can run it */

#define NNAPI_SHIM_MOST_AXES 8
/* Tells the rank and the sizes of the argument with number `index`, in PyTorch's order; a flexible size is 0. */
NNAPI_SHIM_API int nnapi_shim_argument(const nnapi_shim_model* model, uint32_t index, uint32_t* rank,
                                       int64_t sizes[NNAPI_SHIM_MOST_AXES], nnapi_shim_error* error);

/* Describe the input or output with number `index` for arguments of these shapes. These functions need no NNAPI. */
NNAPI_SHIM_API int nnapi_shim_input(nnapi_shim_model* model, const nnapi_shim_shape* arguments, uint32_t argument_count,
                                    uint32_t index, nnapi_shim_tensor* tensor, nnapi_shim_error* error);
NNAPI_SHIM_API int nnapi_shim_output(nnapi_shim_model* model, const nnapi_shim_shape* arguments,
                                     uint32_t argument_count, uint32_t index, nnapi_shim_tensor* tensor,
                                     nnapi_shim_error* error);

/* Builds and compiles the model for arguments of these shapes, ahead of the first run. A model that runs NNAPI between
 * steps of its own takes no shapes (NULL, 0): its parts for NNAPI with fixed sizes are compiled then, the others at the
 * first nnapi_shim_call with their sizes. */
NNAPI_SHIM_API int nnapi_shim_warm_up(nnapi_shim_model* model, const nnapi_shim_shape* arguments,
                                      uint32_t argument_count, nnapi_shim_error* error);
/* Runs the model. Compiles it first if it is not compiled for these shapes. Each buffer has exactly the bytes that
 * nnapi_shim_input or nnapi_shim_output returns. Callers that keep their buffers run faster: the library reuses an
 * execution whose buffers have the same addresses. The library remembers a lasting refusal for these shapes and returns
 * it at once in later calls; a lack of memory, a timeout or a dead driver is not lasting. */
NNAPI_SHIM_API int nnapi_shim_run(nnapi_shim_model* model, const nnapi_shim_shape* arguments, uint32_t argument_count,
                                  const nnapi_shim_buffer* inputs, uint32_t input_count,
                                  const nnapi_shim_buffer* outputs, uint32_t output_count, nnapi_shim_error* error);

/* Calls by name: arguments and results are in PyTorch's order and named by paths. Models with steps outside of NNAPI,
 * whose files hold a program for these steps, have to be called this way; all others can be. */

/* Dtypes, with the numbers of PyTorch's ScalarType. */
typedef enum {
  NNAPI_SHIM_UINT8 = 0,
  NNAPI_SHIM_INT8 = 1,
  NNAPI_SHIM_INT16 = 2,
  NNAPI_SHIM_INT32 = 3,
  NNAPI_SHIM_INT64 = 4,
  NNAPI_SHIM_FLOAT16 = 5,
  NNAPI_SHIM_FLOAT32 = 6,
  NNAPI_SHIM_FLOAT64 = 7,
  NNAPI_SHIM_BOOL = 11
} nnapi_shim_dtype;

/* A tensor within the arguments or the result of a call. Numbers are tensors of rank 0, texts tensors of uint8 of
 * rank 1.
 *
 * The path of an argument begins with its name; an element of a list or tuple has its number in brackets, the field of
 * a NamedTuple its name behind a dot, the value of a dict its key in either form: `x`, `images[0]`, `state.hidden`,
 * `batch["image"]`. A list is as long as its elements that are given. An argument that is not given takes its default;
 * an Optional is None. Files without a program hold no names: their arguments are `0`, `1` and so on.
 *
 * The path of a result is written in the same way, without a name: "" for a single tensor, `[0]` for the first one of a
 * tuple or list, `boxes` or `[0].scores` for keys that are names, `["a b"]` for others. None is left out. */
typedef struct {
  const char* path;
  int32_t dtype; /* an nnapi_shim_dtype */
  uint32_t rank;
  const int64_t* sizes;
  const void* data; /* row-major */
  size_t bytes;
} nnapi_shim_named_tensor;

/* Holds the result of a call. Its memory serves the next call, so that calls whose sizes repeat need no new memory. For
 * one thread at a time. nnapi_shim_result_new returns NULL if memory is short. */
typedef struct nnapi_shim_result nnapi_shim_result;
NNAPI_SHIM_API nnapi_shim_result* nnapi_shim_result_new(void);
NNAPI_SHIM_API void nnapi_shim_result_free(nnapi_shim_result* result);

/* The methods that can be called; files without a program have only `forward`. nnapi_shim_method_name returns NULL for
 * a number that no method has. */
NNAPI_SHIM_API uint32_t nnapi_shim_method_count(const nnapi_shim_model* model);
NNAPI_SHIM_API const char* nnapi_shim_method_name(const nnapi_shim_model* model, uint32_t index);

/* Runs a method; NULL: forward. Compiles NNAPI's models first that are not compiled for the shapes of this call, so
 * that the first call warms up. The call only reads its tensors, and does not use them after it has returned. `result`
 * may be NULL; a call that fails leaves it empty. Several threads may call at the same time, each with a result of its
 * own; the calls of a model that keeps state from call to call wait for each other. */
NNAPI_SHIM_API int nnapi_shim_call(nnapi_shim_model* model, const char* method,
                                   const nnapi_shim_named_tensor* arguments, uint32_t argument_count,
                                   nnapi_shim_result* result, nnapi_shim_error* error);

/* The tensors of the newest call's result, in the order of the values. They stay until the next call with this result,
 * or until nnapi_shim_result_free. nnapi_shim_result_find takes a path in any form; it returns NNAPI_SHIM_BAD_ARGUMENT
 * if there is no such tensor. */
NNAPI_SHIM_API uint32_t nnapi_shim_result_count(const nnapi_shim_result* result);
NNAPI_SHIM_API int nnapi_shim_result_tensor(const nnapi_shim_result* result, uint32_t index,
                                            nnapi_shim_named_tensor* tensor, nnapi_shim_error* error);
NNAPI_SHIM_API int nnapi_shim_result_find(const nnapi_shim_result* result, const char* path,
                                          nnapi_shim_named_tensor* tensor, nnapi_shim_error* error);

/* Pictures. A file that was made with --mean and --std, by --calibrate on pictures or with --input-pixels tells how
 * pictures become the model's input. These functions prepare pictures as the converter does, with the same bytes as the
 * result. Several threads may call them at once. */

typedef enum {
  NNAPI_SHIM_RGB = 0,    /* one plane, 3 bytes a pixel */
  NNAPI_SHIM_RGBA = 1,   /* one plane, 4 bytes a pixel, the last of which is unused: Android's bitmaps */
  NNAPI_SHIM_YUV_420 = 2 /* three planes, brightness, blue and red difference, the latter of half the width and height,
                          * rounded up: Android's YUV_420_888; NV21 with two bytes from pixel to pixel. Full range
                          * BT.601, as JPEG */
} nnapi_shim_pixels;

/* A picture in memory. A struct filled with zeros, except `struct_bytes`, holds the defaults. First the rectangle is
 * cut out, in the picture's own pixels; then it is turned clockwise by `rotation`, 0, 90, 180 or 270, which cameras
 * give to bring their picture upright; then left and right are swapped. The result is then prepared as the file
 * tells. */
typedef struct {
  size_t struct_bytes; /* sizeof(nnapi_shim_picture) */
  int32_t pixels;      /* an nnapi_shim_pixels */
  uint32_t width, height;
  const void* planes[3];
  size_t plane_bytes[3];                             /* the bytes that may be read from `planes` */
  size_t row_bytes[3], pixel_bytes[3];               /* steps from row to row and pixel to pixel; 0: without a gap */
  uint32_t cut_left, cut_top, cut_width, cut_height; /* the rectangle; zeros: the whole picture */
  int32_t rotation, is_mirrored;
} nnapi_shim_picture;

/* Describes the argument that takes a picture in a call by name (nnapi_shim_call): in PyTorch's order, without a batch
 * if its rank is 3. Free sizes are 0: the caller has to fill them in. */
NNAPI_SHIM_API int nnapi_shim_picture_tensor(const nnapi_shim_model* model, nnapi_shim_tensor* tensor,
                                             nnapi_shim_error* error);
/* Returns the path of the argument that takes a picture, for nnapi_shim_call: `x`, or `images[0]` of a list. NULL if
 * the file doesn't tell it. The text stays until nnapi_shim_close. */
NNAPI_SHIM_API const char* nnapi_shim_picture_argument(const nnapi_shim_model* model);
/* Fills an input, which nnapi_shim_input or nnapi_shim_picture_tensor described: floats, or the integers of its scale
 * and zero point. `bytes` are those of one picture. Returns NNAPI_SHIM_BAD_ARGUMENT for a picture that doesn't fit. */
NNAPI_SHIM_API int nnapi_shim_picture_fill(const nnapi_shim_model* model, const nnapi_shim_picture* picture,
                                           const nnapi_shim_tensor* tensor, void* data, size_t bytes,
                                           nnapi_shim_error* error);
/* Converts boxes in place from pixels of the input to pixels of the picture. Each is four numbers: left, top, right,
 * bottom. Boxes may reach over the picture's edge. The planes are not read. */
NNAPI_SHIM_API int nnapi_shim_picture_boxes(const nnapi_shim_model* model, const nnapi_shim_picture* picture,
                                            const nnapi_shim_tensor* tensor, float* boxes, uint32_t count,
                                            nnapi_shim_error* error);

/* The names of classes (--labels); NULL for a number that no class has. The texts stay until nnapi_shim_close. */
NNAPI_SHIM_API uint32_t nnapi_shim_label_count(const nnapi_shim_model* model);
NNAPI_SHIM_API const char* nnapi_shim_label(const nnapi_shim_model* model, uint32_t index);

typedef struct {
  uint32_t index;
  float score;
  const char* label; /* NULL if the file has no name for the class */
} nnapi_shim_score;
/* Finds the largest elements of an output of floats or 8-bit integers, which nnapi_shim_output described: at most
 * `*count`, the largest first, NaN last. Writes the number of elements found to `count`. Reads `type`, `bytes`, `scale`
 * and `zero_point` of the output. */
NNAPI_SHIM_API int nnapi_shim_top(const nnapi_shim_model* model, const nnapi_shim_tensor* output, const void* data,
                                  nnapi_shim_score* best, uint32_t* count, nnapi_shim_error* error);

/* Notes (--note KEY=VALUE); NULL for a number or a key that no note has. The texts stay until nnapi_shim_close. */
NNAPI_SHIM_API uint32_t nnapi_shim_note_count(const nnapi_shim_model* model);
NNAPI_SHIM_API const char* nnapi_shim_note_key(const nnapi_shim_model* model, uint32_t index);
NNAPI_SHIM_API const char* nnapi_shim_note(const nnapi_shim_model* model, const char* key);

/* Memory that the app shares with NNAPI's drivers: they read inputs from it and write outputs into it, without a copy
 * if the driver can. The memory is for models that use the same NNAPI library as the model with which it was made, and
 * may outlive them. */
typedef struct nnapi_shim_memory nnapi_shim_memory;
/* Shares `bytes` bytes, from `offset` on, of a descriptor that can be mapped for reading and writing: on Android one of
 * ASharedMemory (API level 26), as no rule lets drivers read an app's memfd; on hosts a memfd. The caller may close
 * `fd` afterwards. */
NNAPI_SHIM_API int nnapi_shim_share_descriptor(nnapi_shim_model* model, int fd, size_t offset, size_t bytes,
                                               nnapi_shim_memory** memory, nnapi_shim_error* error);
/* Shares an AHardwareBuffer of `bytes` bytes, of the format AHARDWAREBUFFER_FORMAT_BLOB, which has to stay until
 * nnapi_shim_memory_free. Needs feature level 3; returns NNAPI_SHIM_TOO_OLD below. */
struct AHardwareBuffer;
NNAPI_SHIM_API int nnapi_shim_share_hardware_buffer(nnapi_shim_model* model, const struct AHardwareBuffer* buffer,
                                                    size_t bytes, nnapi_shim_memory** memory, nnapi_shim_error* error);
/* Frees the memory. No run may use it any more. */
NNAPI_SHIM_API void nnapi_shim_memory_free(nnapi_shim_memory* memory);

/* The place of an input or output: `data`, or, if `memory` is not NULL, `memory` from byte `offset` on. */
typedef struct {
  void* data;
  size_t bytes;
  const nnapi_shim_memory* memory;
  size_t offset;
} nnapi_shim_place;
/* Runs the model as nnapi_shim_run does. Each tensor may be in shared memory. */
NNAPI_SHIM_API int nnapi_shim_run_shared(nnapi_shim_model* model, const nnapi_shim_shape* arguments,
                                         uint32_t argument_count, const nnapi_shim_place* inputs, uint32_t input_count,
                                         const nnapi_shim_place* outputs, uint32_t output_count,
                                         nnapi_shim_error* error);

/* The trial of a model: compiles it for one device after the other, as nnapi_shim_run would, and runs the samples of
 * the file there, until a device can be trusted. The verdicts go to options->cache_directory, where later starts find
 * them.
 *
 * nnapi_shim_probe makes the trial in this process, and tries other devices even after one has ended the process: an
 * app calls it in a process of its own, a service with android:process (one with android:isolatedProcess reaches no
 * driver), and calls it again as long as that process dies. nnapi_shim_probe_process starts such a process by fork and
 * exec, again if it dies, and ends it if it takes longer than `limit_ns` (0: no limit). `program` is nnapi-probe, or a
 * program that takes the same options; on Android from targetSdk 29 on it has to lie in nativeLibraryDir, as a lib*.so.
 * The archive has to hold a whole model, with samples. */
NNAPI_SHIM_API int nnapi_shim_probe(const char* path, const nnapi_shim_options* options, nnapi_shim_error* error);
NNAPI_SHIM_API int nnapi_shim_probe_process(const char* program, const char* path, const nnapi_shim_options* options,
                                            uint64_t limit_ns, nnapi_shim_error* error);

NNAPI_SHIM_API void nnapi_shim_get_profile(nnapi_shim_model* model, nnapi_shim_profile* profile);
/* Writes the newest failure of NNAPI on this model into `error`; its status is NNAPI_SHIM_OK if nothing failed. */
NNAPI_SHIM_API void nnapi_shim_last_failure(nnapi_shim_model* model, nnapi_shim_error* error);

/* Writes one sentence into `text`, cut to `bytes`: which model of a package runs, and why not those before it. Empty
 * for a file of one model, and before the first warm-up or run. */
NNAPI_SHIM_API void nnapi_shim_choice(nnapi_shim_model* model, char* text, size_t bytes);

/* Calls `visit` for each operation of the main model, with its NNAPI code, its name and its source line ("" if
 * stripped). `is_supported` is 1 if `device` can run the operation, 0 if not, -1 below feature level 3, where NNAPI
 * can't tell. A NULL `device` stands for the configured devices, or for all devices if NNAPI chooses. */
typedef void (*nnapi_shim_operation_visitor)(void* user, uint32_t number, int32_t code, const char* name,
                                             const char* source, int32_t is_supported);
NNAPI_SHIM_API int nnapi_shim_visit_operations(nnapi_shim_model* model, const nnapi_shim_shape* arguments,
                                               uint32_t argument_count, const char* device,
                                               nnapi_shim_operation_visitor visit, void* user, nnapi_shim_error* error);

/* Calls `visit` for each NNAPI device; `type` is ANEURALNETWORKS_DEVICE_*, `feature_level` the code that NNAPI gives:
 * an API level, or 1,000,000 and the feature level; 10000 of Android 10's nnapi-reference. Reads only the library from
 * `options`, which may be NULL. */
typedef void (*nnapi_shim_device_visitor)(void* user, const char* name, const char* version, int32_t type,
                                          int64_t feature_level);
NNAPI_SHIM_API int nnapi_shim_visit_devices(const nnapi_shim_options* options, nnapi_shim_device_visitor visit,
                                            void* user, nnapi_shim_error* error);

/* NOLINTEND(modernize-use-using) */

#ifdef __cplusplus
}
#endif

#endif /* NNAPI_SHIM_H_ */
