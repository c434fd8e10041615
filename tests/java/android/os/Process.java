// SPDX-License-Identifier: BSD-3-Clause
package android.os;

/** Takes the place of Android's class of this name: kills nothing, and says so to {@link Binder}. */
public final class Process {
  static volatile boolean isKilled;

  private Process() {}

  public static int myPid() {
    return 17;
  }

  public static void killProcess(int pid) {
    isKilled = pid == myPid();
  }
}
