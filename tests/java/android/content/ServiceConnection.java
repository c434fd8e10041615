// SPDX-License-Identifier: BSD-3-Clause
package android.content;

import android.os.IBinder;

/** Takes the place of Android's interface of this name. */
public interface ServiceConnection {
  void onServiceConnected(ComponentName name, IBinder service);

  void onServiceDisconnected(ComponentName name);
}
