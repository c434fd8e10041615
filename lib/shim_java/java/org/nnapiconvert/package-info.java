// SPDX-License-Identifier: BSD-3-Clause
/** Runs models that nnapi-convert wrote with {@code --runtime shim}, without PyTorch. Begin with {@link NnapiModel}. */
@NullMarked
package org.nnapiconvert;

import org.jspecify.annotations.NullMarked;
