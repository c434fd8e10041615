package android.app;

import android.content.Context;
import android.os.Bundle;
import android.view.View;

/** Takes the place of Android's class of this name: the methods that the sample app calls. */
public class Activity extends Context {
  private volatile View content;

  protected void onCreate(Bundle state) {}

  public void setContentView(View view) {
    content = view;
  }

  public View content() {
    return content;
  }

  public final void runOnUiThread(Runnable action) {
    action.run();
  }
}
