// SPDX-License-Identifier: BSD-3-Clause
package android.os;

/**
 * Takes the place of Android's class of this name. A call may find that the process at the other end has died: as often as
 * {@link #deaths} says, or when {@link Process#killProcess} ends it.
 */
public class Binder implements IBinder {
  public static volatile int deaths;
  public static volatile long hangMilliseconds;

  protected boolean onTransact(int code, Parcel data, Parcel reply, int flags) throws RemoteException {
    return false;
  }

  @Override
  public final boolean transact(int code, Parcel data, Parcel reply, int flags) throws RemoteException {
    Process.isKilled = false;
    if (code != FIRST_CALL_TRANSACTION) {
      if (deaths > 0) {
        --deaths;
        throw new RemoteException();
      }
      for (long waited = 0; waited < hangMilliseconds; ++waited) {
        sleep();
        if (Process.isKilled) throw new RemoteException();
      }
    }
    return onTransact(code, data, reply, flags);
  }

  private static void sleep() {
    try {
      Thread.sleep(1);
    } catch (InterruptedException error) {
      throw new IllegalStateException(error);
    }
  }
}
