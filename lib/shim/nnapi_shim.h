/* nnapi_shim: runs models that nnapi-convert wrote with --runtime shim on Android's Neural Networks API (NNAPI),
 * without PyTorch.
 *
 * A model is a buffer of 32-bit words and its weights; both lie in the archive (.pt, .ptl) that nnapi-convert writes.
 * Sizes are counted in bytes unless said otherwise. Every function that can fail returns an nnapi_shim_status and,
 * where `error` is not NULL, fills it with one sentence for people. Nothing ends the process; no function throws.
 *
 * Threads: functions may be called at the same time on one model, but not with nnapi_shim_close, and
 * nnapi_shim_configure not after the first nnapi_shim_warm_up, nnapi_shim_run or nnapi_shim_visit_operations. */
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
  NNAPI_SHIM_BAD_ARGUMENT = 2, /* the caller's: a shape, a size, an option */
  NNAPI_SHIM_UNAVAILABLE = 3,  /* this device has no NNAPI, or none that can run any model */
  NNAPI_SHIM_TOO_OLD = 4,      /* NNAPI's feature level is below the model's */
  NNAPI_SHIM_NO_DEVICE = 5,    /* there is no device such as the options ask for */
  NNAPI_SHIM_REFUSED = 6,      /* NNAPI or the driver refuses to build or compile the model */
  NNAPI_SHIM_FAILED = 7,       /* the execution failed */
  NNAPI_SHIM_TIMED_OUT = 8     /* compilation or execution took longer than the options allow */
} nnapi_shim_status;

#define NNAPI_SHIM_MESSAGE_BYTES 512

typedef struct {
  int32_t status;     /* an nnapi_shim_status */
  int32_t nnapi_code; /* what NNAPI answered (ANEURALNETWORKS_*), or 0 */
  char message[NNAPI_SHIM_MESSAGE_BYTES];
} nnapi_shim_error;

typedef struct nnapi_shim_model nnapi_shim_model;

/* The sizes of one argument of the module's forward, in PyTorch's order (NCHW for images). */
typedef struct {
  uint32_t rank;
  const int64_t* sizes;
} nnapi_shim_shape;

/* A tensor of NNAPI's: what the caller hands over and gets. */
typedef struct {
  int32_t type; /* ANEURALNETWORKS_TENSOR_* */
  uint32_t rank;
  uint32_t sizes[8]; /* in NNAPI's order: NHWC where is_nhwc */
  float scale;       /* of quantised types */
  int32_t zero_point;
  size_t bytes;
  uint32_t argument; /* of inputs: which argument of forward it is */
  uint32_t is_nhwc;  /* the caller of the TorchScript module has NCHW here */
} nnapi_shim_tensor;

typedef struct {
  void* data;
  size_t bytes;
} nnapi_shim_buffer;

typedef enum {
  NNAPI_SHIM_ANY_DEVICE = 0, /* NNAPI chooses */
  NNAPI_SHIM_GPU = 1,
  NNAPI_SHIM_ACCELERATOR = 2,
  NNAPI_SHIM_CPU = 3,              /* of a driver or of NNAPI itself */
  NNAPI_SHIM_NOT_REFERENCE_CPU = 4 /* all devices but NNAPI's own CPU, nnapi-reference */
} nnapi_shim_device_kind;

/* Zero-filled, with `struct_bytes` set: the defaults.
 *
 * Devices: where the chosen ones do not take all of the model's operations, it is refused with their names, except
 * that of a kind (GPU, accelerator, CPU) that takes some, NNAPI's own CPU runs the others, unless timeouts or timing
 * need exactly one device. What only makes faster (priority, cache, bursts, reuse) is left out where NNAPI lacks it;
 * what chooses, limits or measures is refused (NNAPI_SHIM_TOO_OLD). */
typedef struct {
  size_t struct_bytes;         /* sizeof(nnapi_shim_options): lets the struct grow */
  const char* library;         /* path of the NNAPI library; NULL: libneuralnetworks.so */
  int32_t is_support_library;  /* `library` is an NNAPI support library: drivers shipped with the app */
  const char* device;          /* the name of the one device to use; NULL: by kind */
  int32_t device_kind;         /* an nnapi_shim_device_kind */
  int32_t preference;          /* 0: the model's own; else 1 + ANEURALNETWORKS_PREFER_* */
  int32_t priority;            /* 0: NNAPI's default; else ANEURALNETWORKS_PRIORITY_* */
  uint64_t compile_timeout_ns; /* 0: none. Timeouts and timing need exactly one device */
  uint64_t execute_timeout_ns;
  uint64_t loop_timeout_ns;    /* of WHILE */
  int32_t measure_timing;      /* ask the driver for the device's time */
  const char* cache_directory; /* where drivers keep compiled models; NULL: nowhere */
  uint32_t max_compiled;       /* shapes that are kept compiled; 0: 4 */
  int32_t no_burst, no_reuse;  /* switch off what is used where NNAPI has it */
} nnapi_shim_options;

/* What was measured; times in nanoseconds, 0 where nothing was measured. */
typedef struct {
  uint64_t build_ns;   /* of the newest compiled shape: making NNAPI's model */
  uint64_t compile_ns; /* and compiling it */
  uint64_t executions;
  uint64_t last_execute_ns, total_execute_ns;
  uint64_t last_on_device_ns, last_in_driver_ns; /* with measure_timing */
  uint32_t compiled;                             /* shapes compiled so far, those dropped again included */
  uint32_t feature_level;                        /* of NNAPI on this device; 0: not loaded yet */
  uint64_t weight_bytes;
  uint32_t weights_are_mapped; /* handed to NNAPI by file, without a copy of ours */
  char devices[256];           /* names, separated by ", "; empty: NNAPI chooses */
} nnapi_shim_profile;

/* Opens a buffer of `word_count` words, which is copied, and its weights, which have to stay until nnapi_shim_close. */
NNAPI_SHIM_API int nnapi_shim_open_memory(const void* words, size_t word_count, const void* weights,
                                          size_t weight_bytes, nnapi_shim_model** model, nnapi_shim_error* error);
/* Opens an archive that nnapi-convert wrote. Its weights are mapped and go to NNAPI by file descriptor. */
NNAPI_SHIM_API int nnapi_shim_open_file(const char* path, nnapi_shim_model** model, nnapi_shim_error* error);
NNAPI_SHIM_API void nnapi_shim_close(nnapi_shim_model* model);

NNAPI_SHIM_API int nnapi_shim_configure(nnapi_shim_model* model, const nnapi_shim_options* options,
                                        nnapi_shim_error* error);

NNAPI_SHIM_API uint32_t nnapi_shim_argument_count(const nnapi_shim_model* model);
NNAPI_SHIM_API uint32_t nnapi_shim_input_count(const nnapi_shim_model* model);
NNAPI_SHIM_API uint32_t nnapi_shim_output_count(const nnapi_shim_model* model);
NNAPI_SHIM_API uint32_t nnapi_shim_feature_level(const nnapi_shim_model* model); /* the least that runs it */

/* Input and output number `index` for arguments of these shapes. Needs no NNAPI. */
NNAPI_SHIM_API int nnapi_shim_input(nnapi_shim_model* model, const nnapi_shim_shape* arguments, uint32_t argument_count,
                                    uint32_t index, nnapi_shim_tensor* tensor, nnapi_shim_error* error);
NNAPI_SHIM_API int nnapi_shim_output(nnapi_shim_model* model, const nnapi_shim_shape* arguments,
                                     uint32_t argument_count, uint32_t index, nnapi_shim_tensor* tensor,
                                     nnapi_shim_error* error);

/* Builds and compiles ahead of the first run with arguments of these shapes. */
NNAPI_SHIM_API int nnapi_shim_warm_up(nnapi_shim_model* model, const nnapi_shim_shape* arguments,
                                      uint32_t argument_count, nnapi_shim_error* error);
/* Runs the model. The compiled form of these shapes is made where it does not exist yet. Buffers have exactly the bytes
 * that nnapi_shim_input and nnapi_shim_output say. Callers that keep their buffers run faster: executions are reused
 * where addresses are the same. A refusal that would be the same again (not a lack of memory, a timeout or a driver
 * that died) is remembered for these shapes: later calls return it at once. */
NNAPI_SHIM_API int nnapi_shim_run(nnapi_shim_model* model, const nnapi_shim_shape* arguments, uint32_t argument_count,
                                  const nnapi_shim_buffer* inputs, uint32_t input_count,
                                  const nnapi_shim_buffer* outputs, uint32_t output_count, nnapi_shim_error* error);

NNAPI_SHIM_API void nnapi_shim_get_profile(nnapi_shim_model* model, nnapi_shim_profile* profile);
/* Why NNAPI could not be used so far, the newest reason; status NNAPI_SHIM_OK if nothing failed. */
NNAPI_SHIM_API void nnapi_shim_last_failure(nnapi_shim_model* model, nnapi_shim_error* error);

/* Calls `visit` for each operation of the main model: its NNAPI code, its name and source line ("" if stripped) and
 * whether `device` (a name; NULL: as configured, all devices where NNAPI chooses) says that it can run it: 1, 0, or -1
 * where NNAPI can't be asked (below feature level 3). */
typedef void (*nnapi_shim_operation_visitor)(void* user, uint32_t number, int32_t code, const char* name,
                                             const char* source, int32_t is_supported);
NNAPI_SHIM_API int nnapi_shim_visit_operations(nnapi_shim_model* model, const nnapi_shim_shape* arguments,
                                               uint32_t argument_count, const char* device,
                                               nnapi_shim_operation_visitor visit, void* user, nnapi_shim_error* error);

/* Calls `visit` for each NNAPI device: type is ANEURALNETWORKS_DEVICE_*. Of `options` the library is read; may be NULL.
 */
typedef void (*nnapi_shim_device_visitor)(void* user, const char* name, const char* version, int32_t type,
                                          int64_t feature_level);
NNAPI_SHIM_API int nnapi_shim_visit_devices(const nnapi_shim_options* options, nnapi_shim_device_visitor visit,
                                            void* user, nnapi_shim_error* error);

/* NOLINTEND(modernize-use-using) */

#ifdef __cplusplus
}
#endif

#endif /* NNAPI_SHIM_H_ */
