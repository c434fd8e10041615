// SPDX-License-Identifier: BSD-3-Clause
package android.provider;

/** Takes the place of Android's class of this name. */
public final class MediaStore {
  public static final String ACTION_IMAGE_CAPTURE = "android.media.action.IMAGE_CAPTURE";

  private MediaStore() {}
}
