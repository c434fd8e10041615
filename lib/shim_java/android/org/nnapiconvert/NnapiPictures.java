// SPDX-License-Identifier: BSD-3-Clause
package org.nnapiconvert;

import android.graphics.Bitmap;
import android.graphics.Rect;
import android.media.Image;
import java.nio.ByteBuffer;

/**
 * Android's pictures for {@link NnapiModel#fill}:
 *
 * <pre>{@code
 * NnapiPicture picture = NnapiPictures.of(image).rotated(info.getRotationDegrees());
 * float[] scores = model.run(model.floats(picture))[0];
 * for (NnapiScore best : model.top(scores, 5)) Log.i("app", best.toString());
 * }</pre>
 *
 * {@link NnapiPicture} takes NV21 frames and rows of RGB or RGBA.
 */
public final class NnapiPictures {
  // The number of ImageFormat.YUV_420_888.
  private static final int YUV_420_888 = 35;

  private NnapiPictures() {}

  /** Returns a bitmap's picture; copies the pixels. Transparent pixels have the colours that are stored for them. */
  public static NnapiPicture of(Bitmap bitmap) {
    boolean isRgba = bitmap.getConfig() == Bitmap.Config.ARGB_8888; // red is its first byte
    Bitmap rgba = isRgba ? bitmap : bitmap.copy(Bitmap.Config.ARGB_8888, false);
    if (rgba == null) throw new IllegalArgumentException("the bitmap can't be copied as ARGB_8888");
    ByteBuffer rows = ByteBuffer.allocateDirect(rgba.getRowBytes() * rgba.getHeight());
    rgba.copyPixelsToBuffer(rows);
    rows.rewind();
    NnapiPicture picture = NnapiPicture.rgba(rows, rgba.getWidth(), rgba.getHeight(), rgba.getRowBytes());
    if (!isRgba) rgba.recycle();
    return picture;
  }

  /**
   * Returns the part of a camera's image within its crop rectangle. The image has the format YUV_420_888. Nothing is
   * copied: close the image only after the picture was used.
   */
  public static NnapiPicture of(Image image) {
    if (image.getFormat() != YUV_420_888) {
      throw new IllegalArgumentException("an image of format " + image.getFormat() + " found, YUV_420_888 needed");
    }
    Image.Plane[] planes = image.getPlanes();
    NnapiPicture picture =
        NnapiPicture.yuv420(
            planes[0].getBuffer(), planes[1].getBuffer(), planes[2].getBuffer(), image.getWidth(), image.getHeight(),
            planes[0].getRowStride(), planes[1].getRowStride(), planes[1].getPixelStride());
    Rect crop = image.getCropRect();
    return picture.cut(crop.left, crop.top, crop.width(), crop.height());
  }
}
