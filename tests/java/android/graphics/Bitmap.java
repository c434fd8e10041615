// SPDX-License-Identifier: BSD-3-Clause
package android.graphics;

import java.nio.Buffer;
import java.nio.ByteBuffer;

/**
 * Takes the place of Android's class of this name: the methods that NnapiPictures and the sample app call. Rows have a
 * gap behind them.
 */
public final class Bitmap {
  /** The configurations that tests use. */
  public enum Config {
    ARGB_8888,
    RGB_565
  }

  private static final int GAP = 12;

  private final int[] pixels;
  private final int width;
  private final Config config;

  private Bitmap(int[] pixels, int width, Config config) {
    this.pixels = pixels;
    this.width = width;
    this.config = config;
  }

  /** Of numbers 0xAARRGGBB. */
  public static Bitmap createBitmap(int[] pixels, int width, int height, Config config) {
    if (pixels.length != width * height) throw new IllegalArgumentException("pixels");
    return new Bitmap(pixels.clone(), width, config);
  }

  public Config getConfig() {
    return config;
  }

  public Bitmap copy(Config wanted, boolean isMutable) {
    return new Bitmap(pixels.clone(), width, wanted);
  }

  public int getPixel(int x, int y) {
    return pixels[y * width + x];
  }

  public void setPixel(int x, int y, int color) {
    if (x >= 0 && x < width && y >= 0 && y < getHeight()) pixels[y * width + x] = color;
  }

  public int getWidth() {
    return width;
  }

  public int getHeight() {
    return pixels.length / width;
  }

  public int getRowBytes() {
    return width * 4 + GAP;
  }

  public void copyPixelsToBuffer(Buffer buffer) {
    if (config != Config.ARGB_8888) throw new IllegalStateException("two bytes a pixel");
    ByteBuffer bytes = (ByteBuffer) buffer;
    for (int y = 0; y < getHeight(); ++y) {
      for (int x = 0; x < width; ++x) {
        int pixel = pixels[y * width + x];
        bytes.put((byte) (pixel >> 16)).put((byte) (pixel >> 8)).put((byte) pixel).put((byte) (pixel >> 24));
      }
      bytes.put(new byte[GAP]);
    }
  }

  public void recycle() {}
}
