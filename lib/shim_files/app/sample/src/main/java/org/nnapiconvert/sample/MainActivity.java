// SPDX-License-Identifier: BSD-3-Clause
package org.nnapiconvert.sample;

import android.app.Activity;
import android.content.Intent;
import android.graphics.Bitmap;
import android.graphics.drawable.BitmapDrawable;
import android.os.Bundle;
import android.provider.MediaStore;
import android.widget.TextView;
import java.io.File;
import java.io.IOException;
import java.util.function.Function;
import org.nnapiconvert.NnapiAssets;
import org.nnapiconvert.NnapiException;
import org.nnapiconvert.NnapiModel;
import org.nnapiconvert.NnapiOptions;
import org.nnapiconvert.NnapiPicture;
import org.nnapiconvert.NnapiPictures;
import org.nnapiconvert.NnapiTrial;

/**
 * Runs assets/model.pt and shows the results. A touch takes a picture, if the file tells how pictures become the
 * model's input, and shows the names of five classes, or a detector's boxes on the picture; a long touch turns that
 * picture by 90 degrees.
 */
public final class MainActivity extends Activity {
  private static final long TRIAL_MILLISECONDS = 60000;
  private static final int TAKE_PICTURE = 1;

  private TextView view;
  private Bitmap taken;
  private int rotation;

  @Override
  protected void onCreate(Bundle state) {
    super.onCreate(state);
    view = new TextView(this);
    setContentView(view);
    view.setOnClickListener(touched -> startActivityForResult(new Intent(MediaStore.ACTION_IMAGE_CAPTURE), TAKE_PICTURE));
    view.setOnLongClickListener(touched -> turn());
    show(model -> new Shown(ModelTrial.run(model), null), true);
  }

  /** The camera's app gives a small picture with its answer. */
  @Override
  protected void onActivityResult(int request, int result, Intent answer) {
    super.onActivityResult(request, result, answer);
    if (request != TAKE_PICTURE || result != RESULT_OK || answer == null) return;
    taken = answer.getParcelableExtra("data");
    rotation = 0;
    showPicture();
  }

  private boolean turn() {
    rotation = (rotation + 90) % 360;
    showPicture();
    return true;
  }

  private void showPicture() {
    if (taken == null) return;
    Bitmap original = taken;
    NnapiPicture picture = NnapiPictures.of(original).rotated(rotation);
    show(
        model -> {
          PictureTrial found = PictureTrial.run(model, picture);
          return new Shown(found.text, found.boxes.isEmpty() ? null : BoxesDrawing.draw(original, found.boxes));
        },
        false);
  }

  /** A text, and the picture below it, which may be null. */
  private static final class Shown {
    final String text;
    final Bitmap picture;

    Shown(String text, Bitmap picture) {
      this.text = text;
      this.picture = picture;
    }
  }

  /** Runs the work on another thread: compiling may take seconds, and the thread of the interface must not wait. */
  private void show(Function<NnapiModel, Shown> use, boolean isFirst) {
    view.setText("compiling");
    new Thread(
            () -> {
              Shown shown = tried(use, isFirst);
              runOnUiThread(() -> show(shown));
            })
        .start();
  }

  private void show(Shown shown) {
    BitmapDrawable below = shown.picture == null ? null : new BitmapDrawable(getResources(), shown.picture);
    view.setCompoundDrawablesWithIntrinsicBounds(null, null, null, below);
    view.setText(shown.text);
  }

  /** Tries the devices in another process: a driver that crashes or hangs does so there, and only once. */
  private void tryDevices(File file, NnapiOptions options) throws InterruptedException {
    try {
      NnapiTrial.run(this, file, options, TRIAL_MILLISECONDS);
    } catch (NnapiException error) {
      // A file without samples has no trial, and the model itself reports other problems.
    }
  }

  private Shown tried(Function<NnapiModel, Shown> use, boolean isFirst) {
    // The cache keeps the driver's compiled model, and the self-check's verdict on each device.
    NnapiOptions options = new NnapiOptions().cacheDirectory(getCodeCacheDir());
    try {
      File file = NnapiAssets.copy(this, "model.pt");
      if (isFirst) tryDevices(file, options);
      try (NnapiModel model = NnapiModel.open(file, options)) {
        return use.apply(model);
      }
    } catch (InterruptedException error) {
      return new Shown("stopped", null);
    } catch (IOException error) {
      return new Shown("There is no assets/model.pt: copy there what nnapi-convert --runtime shim wrote", null);
    } catch (NnapiException error) {
      return new Shown(error.getMessage(), null);
    }
  }
}
