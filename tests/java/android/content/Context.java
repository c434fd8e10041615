// SPDX-License-Identifier: BSD-3-Clause
package android.content;

import android.content.res.AssetManager;
import android.content.res.Resources;
import android.os.IBinder;
import java.io.File;

/** Takes the place of Android's class of this name: the methods that the sample app calls. */
public class Context {
  private static final File FOLDER = new File(System.getProperty("folder"));

  public AssetManager getAssets() {
    return new AssetManager(FOLDER);
  }

  public Resources getResources() {
    return new Resources();
  }

  public File getNoBackupFilesDir() {
    return FOLDER;
  }

  public String getPackageCodePath() {
    return new File(FOLDER, "model.pt").getPath(); // changes where the asset does
  }

  public static final int BIND_AUTO_CREATE = 1;

  /** Starts the service in this process, and connects on another thread, as Android does. */
  public boolean bindService(Intent intent, ServiceConnection connection, int flags) {
    IBinder binder = intent.service().onBind(intent);
    new Thread(() -> connection.onServiceConnected(null, binder)).start();
    return flags == BIND_AUTO_CREATE;
  }

  public void unbindService(ServiceConnection connection) {}

  public File getCodeCacheDir() {
    return FOLDER;
  }
}
