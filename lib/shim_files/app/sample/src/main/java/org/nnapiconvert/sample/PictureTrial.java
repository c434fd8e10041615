// SPDX-License-Identifier: BSD-3-Clause
package org.nnapiconvert.sample;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import org.nnapiconvert.NnapiArray;
import org.nnapiconvert.NnapiModel;
import org.nnapiconvert.NnapiPicture;
import org.nnapiconvert.NnapiResult;
import org.nnapiconvert.NnapiScore;

/** Runs a classifier or a detector on a picture. It uses nothing of Android. */
public final class PictureTrial {
  private static final int NAMES = 5;
  private static final int MOST_BOXES = 20;
  private static final float LEAST_SCORE = 0.5f;

  /** A thing in the picture, in the picture's own pixels. */
  public static final class Box {
    public final float left;
    public final float top;
    public final float right;
    public final float bottom;
    public final String name;

    Box(float[] sides, int number, String name) {
      left = sides[4 * number];
      top = sides[4 * number + 1];
      right = sides[4 * number + 2];
      bottom = sides[4 * number + 3];
      this.name = name;
    }
  }

  /** The things found, one on each line. */
  public final String text;

  /** A detector's boxes; none for a classifier. */
  public final List<Box> boxes;

  private PictureTrial(String text, List<Box> boxes) {
    this.text = text;
    this.boxes = Collections.unmodifiableList(boxes);
  }

  public static PictureTrial run(NnapiModel model, NnapiPicture picture) {
    try (NnapiResult result = model.run(picture)) {
      for (String path : result.paths()) {
        String before = path.endsWith("boxes") ? path.substring(0, path.length() - "boxes".length()) : null;
        if (before != null && result.has(before + "scores")) return detected(model, picture, result, before);
      }
      return classified(model, picture, result.get(result.paths().iterator().next()));
    }
  }

  private static PictureTrial classified(NnapiModel model, NnapiPicture picture, NnapiArray scores) {
    StringBuilder text = new StringBuilder(picture.toString()).append('\n');
    for (NnapiScore best : model.top(scores.floats(), NAMES)) {
      text.append(String.format(Locale.ROOT, "%8.3f  %s%n", best.score, best.label != null ? best.label : best.index));
    }
    return new PictureTrial(text.toString(), new ArrayList<>());
  }

  /** Reads a torchvision detector's boxes, scores and labels, side by side in a dict; the best scores come first. */
  private static PictureTrial detected(NnapiModel model, NnapiPicture picture, NnapiResult result, String before) {
    float[] sides = result.get(before + "boxes").floats();
    float[] scores = result.get(before + "scores").floats();
    long[] classes = result.has(before + "labels") ? result.get(before + "labels").longs() : new long[scores.length];
    model.boxes(picture, sides);
    List<String> names = model.labels();
    List<Box> boxes = new ArrayList<>();
    StringBuilder text = new StringBuilder(picture.toString()).append('\n');
    for (int i = 0; i < scores.length && boxes.size() < MOST_BOXES; ++i) {
      if (scores[i] < LEAST_SCORE) continue;
      boolean isNamed = classes[i] >= 0 && classes[i] < names.size();
      Box box = new Box(sides, i, isNamed ? names.get((int) classes[i]) : "class " + classes[i]);
      boxes.add(box);
      text.append(
          String.format(
              Locale.ROOT, "%8.3f  %s, %.0f %.0f to %.0f %.0f%n", scores[i], box.name, box.left, box.top, box.right, box.bottom));
    }
    return new PictureTrial(text.toString(), boxes);
  }
}
