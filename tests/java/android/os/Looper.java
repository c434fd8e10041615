// SPDX-License-Identifier: BSD-3-Clause
package android.os;

/** Takes the place of Android's class of this name: tests say which thread is the main one. */
public final class Looper {
  private static final Looper MAIN = new Looper();

  public static volatile Thread mainThread;

  private Looper() {}

  public static Looper getMainLooper() {
    return MAIN;
  }

  public static Looper myLooper() {
    return Thread.currentThread() == mainThread ? MAIN : null;
  }
}
