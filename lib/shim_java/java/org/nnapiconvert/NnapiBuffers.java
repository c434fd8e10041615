// SPDX-License-Identifier: BSD-3-Clause
package org.nnapiconvert;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** What is checked of the app's buffers before native code gets their memory. {@code what} names the buffer. */
final class NnapiBuffers {
  private NnapiBuffers() {}

  /** Checks that the buffer has memory of its own, and that this memory is still there. */
  static void check(ByteBuffer buffer, String what) {
    if (buffer == null) throw new NullPointerException(what);
    if (!buffer.isDirect()) {
      throw new IllegalArgumentException(what + " is in a heap buffer; use ByteBuffer.allocateDirect");
    }
    // Of a camera's image that is closed, Android throws IllegalStateException here; native code would read memory that
    // is gone.
    if (buffer.hasRemaining()) buffer.get(buffer.position());
  }

  /** Checks that elements of several bytes lie as native code has them. */
  static void checkOrder(ByteBuffer buffer, String what) {
    if (buffer.order() == ByteOrder.nativeOrder()) return;
    throw new IllegalArgumentException(
        what + " is in a buffer of the order " + buffer.order() + ", " + ByteOrder.nativeOrder()
            + " is needed; call order(ByteOrder.nativeOrder()) on it before the numbers are put in");
  }
}
