// SPDX-License-Identifier: BSD-3-Clause
package org.nnapiconvert;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * The native memory of a call's result. {@link #close} frees it, or, if the app reads it or may have a buffer on it,
 * the end of the last read, or the moment when nothing refers to its buffers any more. That moment also frees memory
 * that nobody closes.
 *
 * <p>All buffers derived from a buffer keep that one reachable, on Android's virtual machine since 8.1 and on Java's,
 * so that watching the buffers that native code made is enough.
 */
final class NnapiMemory {
  /** So many bytes of unclosed results are worth a garbage collection, which doesn't see native memory by itself. */
  private static final long LEAST_LIMIT = 64L << 20;

  private static final AtomicLong HELD_BYTES = new AtomicLong();
  private static volatile long limit = LEAST_LIMIT;

  private final List<NnapiCleaner> cleaners = new ArrayList<>();
  private long handle; // 0 once it is freed
  private long bytes;
  private int reachable; // the number of reachable buffers that native code made
  private int readers;
  private boolean isClosed;
  private boolean isLent; // the app got a buffer

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

  /** Begins a read. The memory stays until {@link #endRead}. Throws if it is closed. */
  synchronized void beginRead() {
    if (isClosed) throw new IllegalStateException("the result is closed");
    ++readers;
  }

  synchronized void endRead() {
    --readers;
    freeIfUnused();
  }

  /** Notes that the app gets a buffer, so that the memory stays as long as a buffer on it does. */
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

  /** Follows the last {@link #add}. Frees memory without buffers: nothing could tell later that it isn't used. */
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

  /** Collects garbage if much memory is held, as it may belong to results that nobody closed. */
  static void limitGarbage() {
    long held = HELD_BYTES.get();
    if (held < limit) return;
    System.gc();
    // The virtual machine reports unreachable objects a moment later.
    for (int i = 0; i < 20 && HELD_BYTES.get() >= held; ++i) LockSupport.parkNanos(1000000L);
    limit = Math.max(LEAST_LIMIT, 2 * HELD_BYTES.get());
  }
}
