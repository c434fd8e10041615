// SPDX-License-Identifier: BSD-3-Clause
package android.os;

import java.io.File;
import java.io.FileInputStream;
import java.io.IOException;

/** Takes the place of Android's class of this name: an open file with its number. */
public final class ParcelFileDescriptor implements AutoCloseable {
  private final FileInputStream stream;
  private final int number;

  private ParcelFileDescriptor(FileInputStream stream, int number) {
    this.stream = stream;
    this.number = number;
  }

  public static ParcelFileDescriptor open(File file) throws IOException {
    FileInputStream stream = new FileInputStream(file);
    for (File each : new File("/proc/self/fd").listFiles()) {
      if (file.getCanonicalPath().equals(each.getCanonicalPath())) {
        return new ParcelFileDescriptor(stream, Integer.parseInt(each.getName()));
      }
    }
    throw new IOException("no descriptor of " + file);
  }

  public int getFd() {
    return number;
  }

  @Override
  public void close() throws IOException {
    stream.close();
  }
}
