// SPDX-License-Identifier: BSD-3-Clause
package org.nnapiconvert;

import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Frees native memory whose owner nobody closed, once nothing refers to the owner any more. Works as
 * java.lang.ref.Cleaner, which Android has only from 13 on.
 */
final class NnapiCleaner extends PhantomReference<Object> {
  private static final ReferenceQueue<Object> UNREACHABLE = new ReferenceQueue<>();
  // Keeps the phantom references reachable: others are not put into the queue.
  private static final Set<NnapiCleaner> WAITING = ConcurrentHashMap.newKeySet();

  static {
    Thread thread = new Thread(NnapiCleaner::clean, "nnapi_shim cleaner");
    thread.setDaemon(true);
    thread.start();
  }

  private final Runnable action;

  private NnapiCleaner(Object owner, Runnable action) {
    super(owner, UNREACHABLE);
    this.action = action;
  }

  /** Runs {@code action}, which must not refer to {@code owner}, in a thread of its own once the owner is unreachable. */
  static NnapiCleaner watch(Object owner, Runnable action) {
    NnapiCleaner cleaner = new NnapiCleaner(owner, action);
    WAITING.add(cleaner);
    return cleaner;
  }

  /** Drops the action, which is not needed any more. */
  void forget() {
    clear();
    WAITING.remove(this);
  }

  private static void clean() {
    while (true) {
      try {
        NnapiCleaner cleaner = (NnapiCleaner) UNREACHABLE.remove();
        if (WAITING.remove(cleaner)) cleaner.action.run();
      } catch (InterruptedException unused) {
        // Nothing interrupts this thread on purpose, and the waiting memory has to be freed all the same.
      }
    }
  }
}
