package org.nnapiconvert;

import android.content.res.AssetFileDescriptor;

/** Opens models among an app's assets. */
public final class NnapiAssets {
  private NnapiAssets() {}

  /**
   * Opens an asset, which has to be stored uncompressed: {@code androidResources { noCompress 'pt', 'ptl' }} in
   * build.gradle. The caller may close the descriptor after it.
   *
   * <pre>{@code
   * try (AssetFileDescriptor asset = context.getAssets().openFd("model.pt")) {
   *   model = NnapiAssets.open(asset, new NnapiOptions());
   * }
   * }</pre>
   */
  public static NnapiModel open(AssetFileDescriptor asset, NnapiOptions options) {
    // getLength() is -1, AssetFileDescriptor.UNKNOWN_LENGTH, up to the end of the file.
    return NnapiModel.open(
        asset.getParcelFileDescriptor().getFd(), asset.getStartOffset(), asset.getLength(), options);
  }
}
