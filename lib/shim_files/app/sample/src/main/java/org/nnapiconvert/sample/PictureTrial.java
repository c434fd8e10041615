package org.nnapiconvert.sample;

import java.util.Locale;
import org.nnapiconvert.NnapiModel;
import org.nnapiconvert.NnapiPicture;
import org.nnapiconvert.NnapiScore;

/** Runs a classifier of fixed sizes and float tensors on a picture. Nothing in it is Android's. */
public final class PictureTrial {
  private static final int NAMES = 5;

  private PictureTrial() {}

  /** Returns the names of the five classes with the largest scores, a line each. */
  public static String run(NnapiModel model, NnapiPicture picture) {
    float[] scores = model.run(model.floats(picture))[0];
    StringBuilder text = new StringBuilder(picture.toString()).append('\n');
    for (NnapiScore best : model.top(scores, NAMES)) {
      text.append(String.format(Locale.ROOT, "%8.3f  %s%n", best.score, best.label != null ? best.label : best.index));
    }
    return text.toString();
  }
}
