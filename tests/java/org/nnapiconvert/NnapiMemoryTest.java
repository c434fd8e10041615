// SPDX-License-Identifier: BSD-3-Clause
package org.nnapiconvert;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.Test;

/** Who keeps native memory, and when it is given back. The property "folder" names a folder with archives. */
public final class NnapiMemoryTest {
  private static final File FOLDER = new File(System.getProperty("folder"));
  private static final int SIDE = 512;

  private static NnapiModel open(String name) {
    return NnapiModel.open(new File(FOLDER, name));
  }

  /** Arguments of twice.pt, which gives twice as much: results of 3 MiB. */
  private static Map<String, NnapiArray> picture(float number) {
    float[] numbers = new float[3 * SIDE * SIDE];
    for (int i = 0; i < numbers.length; ++i) numbers[i] = number + i % 251;
    return Collections.singletonMap("x", NnapiArray.of(numbers, 1, 3, SIDE, SIDE));
  }

  private static long residentMb() {
    try {
      for (String line : Files.readAllLines(new File("/proc/self/status").toPath())) {
        if (line.startsWith("VmRSS:")) return Long.parseLong(line.replaceAll("[^0-9]", "")) / 1024;
      }
    } catch (IOException error) {
      throw new IllegalStateException(error);
    }
    throw new IllegalStateException("no VmRSS");
  }

  @Test
  public void arraysOfClosedResultsThrow() {
    try (NnapiModel model = open("twice.pt")) {
      NnapiResult result = model.run(picture(1));
      NnapiArray array = result.get("");
      assertEquals(2, array.floats()[0], 0);
      result.close();
      result.close();
      String closed = "the result is closed";
      assertEquals(closed, assertThrows(IllegalStateException.class, array::floats).getMessage());
      assertEquals(closed, assertThrows(IllegalStateException.class, array::buffer).getMessage());
      assertEquals(closed, assertThrows(IllegalStateException.class, () -> result.get("")).getMessage());
      assertEquals(
          closed,
          assertThrows(IllegalStateException.class, () -> model.run(Collections.singletonMap("x", array))).getMessage());
      assertArrayEquals(new long[] {1, 3, SIDE, SIDE}, array.sizes());
    }
    try (NnapiModel model = open("parts.pt")) {
      NnapiArray input = NnapiArray.of(new float[3 * 64 * 64], 3, 64, 64);
      NnapiResult result = model.run(Collections.singletonMap("images[0]", input));
      NnapiArray calls = result.get("calls");
      result.close();
      assertThrows(IllegalStateException.class, calls::longs);
    }
  }

  @Test
  public void buffersKeepTheirMemory() {
    try (NnapiModel model = open("twice.pt")) {
      List<FloatBuffer> kept = new ArrayList<>();
      for (int i = 0; i < 20; ++i) {
        try (NnapiResult result = model.run(picture(i))) {
          ByteBuffer bytes = result.get("").buffer();
          bytes.position(4);
          kept.add(bytes.slice().order(bytes.order()).asFloatBuffer());
        }
        System.gc();
      }
      for (int i = 0; i < kept.size(); ++i) assertEquals(2 * (i + 1), kept.get(i).get(0), 0);
    }
  }

  @Test
  public void resultsOutliveTheirModel() {
    NnapiResult result;
    try (NnapiModel model = open("twice.pt")) {
      result = model.run(picture(7));
    }
    assertEquals(14, result.get("").floats()[0], 0);
    result.close();
  }

  @Test
  public void resultsAreArguments() {
    try (NnapiModel model = open("twice.pt");
        NnapiResult first = model.run(picture(1));
        NnapiResult second = model.run(Collections.singletonMap("x", first.get("")))) {
      assertEquals(4, second.get("").floats()[0], 0);
    }
  }

  @Test
  public void resultsThatNobodyClosesAreGivenBack() {
    try (NnapiModel model = open("twice.pt")) {
      Map<String, NnapiArray> arguments = picture(1);
      for (int i = 0; i < 20; ++i) model.run(arguments);
      long before = residentMb();
      for (int i = 0; i < 600; ++i) assertEquals(2, model.run(arguments).get("").buffer().getFloat(0), 0);
      long grown = residentMb() - before;
      assertTrue("grew by " + grown + " MB of 1800", grown < 400);
    }
  }

  @Test
  public void modelsThatNobodyClosesAreClosed() throws InterruptedException {
    int before = openFiles();
    for (int i = 0; i < 60; ++i) assertEquals(1, open("fixed.pt").inputCount());
    int left = 60;
    for (int i = 0; i < 50 && left > 5; ++i) {
      System.gc();
      Thread.sleep(20);
      left = openFiles() - before;
    }
    assertTrue("left open: " + left, left <= 5);
  }

  private static int openFiles() {
    return new File("/proc/self/fd").list().length;
  }

  /** Reads that meet the end of their result give the right numbers or throw. */
  @Test
  public void resultsAreClosedWhileTheyAreRead() throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(2);
    try (NnapiModel model = open("twice.pt")) {
      for (int i = 0; i < 50; ++i) {
        NnapiResult result = model.run(picture(i));
        NnapiArray array = result.get("");
        Future<Integer> reads = pool.submit(() -> readUntilClosed(array));
        Future<Integer> calls = pool.submit(() -> callUntilClosed(model, array));
        Thread.sleep(i % 5);
        result.close();
        assertTrue(reads.get() + calls.get() >= 0);
      }
    }
    pool.shutdown();
    assertTrue(pool.awaitTermination(10, TimeUnit.SECONDS));
  }

  private static int readUntilClosed(NnapiArray array) {
    float expected = Float.NaN;
    for (int reads = 0; ; ++reads) {
      try {
        float[] numbers = array.floats();
        if (reads == 0) expected = numbers[0];
        assertEquals(expected, numbers[0], 0);
        assertEquals(expected + 2 * ((numbers.length - 1) % 251), numbers[numbers.length - 1], 0);
      } catch (IllegalStateException closed) {
        return reads;
      }
    }
  }

  private static int callUntilClosed(NnapiModel model, NnapiArray array) {
    for (int calls = 0; ; ++calls) {
      try (NnapiResult result = model.run(Collections.singletonMap("x", array))) {
        float[] numbers = result.get("").floats();
        assertEquals(numbers[0] + 4 * ((numbers.length - 1) % 251), numbers[numbers.length - 1], 0);
      } catch (IllegalStateException closed) {
        return calls;
      }
    }
  }

  /** A reader may keep its buffer: it never was the library's memory. */
  @Test
  public void readersMayKeepTheirBuffer() throws IOException {
    byte[] stored = Files.readAllBytes(new File(FOLDER, "fixed.pt").toPath());
    List<ByteBuffer> kept = new ArrayList<>();
    NnapiReader reader =
        (offset, destination) -> {
          kept.add(destination);
          destination.put(stored, (int) offset, destination.remaining());
        };
    try (NnapiModel model = NnapiModel.open(reader, stored.length, new NnapiOptions())) {
      for (ByteBuffer buffer : kept) {
        for (int i = 0; i < buffer.capacity(); ++i) buffer.put(i, (byte) 0x55);
      }
      assertEquals(1, model.run(new float[2 * 3 * 16 * 16]).length);
    }
    for (ByteBuffer buffer : kept) assertEquals(0x55, buffer.get(0));
  }
}
