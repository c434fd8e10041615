// SPDX-License-Identifier: BSD-3-Clause
package android.content.res;

import android.os.ParcelFileDescriptor;
import java.io.Closeable;
import java.io.IOException;

/** Takes the place of Android's class of this name: the methods that NnapiAssets and the sample app call. */
public final class AssetFileDescriptor implements Closeable {
  private final ParcelFileDescriptor descriptor;
  private final long offset;
  private final long length;

  public AssetFileDescriptor(ParcelFileDescriptor descriptor, long offset, long length) {
    this.descriptor = descriptor;
    this.offset = offset;
    this.length = length;
  }

  public ParcelFileDescriptor getParcelFileDescriptor() {
    return descriptor;
  }

  public long getStartOffset() {
    return offset;
  }

  public long getLength() {
    return length;
  }

  @Override
  public void close() throws IOException {
    descriptor.close();
  }
}
