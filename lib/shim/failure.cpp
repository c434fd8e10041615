// Sentences about failures.
#include "lib/shim/failure.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace nnapi_shim {
namespace {

// Names and source lines come from the model and are UTF-8: no half character may be left at the end.
void end_cut_text(char* text, size_t capacity) {
  size_t end = capacity - 4;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0u) == 0x80u) --end;
  std::memcpy(text + end, "...", 4);
}

}  // namespace

int fail(nnapi_shim_error* error, nnapi_shim_status status, int32_t nnapi_code, const char* format, ...) {
  if (!error) return status;
  // Arguments may point into the message that they replace.
  char message[NNAPI_SHIM_MESSAGE_BYTES];
  va_list arguments;
  va_start(arguments, format);
  const int length = std::vsnprintf(message, sizeof(message), format, arguments);
  va_end(arguments);
  if (length < 0) message[0] = '\0';
  if (length >= static_cast<int>(sizeof(message))) end_cut_text(message, sizeof(message));
  error->status = status;
  error->nnapi_code = nnapi_code;
  std::memcpy(error->message, message, sizeof(message));
  return status;
}

int succeed(nnapi_shim_error* error) {
  if (error) {
    error->status = NNAPI_SHIM_OK;
    error->nnapi_code = 0;
    error->message[0] = '\0';
  }
  return NNAPI_SHIM_OK;
}

void NameList::add(const char* format, ...) {
  ++count_;
  if (left_out_ > 0) {
    ++left_out_;
    return;
  }
  const int separator = used_ > 0 ? 2 : 0;
  va_list arguments;
  va_start(arguments, format);
  char item[kBytes];
  const int length = std::vsnprintf(item, sizeof(item), format, arguments);
  va_end(arguments);
  if (length < 0 || used_ + separator + length >= kBytes) {
    ++left_out_;
    return;
  }
  std::memcpy(text_ + used_, ", ", static_cast<size_t>(separator));
  std::memcpy(text_ + used_ + separator, item, static_cast<size_t>(length) + 1);
  used_ += separator + length;
}

const char* NameList::text() {
  if (left_out_ > 0) {
    std::snprintf(text_ + used_, sizeof(text_) - static_cast<size_t>(used_), "%s%d %s", used_ > 0 ? " and " : "",
                  left_out_, used_ > 0 ? "more" : "with long names");
  }
  return text_;
}

}  // namespace nnapi_shim
