// SPDX-License-Identifier: BSD-3-Clause
package org.nnapiconvert;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Checks the app's buffers before native code gets their memory. {@code what} names the buffer in messages. */
final class NnapiBuffers {
  private NnapiBuffers() {}

  /** Checks that the buffer has memory of its own, and that this memory is still there. */
  static void check(ByteBuffer buffer, String what) {
    if (buffer == null) throw new NullPointerException(what);
    if (!buffer.isDirect()) {
      throw new IllegalArgumentException(what + " is in a heap buffer; use ByteBuffer.allocateDirect");
    }
    // Android throws IllegalStateException here for a closed image of a camera; native code would read freed memory.
    if (buffer.hasRemaining()) buffer.get(buffer.position());
  }

  /** Checks that the buffer has the byte order of native code. */
  static void checkOrder(ByteBuffer buffer, String what) {
    if (buffer.order() == ByteOrder.nativeOrder()) return;
    throw new IllegalArgumentException(
        what + " is in a buffer of the order " + buffer.order() + ", " + ByteOrder.nativeOrder()
            + " is needed; call order(ByteOrder.nativeOrder()) on it before the numbers are put in");
  }
}
