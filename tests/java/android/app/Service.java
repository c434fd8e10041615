// SPDX-License-Identifier: BSD-3-Clause
package android.app;

import android.content.Context;
import android.content.Intent;
import android.os.IBinder;

/** Takes the place of Android's class of this name. */
public abstract class Service extends Context {
  public abstract IBinder onBind(Intent intent);
}
