// SPDX-License-Identifier: BSD-3-Clause
package org.nnapiconvert;

import java.io.IOException;
import java.nio.ByteBuffer;

/** Reads the bytes of an archive, for example by decrypting a file. */
public interface NnapiReader {
  /**
   * Fills {@code destination}, which is direct and has at most 1 MiB, with the archive's bytes from {@code offset} on.
   * The calls come in order, from the archive's begin to its end, in the thread that opens the model. {@code destination}
   * must not be used later.
   */
  void read(long offset, ByteBuffer destination) throws IOException;
}
