// SPDX-License-Identifier: BSD-3-Clause
package android.widget;

import android.content.Context;
import android.graphics.drawable.Drawable;
import android.view.View;

/** Takes the place of Android's class of this name: the methods that the sample app calls. */
public final class TextView extends View {
  private volatile CharSequence text = "";
  private volatile Drawable below;

  public TextView(Context context) {}

  public void setText(CharSequence value) {
    text = value;
  }

  public CharSequence getText() {
    return text;
  }

  public void setCompoundDrawablesWithIntrinsicBounds(Drawable left, Drawable top, Drawable right, Drawable bottom) {
    below = bottom;
  }

  /** What stands below the text. */
  public Drawable below() {
    return below;
  }
}
