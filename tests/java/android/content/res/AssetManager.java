// SPDX-License-Identifier: BSD-3-Clause
package android.content.res;

import android.os.ParcelFileDescriptor;
import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;

/** Takes the place of Android's class of this name: assets are files of a folder. */
public final class AssetManager {
  private final File folder;

  public AssetManager(File folder) {
    this.folder = folder;
  }

  public InputStream open(String name) throws IOException {
    return new FileInputStream(new File(folder, name));
  }

  public AssetFileDescriptor openFd(String name) throws IOException {
    File file = new File(folder, name);
    return new AssetFileDescriptor(ParcelFileDescriptor.open(file), 0, file.length());
  }
}
