package android.widget;

import android.content.Context;
import android.view.View;

/** Takes the place of Android's class of this name: the methods that the sample app calls. */
public final class TextView extends View {
  private volatile CharSequence text = "";

  public TextView(Context context) {}

  public void setText(CharSequence value) {
    text = value;
  }

  public CharSequence getText() {
    return text;
  }
}
