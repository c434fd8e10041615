// SPDX-License-Identifier: BSD-3-Clause
package android.view;

/** Takes the place of Android's class of this name: the methods that the sample app and its test call. */
public class View {
  /** What a touch does. */
  public interface OnClickListener {
    void onClick(View view);
  }

  /** What a long touch does. */
  public interface OnLongClickListener {
    boolean onLongClick(View view);
  }

  private OnClickListener touched;
  private OnLongClickListener touchedLong;

  public void setOnClickListener(OnClickListener listener) {
    touched = listener;
  }

  public void setOnLongClickListener(OnLongClickListener listener) {
    touchedLong = listener;
  }

  public boolean performClick() {
    touched.onClick(this);
    return true;
  }

  public boolean performLongClick() {
    return touchedLong.onLongClick(this);
  }
}
