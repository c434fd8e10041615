// SPDX-License-Identifier: BSD-3-Clause
package android.media;

import android.graphics.Rect;
import java.nio.ByteBuffer;

/** Takes the place of Android's class of this name: an image of planes that a test gives. */
public final class Image {
  /** A plane with the steps between its rows and pixels. */
  public static final class Plane {
    private final ByteBuffer buffer;
    private final int rowStride;
    private final int pixelStride;

    public Plane(ByteBuffer buffer, int rowStride, int pixelStride) {
      this.buffer = buffer;
      this.rowStride = rowStride;
      this.pixelStride = pixelStride;
    }

    public ByteBuffer getBuffer() {
      return buffer;
    }

    public int getRowStride() {
      return rowStride;
    }

    public int getPixelStride() {
      return pixelStride;
    }
  }

  private final int format;
  private final int width;
  private final int height;
  private final Rect crop;
  private final Plane[] planes;

  public Image(int format, int width, int height, Rect crop, Plane... planes) {
    this.format = format;
    this.width = width;
    this.height = height;
    this.crop = crop;
    this.planes = planes;
  }

  public int getFormat() {
    return format;
  }

  public int getWidth() {
    return width;
  }

  public int getHeight() {
    return height;
  }

  public Rect getCropRect() {
    return crop;
  }

  public Plane[] getPlanes() {
    return planes;
  }
}
