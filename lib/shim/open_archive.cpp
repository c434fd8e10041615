// SPDX-License-Identifier: BSD-3-Clause
#include "lib/shim/open_archive.h"

#include <utility>

#include "lib/shim/chain.h"
#include "lib/shim/package.h"
#include "lib/shim/program_model.h"

namespace nnapi_shim {

std::unique_ptr<OpenModel> open_archive(const std::shared_ptr<const Archive>& archive, nnapi_shim_error* error) {
  const auto open_part = [&](const ArchivePart& part) {
    return open_words(part.words.data(), part.words.size(), part.weights, archive, error);
  };
  const bool has_program = archive->program().data != nullptr;
  if (!has_program && archive->parts().size() == 1) return open_part(archive->parts()[0]);
  Segments segments;
  for (const ArchivePart& part : archive->parts()) {
    segments.push_back(open_part(part));
    if (segments.back() == nullptr) return nullptr;
  }
  if (!has_program) return make_chain(std::move(segments), archive->wiring(), error);
  std::shared_ptr<OpenModel> whole;
  if (!archive->has_steps()) {
    whole = segments.size() == 1 ? segments[0] : make_chain(segments, archive->wiring(), error);
    if (whole == nullptr) return nullptr;
  }
  return make_program_model(archive, std::move(segments), std::move(whole), error);
}

}  // namespace nnapi_shim
