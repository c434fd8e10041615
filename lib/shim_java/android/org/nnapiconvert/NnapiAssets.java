// SPDX-License-Identifier: BSD-3-Clause
package org.nnapiconvert;

import android.content.Context;
import android.content.res.AssetFileDescriptor;
import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/** Opens models among an app's assets. */
public final class NnapiAssets {
  private static final String PART = ".part";
  private static final long DAY_MS = 24 * 60 * 60 * 1000L;

  private NnapiAssets() {}

  /**
   * Copies an asset to the app's own files, once for each installed version of the app, and returns the copy for {@link
   * NnapiModel#open} and {@link NnapiTrial#run}. NNAPI maps the weights of a file if drivers may read it, from Android
   * 10 on; it copies the weights of an asset into memory at each start, as assets do not begin on a page. Takes seconds
   * for a large asset, so don't call it on the main thread. The asset may be compressed.
   */
  public static synchronized File copy(Context context, String name) throws IOException {
    File folder = new File(new File(context.getNoBackupFilesDir(), "nnapi_shim"), name);
    File copy = new File(folder, String.valueOf(new File(context.getPackageCodePath()).lastModified()));
    if (copy.isFile()) return copy;
    try (InputStream from = context.getAssets().open(name)) { // before any file is made: there may be no such asset
      write(from, folder, copy);
    }
    return copy;
  }

  /** Writes a copy, whole or not at all, and deletes those of other versions of the app. */
  private static void write(InputStream from, File folder, File copy) throws IOException {
    folder.mkdirs();
    File[] others = folder.listFiles(NnapiAssets::isLeftOver);
    File part = File.createTempFile("copy", PART, folder);
    try {
      try (OutputStream to = new FileOutputStream(part)) {
        byte[] bytes = new byte[1 << 16];
        for (int count = from.read(bytes); count > 0; count = from.read(bytes)) to.write(bytes, 0, count);
      }
      if (!part.renameTo(copy)) throw new IOException(part + " can't be renamed to " + copy);
    } finally {
      part.delete(); // does nothing after the renaming
    }
    for (File other : others != null ? others : new File[0]) other.delete();
  }

  /** Returns true for a copy of another version of the app, and for a part that no process of the app still writes. */
  private static boolean isLeftOver(File file) {
    boolean isWritten = file.getName().endsWith(PART) && System.currentTimeMillis() - file.lastModified() < DAY_MS;
    return file.isFile() && !isWritten;
  }

  /**
   * Opens an asset, which has to be stored uncompressed: {@code androidResources { noCompress += listOf("pt", "ptl") }}
   * in build.gradle.kts. The caller may close the descriptor afterwards.
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
