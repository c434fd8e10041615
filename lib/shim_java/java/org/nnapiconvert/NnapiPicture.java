// SPDX-License-Identifier: BSD-3-Clause
package org.nnapiconvert;

import java.nio.ByteBuffer;
import java.util.Objects;

/**
 * A picture in memory, for {@link NnapiModel#fill}, which prepares it as nnapi-convert prepared the pictures with which
 * it calibrated. NnapiPictures takes Android's bitmaps and images.
 *
 * <p>First a rectangle is cut out, in the picture's own pixels ({@link #cut}); then it is turned clockwise ({@link
 * #rotated}); then left and right are swapped ({@link #mirrored}).
 *
 * <p>Buffers are direct, and hold the picture from their position to their limit. Nothing is copied: their bytes must stay
 * as long as the picture is used.
 */
public final class NnapiPicture {
  private static final int RGB = 0;
  private static final int RGBA = 1;
  private static final int YUV_420 = 2;

  // Places in `numbers`, in the order in which native code reads them.
  private static final int ROW_BYTES = 3;
  private static final int PIXEL_BYTES = 6;
  private static final int CUT = 9;
  private static final int ROTATION = 13;
  private static final int MIRRORED = 14;
  private static final int COUNT = 15;

  final ByteBuffer[] planes;
  final long[] numbers;

  private NnapiPicture(ByteBuffer[] planes, long[] numbers) {
    this.planes = planes;
    this.numbers = numbers;
  }

  private static NnapiPicture of(int pixels, int width, int height, ByteBuffer... planes) {
    if (width < 1 || height < 1) {
      throw new IllegalArgumentException(width + " x " + height + " pixels found, 1 x 1 or more needed");
    }
    ByteBuffer[] kept = new ByteBuffer[planes.length];
    for (int i = 0; i < planes.length; ++i) {
      NnapiBuffers.check(planes[i], "plane " + i);
      kept[i] = planes[i].slice();
    }
    long[] numbers = new long[COUNT];
    numbers[0] = pixels;
    numbers[1] = width;
    numbers[2] = height;
    return new NnapiPicture(kept, numbers);
  }

  private NnapiPicture steps(int place, int plane, int bytes) {
    if (bytes < 0) throw new IllegalArgumentException(bytes + " bytes from one to the next found, 0 or more needed");
    numbers[place + plane] = bytes;
    return this;
  }

  /** Returns a picture of red, green and blue bytes; {@code rowBytes} from row to row, 0 without a gap. */
  public static NnapiPicture rgb(ByteBuffer rows, int width, int height, int rowBytes) {
    return of(RGB, width, height, rows).steps(ROW_BYTES, 0, rowBytes);
  }

  /** Returns a picture of red, green and blue bytes with a fourth byte in each pixel, which is not used. */
  public static NnapiPicture rgba(ByteBuffer rows, int width, int height, int rowBytes) {
    return of(RGBA, width, height, rows).steps(ROW_BYTES, 0, rowBytes);
  }

  /**
   * Returns a picture of three planes, brightness, blue and red difference (Cb and Cr), as Android's YUV_420_888 has
   * them: full range BT.601.
   */
  public static NnapiPicture yuv420(
      ByteBuffer y, ByteBuffer u, ByteBuffer v, int width, int height, int rowBytesY, int rowBytesUv, int pixelBytesUv) {
    NnapiPicture picture = of(YUV_420, width, height, y, u, v).steps(ROW_BYTES, 0, rowBytesY);
    for (int plane = 1; plane <= 2; ++plane) {
      picture.steps(ROW_BYTES, plane, rowBytesUv).steps(PIXEL_BYTES, plane, pixelBytesUv);
    }
    return picture;
  }

  /** Returns a picture in the form NV21: bytes of brightness, one a pixel, then pairs of red and blue difference. */
  public static NnapiPicture nv21(ByteBuffer frame, int width, int height) {
    int begin = frame.position();
    int pairs = (width + 1) / 2 * 2;
    long needed = (long) width * height + (long) pairs * ((height + 1) / 2);
    if (width < 1 || height < 1 || frame.remaining() < needed) {
      throw new IllegalArgumentException(
          frame.remaining() + " bytes found, " + needed + " needed for " + width + " x " + height + " pixels in NV21");
    }
    ByteBuffer u = frame.duplicate();
    ByteBuffer v = frame.duplicate();
    v.position(begin + width * height);
    u.position(begin + width * height + 1);
    return yuv420(frame, u, v, width, height, width, pairs, 2);
  }

  /** Returns a picture in the form NV21, of an array, which is copied. */
  public static NnapiPicture nv21(byte[] frame, int width, int height) {
    ByteBuffer copy = ByteBuffer.allocateDirect(frame.length);
    copy.put(frame).flip();
    return nv21(copy, width, height);
  }

  /** Checks that the memory is still there: the memory of a camera's image ends with the image. */
  void check() {
    for (int i = 0; i < planes.length; ++i) NnapiBuffers.check(planes[i], "plane " + i);
  }

  private NnapiPicture with(int place, long... values) {
    long[] changed = numbers.clone();
    System.arraycopy(values, 0, changed, place, values.length);
    return new NnapiPicture(planes, changed);
  }

  /** Returns the picture turned clockwise by 0, 90, 180 or 270 degrees, which cameras give to bring it upright. */
  public NnapiPicture rotated(int degrees) {
    return with(ROTATION, degrees);
  }

  /** Returns the picture with left and right swapped, as the front camera's preview shows it. */
  public NnapiPicture mirrored() {
    return with(MIRRORED, 1 - numbers[MIRRORED]);
  }

  /** Returns a rectangle of the picture, in its own pixels, before it is turned. */
  public NnapiPicture cut(int left, int top, int width, int height) {
    if (left < 0 || top < 0 || width < 1 || height < 1) {
      throw new IllegalArgumentException(
          "rectangle " + width + " x " + height + " at " + left + ", " + top + " found, one within the picture needed");
    }
    return with(CUT, left, top, width, height);
  }

  @Override
  public String toString() {
    return Objects.toString(numbers[1]) + " x " + numbers[2] + " pixels, rotated by " + numbers[ROTATION];
  }
}
