// SPDX-License-Identifier: BSD-3-Clause
package android.graphics.drawable;

import android.content.res.Resources;
import android.graphics.Bitmap;

/** Takes the place of Android's class of this name. */
public final class BitmapDrawable extends Drawable {
  private final Bitmap bitmap;

  public BitmapDrawable(Resources resources, Bitmap bitmap) {
    this.bitmap = bitmap;
  }

  public Bitmap getBitmap() {
    return bitmap;
  }
}
