package org.nnapiconvert.sample;

import android.app.Activity;
import android.content.res.AssetFileDescriptor;
import android.os.Bundle;
import android.widget.TextView;
import java.io.IOException;
import org.nnapiconvert.NnapiAssets;
import org.nnapiconvert.NnapiException;
import org.nnapiconvert.NnapiModel;
import org.nnapiconvert.NnapiOptions;

/** Runs assets/model.pt and shows what came of it. */
public final class MainActivity extends Activity {
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

  private String tried() {
    // The cache keeps the driver's compiled model, and what the self-check found of each device.
    NnapiOptions options = new NnapiOptions().cacheDirectory(getCodeCacheDir());
    try (AssetFileDescriptor asset = getAssets().openFd("model.pt");
        NnapiModel model = NnapiAssets.open(asset, options)) {
      return ModelTrial.run(model);
    } catch (IOException error) {
      return "There is no assets/model.pt: copy there what nnapi-convert --runtime shim wrote";
    } catch (NnapiException error) {
      return error.getMessage();
    }
  }
}
