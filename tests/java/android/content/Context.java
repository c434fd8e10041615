package android.content;

import android.content.res.AssetManager;
import java.io.File;

/** Takes the place of Android's class of this name: the methods that the sample app calls. */
public class Context {
  private static final File FOLDER = new File(System.getProperty("folder"));

  public AssetManager getAssets() {
    return new AssetManager(FOLDER);
  }

  public File getCodeCacheDir() {
    return FOLDER;
  }
}
