// SPDX-License-Identifier: BSD-3-Clause
package org.nnapiconvert;

import android.app.Service;
import android.content.Intent;
import android.os.Binder;
import android.os.IBinder;
import android.os.Parcel;
import android.os.Process;
import android.os.RemoteException;

/**
 * Makes trials for {@link NnapiTrial}. The module's manifest gives it a process of its own, where a driver may crash or
 * hang. The process is not isolated: Android's rules keep isolated processes away from drivers and from the app's
 * files.
 */
public final class NnapiTrialService extends Service {
  static final int PROCESS = IBinder.FIRST_CALL_TRANSACTION;
  static final int TRIAL = PROCESS + 1;

  @Override
  public IBinder onBind(Intent intent) {
    return new Trials();
  }

  private static final class Trials extends Binder {
    @Override
    protected boolean onTransact(int code, Parcel data, Parcel reply, int flags) throws RemoteException {
      if (code == PROCESS) {
        reply.writeInt(Process.myPid());
        return true;
      }
      if (code != TRIAL) return super.onTransact(code, data, reply, flags);
      try {
        NnapiModel.probe(data.readString(), data.createStringArray(), data.createLongArray());
        reply.writeInt(NnapiException.Status.OK.ordinal());
      } catch (NnapiException failure) {
        reply.writeInt(failure.status().ordinal());
        reply.writeInt(failure.nnapiCode());
        reply.writeString(failure.getMessage());
      }
      return true;
    }
  }
}
