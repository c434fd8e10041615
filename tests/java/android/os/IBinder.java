// SPDX-License-Identifier: BSD-3-Clause
package android.os;

/** Takes the place of Android's interface of this name. */
public interface IBinder {
  int FIRST_CALL_TRANSACTION = 1;

  boolean transact(int code, Parcel data, Parcel reply, int flags) throws RemoteException;
}
