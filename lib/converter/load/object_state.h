// SPDX-License-Identifier: BSD-3-Clause
// Makes the objects of a pickle.
#pragma once

#include <ATen/core/ivalue.h>

namespace nnapi_convert {

// Makes an object of the class from what was pickled for it: a dict of its attributes, or what its __setstate__ takes.
// Throws c10::Error if __setstate__ leaves an attribute without a value that its type needs.
c10::intrusive_ptr<c10::ivalue::Object> make_object(const c10::StrongTypePtr& type, c10::IValue state);

// Gives the value's lists and dicts the element types that `type` says. Pickles of before PyTorch 1.5 state no types of
// elements.
void set_element_types(const c10::IValue& value, const c10::TypePtr& type);

}  // namespace nnapi_convert
