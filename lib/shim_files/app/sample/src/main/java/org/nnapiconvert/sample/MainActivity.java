package org.nnapiconvert.sample;

import android.app.Activity;
import android.os.Bundle;
import android.widget.TextView;
import java.io.File;
import java.io.IOException;
import org.nnapiconvert.NnapiAssets;
import org.nnapiconvert.NnapiException;
import org.nnapiconvert.NnapiModel;
import org.nnapiconvert.NnapiOptions;
import org.nnapiconvert.NnapiTrial;

/** Runs assets/model.pt and shows what came of it. */
public final class MainActivity extends Activity {
  private static final long TRIAL_MILLISECONDS = 60000;

  @Override
  protected void onCreate(Bundle state) {
    super.onCreate(state);
    TextView view = new TextView(this);
    view.setText("compiling");
    setContentView(view);
    // Compiling may take seconds, and the thread of the interface must not wait.
    new Thread(
            () -> {
              String text = tried();
              runOnUiThread(() -> view.setText(text));
            })
        .start();
  }

  /** In another process: a driver that crashes or hangs does so there, and once. */
  private void tryDevices(File file, NnapiOptions options) throws InterruptedException {
    try {
      NnapiTrial.run(this, file, options, TRIAL_MILLISECONDS);
    } catch (NnapiException error) {
      // A file without samples has no trial, and what else is wrong, the model itself says.
    }
  }

  private String tried() {
    // The cache keeps the driver's compiled model, and what the self-check found of each device.
    NnapiOptions options = new NnapiOptions().cacheDirectory(getCodeCacheDir());
    try {
      File file = NnapiAssets.copy(this, "model.pt");
      tryDevices(file, options);
      try (NnapiModel model = NnapiModel.open(file, options)) {
        return ModelTrial.run(model);
      }
    } catch (InterruptedException error) {
      return "stopped";
    } catch (IOException error) {
      return "There is no assets/model.pt: copy there what nnapi-convert --runtime shim wrote";
    } catch (NnapiException error) {
      return error.getMessage();
    }
  }
}
