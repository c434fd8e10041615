#include "lib/shim/open_archive.h"

#include <utility>

#include "lib/shim/chain.h"
#include "lib/shim/package.h"
#include "lib/shim/program_model.h"

namespace nnapi_shim {

std::unique_ptr<OpenModel> open_archive(const std::shared_ptr<const Archive>& archive, nnapi_shim_error* error) {
  Segments segments;
  for (const ArchivePart& part : archive->parts()) {
    segments.push_back(open_words(part.words.data(), part.words.size(), part.weights, archive, error));
    if (!segments.back()) return nullptr;
  }
  if (archive->program().data != nullptr) return make_program_model(archive, std::move(segments), error);
  if (segments.size() == 1) return std::move(segments[0]);
  return make_chain(std::move(segments), archive->wiring(), error);
}

}  // namespace nnapi_shim
