// SPDX-License-Identifier: BSD-3-Clause
/** Runs models that nnapi-convert wrote with {@code --runtime shim}, without PyTorch. {@link NnapiModel} is the way in. */
@NullMarked
package org.nnapiconvert;

import org.jspecify.annotations.NullMarked;
