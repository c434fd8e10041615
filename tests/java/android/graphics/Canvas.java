// SPDX-License-Identifier: BSD-3-Clause
package android.graphics;

/** Takes the place of Android's class of this name: draws the edges of rectangles, and a pixel where a text begins. */
public final class Canvas {
  private final Bitmap bitmap;

  public Canvas(Bitmap bitmap) {
    this.bitmap = bitmap;
  }

  public void drawRect(float left, float top, float right, float bottom, Paint paint) {
    for (int x = Math.round(left); x <= Math.round(right); ++x) {
      bitmap.setPixel(x, Math.round(top), paint.color);
      bitmap.setPixel(x, Math.round(bottom), paint.color);
    }
    for (int y = Math.round(top); y <= Math.round(bottom); ++y) {
      bitmap.setPixel(Math.round(left), y, paint.color);
      bitmap.setPixel(Math.round(right), y, paint.color);
    }
  }

  public void drawText(String text, float x, float y, Paint paint) {
    bitmap.setPixel(Math.round(x), Math.round(y), paint.color);
  }
}
