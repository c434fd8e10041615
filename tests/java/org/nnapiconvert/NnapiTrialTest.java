// SPDX-License-Identifier: BSD-3-Clause
package org.nnapiconvert;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNotEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;
import static org.junit.Assert.fail;

import android.content.Context;
import android.os.Binder;
import android.os.Looper;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import org.junit.After;
import org.junit.Rule;
import org.junit.Test;
import org.junit.rules.TemporaryFolder;

/** The trial by a service, with Android's classes replaced. */
public final class NnapiTrialTest {
  private static final File FOLDER = new File(System.getProperty("folder"));
  private static final File MODEL = new File(FOLDER, "fixed.pt");

  @Rule public final TemporaryFolder cache = new TemporaryFolder();

  private NnapiOptions options() {
    return new NnapiOptions().cacheDirectory(cache.getRoot());
  }

  private static void run(NnapiOptions options, long limit) throws InterruptedException {
    NnapiTrial.run(new Context(), MODEL, options, limit);
  }

  private boolean hasVerdicts() {
    return cache.getRoot().list((folder, name) -> name.endsWith(".verdicts")).length == 1;
  }

  @After
  public void heal() {
    Binder.deaths = 0;
    Binder.hangMilliseconds = 0;
    Looper.mainThread = null;
  }

  @Test
  public void refusesTheMainThread() throws InterruptedException {
    Looper.mainThread = Thread.currentThread();
    IllegalStateException error = assertThrows(IllegalStateException.class, () -> run(options(), 0));
    assertTrue(error.getMessage(), error.getMessage().contains("on the main thread"));
    assertFalse(hasVerdicts());
    Looper.mainThread = null;
    assertThrows(IllegalArgumentException.class, () -> run(options(), -1));
  }

  @Test
  public void leavesVerdicts() throws InterruptedException {
    assertFalse(hasVerdicts());
    run(options(), 0);
    assertTrue(hasVerdicts());
  }

  @Test
  public void startsAgainAfterDeaths() throws InterruptedException {
    Binder.deaths = 3;
    run(options(), 60000);
    assertTrue(hasVerdicts());
    assertEquals(0, Binder.deaths);
  }

  @Test
  public void saysThatItDied() throws InterruptedException {
    Binder.deaths = 100;
    try {
      run(options(), 0);
      fail();
    } catch (NnapiException error) {
      assertEquals(NnapiException.Status.FAILED, error.status());
      assertEquals("the trial's process died at each of 16 starts", error.getMessage());
    }
  }

  @Test
  public void endsWhatHangs() throws InterruptedException {
    Binder.hangMilliseconds = 10000;
    try {
      run(options(), 20);
      fail();
    } catch (NnapiException error) {
      assertEquals(NnapiException.Status.TIMED_OUT, error.status());
      assertEquals("the trial's process hung at each of 16 starts", error.getMessage());
    }
  }

  @Test
  public void failuresComeBack() throws InterruptedException {
    try {
      run(new NnapiOptions(), 0);
      fail();
    } catch (NnapiException error) {
      assertEquals(NnapiException.Status.BAD_ARGUMENT, error.status());
      assertTrue(error.getMessage(), error.getMessage().contains("cache_directory"));
    }
  }

  @Test
  public void copiesAssetsOnceForEachInstall() throws IOException {
    Context context = new Context();
    File asset = new File(FOLDER, "model.pt");
    Files.write(asset.toPath(), new byte[] {1, 2, 3});
    asset.setLastModified(1000000);
    File copy = NnapiAssets.copy(context, "model.pt");
    assertArrayEquals(new byte[] {1, 2, 3}, Files.readAllBytes(copy.toPath()));
    copy.setLastModified(5000);
    assertEquals(copy, NnapiAssets.copy(context, "model.pt"));
    assertEquals(5000, copy.lastModified());
    Files.write(asset.toPath(), new byte[] {4});
    asset.setLastModified(2000000);
    File second = NnapiAssets.copy(context, "model.pt");
    assertNotEquals(copy, second);
    assertArrayEquals(new byte[] {4}, Files.readAllBytes(second.toPath()));
    assertFalse(copy.exists());
    assertEquals(1, copy.getParentFile().list().length);
    assertTrue(asset.delete());
    assertTrue(second.delete());
  }

  @Test
  public void missingAssetsLeaveNothing() {
    Context context = new Context();
    assertThrows(IOException.class, () -> NnapiAssets.copy(context, "folder/missing.pt"));
    assertFalse(new File(context.getNoBackupFilesDir(), "nnapi_shim/folder").exists());
  }
}
