// SPDX-License-Identifier: BSD-3-Clause
package android.graphics;

/** Takes the place of Android's class of this name: the fields and methods that NnapiPictures reads. */
public final class Rect {
  public int left;
  public int top;
  public int right;
  public int bottom;

  public Rect(int left, int top, int right, int bottom) {
    this.left = left;
    this.top = top;
    this.right = right;
    this.bottom = bottom;
  }

  public int width() {
    return right - left;
  }

  public int height() {
    return bottom - top;
  }
}
