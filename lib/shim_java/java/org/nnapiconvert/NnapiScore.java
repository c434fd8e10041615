// SPDX-License-Identifier: BSD-3-Clause
package org.nnapiconvert;

import org.jspecify.annotations.Nullable;

/** One of the largest elements of an output: the class, its score and its name. */
public final class NnapiScore {
  /** The class: the element's place in the output. */
  public final int index;
  public final float score;
  /** The name (--labels); null if the file has none for the class. */
  public final @Nullable String label;

  NnapiScore(int index, float score, @Nullable String label) {
    this.index = index;
    this.score = score;
    this.label = label;
  }

  @Override
  public String toString() {
    return (label != null ? label : "class " + index) + " " + score;
  }
}
