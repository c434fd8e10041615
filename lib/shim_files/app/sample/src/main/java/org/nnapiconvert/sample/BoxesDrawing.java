// SPDX-License-Identifier: BSD-3-Clause
package org.nnapiconvert.sample;

import android.graphics.Bitmap;
import android.graphics.Canvas;
import android.graphics.Color;
import android.graphics.Paint;
import java.util.List;

/** Draws boxes and their names on a picture. */
final class BoxesDrawing {
  private static final float LINE = 1f / 150;
  private static final float TEXT = 1f / 16;

  private BoxesDrawing() {}

  /** Returns a copy of the picture with the boxes on it. */
  static Bitmap draw(Bitmap picture, List<PictureTrial.Box> boxes) {
    Bitmap drawn = picture.copy(Bitmap.Config.ARGB_8888, true);
    Canvas canvas = new Canvas(drawn);
    Paint line = new Paint();
    line.setColor(Color.GREEN);
    line.setStyle(Paint.Style.STROKE);
    line.setStrokeWidth(Math.max(1, drawn.getWidth() * LINE));
    Paint text = new Paint();
    text.setColor(Color.GREEN);
    text.setTextSize(drawn.getHeight() * TEXT);
    for (PictureTrial.Box box : boxes) {
      canvas.drawRect(box.left, box.top, box.right, box.bottom, line);
      canvas.drawText(box.name, box.left, box.bottom, text);
    }
    return drawn;
  }
}
