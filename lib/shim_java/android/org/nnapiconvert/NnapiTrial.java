// SPDX-License-Identifier: BSD-3-Clause
package org.nnapiconvert;

import android.content.ComponentName;
import android.content.Context;
import android.content.Intent;
import android.content.ServiceConnection;
import android.os.IBinder;
import android.os.Looper;
import android.os.Parcel;
import android.os.Process;
import android.os.RemoteException;
import java.io.File;
import java.util.Objects;
import java.util.Timer;
import java.util.TimerTask;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;

/** Runs a model's trial in a process of its own, so that a driver that crashes or hangs does not do so in the app. */
public final class NnapiTrial {
  // The most starts of the process: each one that dies condemns one choice of devices, of which there are likely fewer.
  private static final int MOST_STARTS = 16;
  private static final long CONNECTING_MILLISECONDS = 20000;

  private NnapiTrial() {}

  /**
   * Makes the trial of {@link NnapiModel#probe} in the process of {@link NnapiTrialService}. Starts again if that
   * process dies, and ends it if it takes longer than {@code limitMilliseconds} (0: no limit). The verdicts lie in the
   * options' cache directory afterwards, where {@link NnapiModel#open} finds them. The method waits for the end: call
   * it on a thread of its own. On the main thread, on which Android connects services, it throws {@link
   * IllegalStateException}. That process makes the app's {@code Application} object, too.
   */
  public static void run(Context context, File model, NnapiOptions options, long limitMilliseconds)
      throws InterruptedException {
    Objects.requireNonNull(context, "context");
    Objects.requireNonNull(model, "model");
    Objects.requireNonNull(options, "options");
    if (limitMilliseconds < 0) {
      throw new IllegalArgumentException("limit " + limitMilliseconds + " ms found, 0 or more needed");
    }
    if (Looper.myLooper() == Looper.getMainLooper()) {
      throw new IllegalStateException(
          "NnapiTrial.run was called on the main thread, which has to be free to connect the service; call it on another");
    }
    boolean hasHung = false;
    for (int i = 0; i < MOST_STARTS; ++i) {
      try (Connection connection = new Connection(context)) {
        Limit limit = new Limit(connection.process(), limitMilliseconds);
        try {
          connection.tryModel(model, options);
          return;
        } catch (RemoteException death) {
          hasHung = limit.isOver();
        } finally {
          limit.cancel();
        }
      } catch (RemoteException death) {
        hasHung = false;
      }
    }
    throw new NnapiException(
        (hasHung ? NnapiException.Status.TIMED_OUT : NnapiException.Status.FAILED).ordinal(),
        0,
        "the trial's process " + (hasHung ? "hung" : "died") + " at each of " + MOST_STARTS + " starts");
  }

  /** A bound service. */
  private static final class Connection implements ServiceConnection, AutoCloseable {
    private final Context context;
    private final BlockingQueue<IBinder> connected = new ArrayBlockingQueue<>(1);
    private final IBinder service;

    Connection(Context context) throws InterruptedException {
      this.context = context;
      boolean isBound = context.bindService(new Intent(context, NnapiTrialService.class), this, Context.BIND_AUTO_CREATE);
      try {
        service = isBound ? connected.poll(CONNECTING_MILLISECONDS, TimeUnit.MILLISECONDS) : null;
      } catch (InterruptedException interrupt) {
        close();
        throw interrupt;
      }
      if (service != null) return;
      close();
      throw new NnapiException(
          NnapiException.Status.FAILED.ordinal(),
          0,
          isBound
              ? "the trial's service was not started within " + CONNECTING_MILLISECONDS + " ms"
              : "there is no service org.nnapiconvert.NnapiTrialService; keep it in the app's merged manifest");
    }

    @Override
    public void onServiceConnected(ComponentName name, IBinder binder) {
      connected.offer(binder);
    }

    @Override
    public void onServiceDisconnected(ComponentName name) {}

    int process() throws RemoteException {
      Parcel nothing = Parcel.obtain();
      Parcel reply = Parcel.obtain();
      try {
        service.transact(NnapiTrialService.PROCESS, nothing, reply, 0);
        return reply.readInt();
      } finally {
        nothing.recycle();
        reply.recycle();
      }
    }

    void tryModel(File model, NnapiOptions options) throws RemoteException {
      Parcel request = Parcel.obtain();
      Parcel reply = Parcel.obtain();
      try {
        request.writeString(model.getPath());
        request.writeStringArray(options.strings());
        request.writeLongArray(options.numbers());
        service.transact(NnapiTrialService.TRIAL, request, reply, 0);
        int status = reply.readInt();
        if (status != NnapiException.Status.OK.ordinal()) {
          throw new NnapiException(status, reply.readInt(), reply.readString());
        }
      } finally {
        request.recycle();
        reply.recycle();
      }
    }

    @Override
    public void close() {
      context.unbindService(this);
    }
  }

  /** Ends a process that takes too long. */
  private static final class Limit {
    private final Timer timer = new Timer(true);
    private volatile boolean isOver;

    Limit(int process, long milliseconds) {
      if (milliseconds == 0) return;
      TimerTask end =
          new TimerTask() {
            @Override
            public void run() {
              isOver = true;
              Process.killProcess(process);
            }
          };
      timer.schedule(end, milliseconds);
    }

    boolean isOver() {
      return isOver;
    }

    void cancel() {
      timer.cancel();
    }
  }
}
