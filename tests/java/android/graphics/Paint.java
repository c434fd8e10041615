// SPDX-License-Identifier: BSD-3-Clause
package android.graphics;

/** Takes the place of Android's class of this name: the methods that the sample app calls. */
public final class Paint {
  /** How shapes are drawn. */
  public enum Style {
    FILL,
    STROKE
  }

  int color;

  public void setColor(int value) {
    color = value;
  }

  public void setStyle(Style style) {}

  public void setStrokeWidth(float width) {}

  public void setTextSize(float size) {}
}
