package org.nnapiconvert.sample;

import static org.junit.Assert.assertTrue;

import android.widget.TextView;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import org.junit.Test;

/** The sample app of the emitted Android module, with Android's classes replaced. */
public final class SampleTest {
  private static final File MODEL = new File(System.getProperty("folder"), "model.pt");

  private static String shown() throws InterruptedException {
    MainActivity activity = new MainActivity();
    activity.onCreate(null);
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

  @Test
  public void saysWhatIsWrong() throws IOException, InterruptedException {
    assertTrue(shown(), shown().startsWith("There is no assets/model.pt"));
    Files.write(MODEL.toPath(), new byte[] {1, 2, 3});
    String text = shown();
    assertTrue(text, text.contains("archive") || text.contains("model.pt"));
    assertTrue(MODEL.delete());
  }
}
