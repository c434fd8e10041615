// SPDX-License-Identifier: BSD-3-Clause
package org.nnapiconvert.sample;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import android.content.Intent;
import android.graphics.Bitmap;
import android.graphics.Color;
import android.graphics.drawable.BitmapDrawable;
import android.provider.MediaStore;
import android.widget.TextView;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Arrays;
import org.junit.Test;

/** The sample app of the emitted Android module, with Android's classes replaced. */
public final class SampleTest {
  private static final File MODEL = new File(System.getProperty("folder"), "model.pt");

  private static String shown() throws InterruptedException {
    MainActivity activity = new MainActivity();
    activity.onCreate(null);
    return shown(activity);
  }

  private static String shown(MainActivity activity) throws InterruptedException {
    TextView view = (TextView) activity.content();
    for (int i = 0; i < 600 && view.getText().equals("compiling"); ++i) Thread.sleep(100);
    return view.getText().toString();
  }

  @Test
  public void showsModelsOfEveryKind() throws IOException, InterruptedException {
    for (String name : new String[] {"fixed.pt", "several.pt", "quantised.pt"}) {
      Files.copy(new File(System.getProperty("folder"), name).toPath(), MODEL.toPath());
      String text = shown();
      assertTrue(text, text.contains("input 0: type "));
      assertTrue(text, text.contains("output 0: type "));
      assertTrue(text, text.contains(" ms each run"));
      assertTrue(MODEL.delete());
    }
  }

  /** A picture of one colour above another; the model's classes are the means of quarters. */
  @Test
  public void takesAPicture() throws IOException, InterruptedException {
    Files.copy(new File(System.getProperty("folder"), "quarters.pt").toPath(), MODEL.toPath());
    MainActivity activity = new MainActivity();
    activity.onCreate(null);
    assertTrue(shown(activity), shown(activity).contains("input 0: type "));
    activity.content().performClick();
    assertEquals(MediaStore.ACTION_IMAGE_CAPTURE, activity.started().getAction());
    int[] pixels = new int[40 * 30];
    for (int i = 0; i < pixels.length; ++i) pixels[i] = i % 40 < 20 ? (i < 600 ? 0xffffffff : 0xff808080) : 0xff000000;
    Bitmap bitmap = Bitmap.createBitmap(pixels, 40, 30, Bitmap.Config.RGB_565);
    activity.onActivityResult(1, MainActivity.RESULT_OK, new Intent("answer").putExtra("data", bitmap));
    for (String corner : new String[] {"top left", "top right", "bottom right", "bottom left"}) {
      String[] lines = shown(activity).split("\n");
      assertEquals(String.join("|", lines), 6, lines.length);
      assertTrue(String.join("|", lines), lines[1].endsWith(corner));
      activity.content().performLongClick();
    }
    shown(activity);
    assertTrue(MODEL.delete());
  }

  /** A white rectangle on black; the model's boxes are drawn on the picture, in its own pixels. */
  @Test
  public void drawsTheBoxesOfADetector() throws IOException, InterruptedException {
    Files.copy(new File(System.getProperty("folder"), "detector.pt").toPath(), MODEL.toPath());
    MainActivity activity = new MainActivity();
    activity.onCreate(null);
    assertTrue(shown(activity), shown(activity).startsWith("The model runs in parts"));
    activity.content().performClick();
    int[] pixels = new int[80 * 60];
    Arrays.fill(pixels, 0xff000000);
    for (int y = 18; y < 36; ++y) Arrays.fill(pixels, y * 80 + 30, y * 80 + 60, 0xffffffff);
    Bitmap bitmap = Bitmap.createBitmap(pixels, 80, 60, Bitmap.Config.ARGB_8888);
    activity.onActivityResult(1, MainActivity.RESULT_OK, new Intent("answer").putExtra("data", bitmap));
    for (int turns = 0; turns < 4; ++turns) {
      String text = shown(activity);
      assertTrue(text, text.contains("  white, "));
      assertEquals(text, 2, text.split("\n").length);
      Bitmap drawn = ((BitmapDrawable) ((TextView) activity.content()).below()).getBitmap();
      assertEquals(80, drawn.getWidth());
      assertEquals(0xff000000, bitmap.getPixel(0, 0));
      int[] sides = greenSides(drawn);
      int[] expected = {30, 18, 60, 36};
      for (int i = 0; i < 4; ++i) assertEquals(text + Arrays.toString(sides), expected[i], sides[i], 3);
      activity.content().performLongClick();
    }
    shown(activity);
    assertTrue(MODEL.delete());
  }

  private static int[] greenSides(Bitmap drawn) {
    int[] sides = {drawn.getWidth(), drawn.getHeight(), -1, -1};
    for (int y = 0; y < drawn.getHeight(); ++y) {
      for (int x = 0; x < drawn.getWidth(); ++x) {
        if (drawn.getPixel(x, y) != Color.GREEN) continue;
        sides[0] = Math.min(sides[0], x);
        sides[1] = Math.min(sides[1], y);
        sides[2] = Math.max(sides[2], x);
        sides[3] = Math.max(sides[3], y);
      }
    }
    return sides;
  }

  @Test
  public void saysWhatIsWrong() throws IOException, InterruptedException {
    assertTrue(shown(), shown().startsWith("There is no assets/model.pt"));
    Files.write(MODEL.toPath(), new byte[] {1, 2, 3});
    String text = shown();
    assertTrue(text, text.contains("archive") || text.contains("model.pt"));
    assertTrue(MODEL.delete());
  }
}
