// SPDX-License-Identifier: BSD-3-Clause
package org.nnapiconvert;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import android.graphics.Bitmap;
import android.graphics.Rect;
import android.media.Image;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.Test;

/**
 * Pictures, labels and notes. The property "folder" names a folder with picturesN.pt, made with four sets of options, and
 * picturesN.bin: pictures, and the inputs that the C interface makes of them.
 */
public final class NnapiPictureTest {
  private static final File FOLDER = new File(System.getProperty("folder"));
  private static final int SETS = 4;

  private static NnapiModel model(int set) {
    return NnapiModel.open(new File(FOLDER, "pictures" + set + ".pt"));
  }

  private static ByteBuffer direct(byte[] bytes) {
    ByteBuffer buffer = ByteBuffer.allocateDirect(bytes.length).order(ByteOrder.nativeOrder());
    buffer.put(bytes).flip();
    return buffer;
  }

  private static byte[] bytes(ByteBuffer buffer) {
    byte[] bytes = new byte[buffer.remaining()];
    buffer.duplicate().get(bytes);
    return bytes;
  }

  private static byte[] filled(NnapiModel model, NnapiPicture picture) {
    NnapiTensor input = model.input(0);
    ByteBuffer buffer = ByteBuffer.allocateDirect((int) input.bytes).order(ByteOrder.nativeOrder());
    model.fill(picture, input, buffer);
    return bytes(buffer);
  }

  private static byte[] random(int count, long seed) {
    byte[] bytes = new byte[count];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  @Test
  public void inputsAreThoseOfTheCInterface() throws IOException {
    for (int set = 0; set < SETS; ++set) {
      ByteBuffer file = ByteBuffer.wrap(Files.readAllBytes(new File(FOLDER, "pictures" + set + ".bin").toPath()));
      file.order(ByteOrder.LITTLE_ENDIAN);
      int count = 0;
      try (NnapiModel model = model(set)) {
        for (; file.hasRemaining(); ++count) {
          int width = file.getInt();
          int height = file.getInt();
          int rotation = file.getInt();
          byte[] pixels = new byte[width * height * 3];
          byte[] expected = new byte[(int) model.input(0).bytes];
          file.get(pixels).get(expected);
          NnapiPicture picture = NnapiPicture.rgb(direct(pixels), width, height, 0).rotated(rotation);
          assertArrayEquals(expected, filled(model, picture));
        }
      }
      assertTrue(count >= 20);
    }
  }

  @Test
  public void bitmapsAreRowsOfPixels() {
    int[] pixels = new int[31 * 22];
    byte[] rgb = random(pixels.length * 3, 1);
    for (int i = 0; i < pixels.length; ++i) {
      pixels[i] = 0x7f000000 | (rgb[3 * i] & 255) << 16 | (rgb[3 * i + 1] & 255) << 8 | (rgb[3 * i + 2] & 255);
    }
    try (NnapiModel model = model(0)) {
      byte[] expected = filled(model, NnapiPicture.rgb(direct(rgb), 31, 22, 0).mirrored());
      for (Bitmap.Config config : Bitmap.Config.values()) {
        Bitmap bitmap = Bitmap.createBitmap(pixels, 31, 22, config);
        assertArrayEquals(expected, filled(model, NnapiPictures.of(bitmap).mirrored()));
      }
    }
  }

  @Test
  public void imagesAndFramesOfCameras() {
    int width = 33;
    int height = 21;
    byte[] frame = random(width * height + 34 * 11, 2); // NV21
    ByteBuffer y = direct(Arrays.copyOf(frame, width * height));
    ByteBuffer v = direct(Arrays.copyOfRange(frame, width * height, frame.length));
    ByteBuffer u = direct(Arrays.copyOfRange(frame, width * height + 1, frame.length));
    Image image =
        new Image(
            35, width, height, new Rect(4, 2, 30, 20), new Image.Plane(y, width, 1), new Image.Plane(u, 34, 2),
            new Image.Plane(v, 34, 2));
    try (NnapiModel model = model(1)) {
      for (int rotation = 0; rotation < 360; rotation += 90) {
        byte[] expected = filled(model, NnapiPictures.of(image).rotated(rotation));
        NnapiPicture nv21 = NnapiPicture.nv21(frame, width, height).cut(4, 2, 26, 18).rotated(rotation);
        assertArrayEquals(expected, filled(model, nv21));
      }
    }
    Image jpeg = new Image(256, width, height, new Rect(0, 0, width, height));
    assertThrows(IllegalArgumentException.class, () -> NnapiPictures.of(jpeg));
    assertThrows(IllegalArgumentException.class, () -> NnapiPicture.nv21(Arrays.copyOf(frame, 9), width, height));
  }

  @Test
  public void arraysForCallsByName() {
    try (NnapiModel model = model(0)) {
      NnapiPicture picture = NnapiPicture.rgb(direct(random(40 * 30 * 3, 3)), 40, 30, 0);
      float[] nhwc = model.floats(picture); // the file was made with --nhwc
      float[] nchw = model.array(picture).floats();
      assertEquals(nhwc.length, nchw.length);
      for (int i = 0; i < nhwc.length; ++i) {
        assertEquals(nhwc[i], nchw[i % 3 * (nhwc.length / 3) + i / 3], 0);
      }
      float[] scores = model.run(nhwc)[0];
      try (NnapiResult result = model.run(Collections.singletonMap("0", model.array(picture)))) {
        assertArrayEquals(scores, result.get("").floats(), 1e-6f);
      }
      assertThrows(IllegalArgumentException.class, () -> model.array(picture, 1, 3));
    }
  }

  @Test
  public void boxesComeBack() {
    try (NnapiModel model = model(0)) { // resized to 40, of which the middle 32 are used
      NnapiPicture picture = NnapiPicture.rgb(direct(random(80 * 120 * 3, 4)), 80, 120, 0);
      float[] boxes = {0, 0, 32, 32, 1, 2, 3, 5};
      model.boxes(picture, boxes);
      assertArrayEquals(new float[] {8, 28, 72, 92, 10, 32, 14, 38}, boxes, 1e-4f);
      float[] turned = {1, 2, 3, 5};
      model.boxes(picture.rotated(180), model.input(0), turned);
      assertArrayEquals(new float[] {80 - 14, 120 - 38, 80 - 10, 120 - 32}, turned, 1e-4f);
      assertThrows(IllegalArgumentException.class, () -> model.boxes(picture, new float[3]));
    }
  }

  @Test
  public void labelsNotesAndTheLargestScores() {
    try (NnapiModel model = model(0)) {
      assertEquals(Arrays.asList("cat", "dög", "\ud83e\udd8a"), model.labels());
      assertEquals(Collections.singletonMap("author", "mé"), model.notes());
      List<NnapiScore> best = model.top(new float[] {1, 5, 2, 7}, 3);
      assertEquals(3, best.size());
      assertEquals(3, best.get(0).index);
      assertNull(best.get(0).label);
      assertEquals("dög", best.get(1).label);
      assertEquals(5f, best.get(1).score, 0);
      assertEquals("\ud83e\udd8a", best.get(2).label);
      assertTrue(model.top(new float[0], 5).isEmpty());
      List<NnapiScore> withoutNan = model.top(new float[] {Float.NaN, 1, Float.NaN, 7, 3}, 4);
      assertEquals(3, withoutNan.get(0).index);
      assertEquals(4, withoutNan.get(1).index);
      assertEquals(1, withoutNan.get(2).index);
      assertTrue("last", Float.isNaN(withoutNan.get(3).score));
      assertEquals(4, model.top(new float[] {1, 5, 2, 7}, 100).size());
    }
    try (NnapiModel model = model(1)) {
      assertTrue(model.labels().isEmpty());
      assertTrue(model.notes().isEmpty());
    }
  }

  @Test
  public void saysWhatIsWrong() {
    ByteBuffer small = direct(new byte[10]);
    try (NnapiModel model = model(0)) {
      NnapiPicture picture = NnapiPicture.rgb(small, 4, 4, 0);
      String text = assertThrows(NnapiException.class, () -> filled(model, picture)).getMessage();
      assertTrue(text, text.contains("10 bytes found, 48 needed"));
      NnapiPicture turned = NnapiPicture.rgb(direct(new byte[48]), 4, 4, 0).rotated(10);
      assertThrows(NnapiException.class, () -> filled(model, turned));
      NnapiTensor input = model.input(0);
      ByteBuffer otherOrder = ByteBuffer.allocateDirect((int) input.bytes);
      assertThrows(IllegalArgumentException.class, () -> model.fill(turned, input, otherOrder));
    }
    assertThrows(IllegalArgumentException.class, () -> NnapiPicture.rgb(small, -4, 4, 0));
    assertThrows(IllegalArgumentException.class, () -> NnapiPicture.rgb(ByteBuffer.allocate(48), 4, 4, 0));
    assertThrows(IllegalArgumentException.class, () -> NnapiPicture.rgb(small, 4, 4, -1));
    assertThrows(IllegalArgumentException.class, () -> NnapiPicture.rgb(small, 1, 1, 0).cut(-1, 0, 1, 1));
    try (NnapiModel model = NnapiModel.open(new File(FOLDER, "fixed.pt"))) {
      NnapiPicture picture = NnapiPicture.rgb(direct(new byte[48]), 4, 4, 0);
      String text = assertThrows(NnapiException.class, () -> filled(model, picture)).getMessage();
      assertTrue(text, text.contains("--mean"));
    }
  }
}
