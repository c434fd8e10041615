// SPDX-License-Identifier: BSD-3-Clause
package android.app;

import android.content.Context;
import android.content.Intent;
import android.os.Bundle;
import android.view.View;

/** Takes the place of Android's class of this name: the methods that the sample app calls. */
public class Activity extends Context {
  public static final int RESULT_OK = -1;

  private volatile View content;
  private volatile Intent started;

  protected void onCreate(Bundle state) {}

  public void setContentView(View view) {
    content = view;
  }

  public View content() {
    return content;
  }

  public void startActivityForResult(Intent intent, int request) {
    started = intent;
  }

  /** The intent that was started last. */
  public Intent started() {
    return started;
  }

  protected void onActivityResult(int request, int result, Intent answer) {}

  public final void runOnUiThread(Runnable action) {
    action.run();
  }
}
