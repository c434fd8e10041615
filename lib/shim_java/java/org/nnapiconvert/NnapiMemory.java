// SPDX-License-Identifier: BSD-3-Clause
package org.nnapiconvert;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * The native memory of a call's result. It is given back by {@link #close}, but not while someone reads it, nor while the
 * app may have a buffer on it; and where nobody closes it, once nothing refers to its buffers any more.
 *
 * <p>All buffers that are made of a buffer keep that one reachable, on Android's virtual machine since 8.1 and on
 * Java's, so that watching the buffers that native code made is enough.
 */
final class NnapiMemory {
  /** Unclosed results of so many bytes are worth a collection of garbage, which doesn't see native memory by itself. */
  private static final long LEAST_LIMIT = 64L << 20;

  private static final AtomicLong HELD_BYTES = new AtomicLong();
  private static volatile long limit = LEAST_LIMIT;

  private final List<NnapiCleaner> cleaners = new ArrayList<>();
  private long handle; // 0 when it is given back
  private long bytes;
  private int reachable; // buffers that native code made
  private int readers;
  private boolean isClosed;
  private boolean isLent; // the app has buffers

  /** Takes over the handle of an nnapi_shim_result. */
  NnapiMemory(long handle) {
    this.handle = handle;
  }

  /** Adds a buffer that native code made on this memory. It has to be watched before anyone else sees it. */
  synchronized void add(ByteBuffer buffer) {
    bytes += buffer.capacity();
    HELD_BYTES.addAndGet(buffer.capacity());
    ++reachable;
    cleaners.add(NnapiCleaner.watch(buffer, this::lose));
  }

  /** Before a read. The memory stays until {@link #endRead}. Throws where it is closed. */
  synchronized void beginRead() {
    if (isClosed) throw new IllegalStateException("the result is closed");
    ++readers;
  }

  synchronized void endRead() {
    --readers;
    freeIfUnused();
  }

  /** The app gets a buffer, so that the memory stays as long as a buffer on it does. */
  synchronized void lend() {
    if (isClosed) throw new IllegalStateException("the result is closed");
    isLent = true;
  }

  synchronized boolean isClosed() {
    return isClosed;
  }

  synchronized void close() {
    isClosed = true;
    freeIfUnused();
  }

  /** After the last {@link #add}: where there was none, nothing can tell later that the memory isn't used. */
  synchronized void freeIfEmpty() {
    freeIfUnused();
  }

  private synchronized void lose() {
    --reachable;
    freeIfUnused();
  }

  private void freeIfUnused() {
    if (readers == 0 && (reachable == 0 || (isClosed && !isLent))) free();
  }

  private void free() {
    if (handle == 0) return;
    NnapiResult.free(handle);
    handle = 0;
    HELD_BYTES.addAndGet(-bytes);
    for (NnapiCleaner cleaner : cleaners) cleaner.forget();
    cleaners.clear();
  }

  /** Collects garbage where much memory is held, as that may be of results that nobody closed. */
  static void limitGarbage() {
    long held = HELD_BYTES.get();
    if (held < limit) return;
    System.gc();
    // The virtual machine tells of unreachable objects a moment later.
    for (int i = 0; i < 20 && HELD_BYTES.get() >= held; ++i) LockSupport.parkNanos(1000000L);
    limit = Math.max(LEAST_LIMIT, 2 * HELD_BYTES.get());
  }
}
