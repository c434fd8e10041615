// SPDX-License-Identifier: BSD-3-Clause
package org.nnapiconvert;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import android.content.res.AssetFileDescriptor;
import android.os.ParcelFileDescriptor;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.Test;
import org.junit.function.ThrowingRunnable;

/**
 * On the host's NNAPI. The property "folder" names a folder with archives, and NAME.inN, NAME.outN: raw tensors in NNAPI's
 * order, the inputs of a model and the results that TorchScript gives for them.
 */
public final class NnapiModelTest {
  private static final File FOLDER = new File(System.getProperty("folder"));
  private static final long[] PICTURE = {2, 3, 16, 16};

  private static File file(String name) {
    return new File(FOLDER, name);
  }

  private static ByteBuffer direct(String name) {
    try {
      byte[] bytes = Files.readAllBytes(file(name).toPath());
      ByteBuffer buffer = ByteBuffer.allocateDirect(bytes.length).order(ByteOrder.nativeOrder());
      buffer.put(bytes).flip();
      return buffer;
    } catch (IOException error) {
      throw new IllegalStateException(error);
    }
  }

  private static ByteBuffer direct(int bytes) {
    return ByteBuffer.allocateDirect(bytes).order(ByteOrder.nativeOrder());
  }

  private static float[] floats(String name) {
    ByteBuffer buffer = direct(name);
    float[] numbers = new float[buffer.remaining() / 4];
    buffer.asFloatBuffer().get(numbers);
    return numbers;
  }

  private static void assertClose(float[] expected, float[] found) {
    float range = 0;
    for (float number : expected) range = Math.max(range, Math.abs(number));
    assertTrue("a flat output shows nothing", range > 1e-3);
    assertArrayEquals(expected, found, 2e-4f * range);
  }

  private static NnapiException failure(Runnable call) {
    return assertThrows(NnapiException.class, call::run);
  }

  private static int openFiles() {
    return new File("/proc/self/fd").list().length;
  }

  @Test
  public void floatsOfFixedSizes() {
    try (NnapiModel model = NnapiModel.open(file("fixed.pt"))) {
      assertEquals(1, model.argumentCount());
      assertEquals(1, model.inputCount());
      assertEquals(1, model.outputCount());
      assertArrayEquals(PICTURE, model.argumentSizes(0));
      NnapiTensor input = model.input(0);
      assertEquals(NnapiTensor.FLOAT32, input.type);
      assertTrue(input.isNhwc);
      assertArrayEquals(new long[] {2, 16, 16, 3}, input.sizes());
      assertEquals(2 * 16 * 16 * 3 * 4, input.bytes);
      for (int i = 0; i < 3; ++i) assertClose(floats("fixed.out0"), model.run(floats("fixed.in0"))[0]);
      NnapiProfile profile = model.profile();
      assertEquals(3, profile.executions);
      assertEquals(1, profile.compiled);
      assertTrue(profile.weightsAreMapped);
      assertTrue(profile.featureLevel >= model.featureLevel());
    }
  }

  @Test
  public void directBuffersWithPositions() {
    try (NnapiModel model = NnapiModel.open(file("fixed.pt"))) {
      model.warmUp();
      ByteBuffer input = direct("fixed.in0");
      ByteBuffer padded = ByteBuffer.allocateDirect(input.capacity() + 128).order(ByteOrder.nativeOrder());
      padded.position(64);
      padded.put(input).flip().position(64);
      ByteBuffer output =
          ByteBuffer.allocateDirect((int) model.output(0).bytes).order(ByteOrder.nativeOrder());
      model.run(new ByteBuffer[] {padded}, new ByteBuffer[] {output});
      assertEquals(64, padded.position());
      float[] found = new float[output.capacity() / 4];
      output.asFloatBuffer().get(found);
      assertClose(floats("fixed.out0"), found);
    }
  }

  @Test
  public void flexibleSizes() {
    try (NnapiModel model = NnapiModel.open(file("flexible.pt"))) {
      assertArrayEquals(new long[] {0, 3, 0, 0}, model.argumentSizes(0));
      float[][] inputs = {floats("fixed.in0")};
      assertClose(floats("fixed.out0"), model.run(inputs, PICTURE)[0]);
      NnapiException error = failure(() -> model.run(inputs));
      assertEquals(NnapiException.Status.BAD_ARGUMENT, error.status());
      assertTrue(error.getMessage(), error.getMessage().contains("size 0"));
      error = failure(() -> model.run(inputs, new long[] {2, 3, 16}));
      assertTrue(error.getMessage(), error.getMessage().contains("rank 3, the model needs rank 4"));
      error = failure(() -> model.run(inputs, new long[] {2, 3, 20, 20}));
      assertTrue(error.getMessage(), error.getMessage().contains("has 1536 numbers"));
      // No memory is taken for outputs of such inputs.
      error = failure(() -> model.run(new float[][] {{1}}, new long[] {1, 3, 8000, 8000}));
      assertTrue(error.getMessage(), error.getMessage().contains("has 1 numbers"));
    }
  }

  @Test
  public void partsByName() {
    try (NnapiModel model = NnapiModel.open(file("parts.pt"))) {
      Map<String, NnapiArray> arguments =
          Collections.singletonMap("images[0]", NnapiArray.of(floats("parts.in0"), 3, 64, 64));
      for (int i = 1; i <= 3; ++i) {
        try (NnapiResult result = model.run(arguments)) {
          assertEquals(new HashSet<>(Arrays.asList("rows", "numbers", "calls")), result.paths());
          NnapiArray rows = result.get("rows");
          assertEquals(NnapiArray.Type.FLOAT32, rows.type());
          assertEquals(8, rows.sizes()[1]);
          assertClose(floats("parts.out0"), rows.floats());
          assertEquals(rows.sizes()[0], result.get("numbers").longs().length);
          assertArrayEquals(new long[] {i}, result.get("calls").longs());
          assertThrows(NoSuchElementException.class, () -> result.get("boxes"));
        }
      }
      model.call("reset_states", Collections.emptyMap()).close();
      try (NnapiResult result = model.run(arguments)) {
        assertArrayEquals(new long[] {1}, result.get("calls").longs());
      }
      NnapiException error = failure(() -> model.run(Collections.emptyMap()));
      assertEquals(NnapiException.Status.BAD_ARGUMENT, error.status());
      error = failure(() -> model.call("no_method", arguments));
      assertEquals(NnapiException.Status.BAD_ARGUMENT, error.status());
      assertThrows(IllegalArgumentException.class, () -> NnapiArray.of(new float[7], 2, 3));
    }
    try (NnapiModel model = NnapiModel.open(file("fixed.pt"));
        NnapiResult result =
            model.run(Collections.singletonMap("0", NnapiArray.of(new float[2 * 3 * 16 * 16], PICTURE)))) {
      assertEquals(1, result.paths().size());
    }
  }

  @Test
  public void trial() {
    File cache = file("cache");
    assertTrue(cache.mkdir());
    NnapiOptions options =
        new NnapiOptions()
            .cacheDirectory(cache)
            .priority(NnapiOptions.Priority.LOW)
            .loopTimeoutNs(1000000000L)
            .noBurst(true)
            .noReuse(true);
    NnapiModel.probe(file("fixed.pt"), options);
    assertTrue("verdicts", cache.list().length > 0);
    try (NnapiModel model = NnapiModel.open(file("fixed.pt"), options)) {
      assertClose(floats("fixed.out0"), model.run(floats("fixed.in0"))[0]);
    }
    NnapiException error = failure(() -> NnapiModel.probe(file("missing.pt"), options));
    assertTrue(error.getMessage(), error.getMessage().contains("missing.pt can't be opened"));
    error = failure(() -> NnapiModel.probe(file("fixed.pt"), new NnapiOptions()));
    assertEquals(NnapiException.Status.BAD_ARGUMENT, error.status());
  }

  @Test
  public void quantised() {
    try (NnapiModel model = NnapiModel.open(file("quantised.pt"))) {
      NnapiTensor input = model.input(0);
      NnapiTensor output = model.output(0);
      assertEquals(NnapiTensor.QUANT8_ASYMM, input.type);
      assertTrue(input.scale > 0);
      ByteBuffer found = ByteBuffer.allocateDirect((int) output.bytes);
      model.run(new ByteBuffer[] {direct("quantised.in0")}, new ByteBuffer[] {found});
      ByteBuffer expected = direct("quantised.out0");
      assertEquals(expected.remaining(), found.remaining());
      for (int i = 0; i < expected.remaining(); ++i) {
        assertEquals(expected.get(i) & 255, found.get(i) & 255, 1);
      }
      NnapiException error = failure(() -> model.run(new float[(int) input.bytes]));
      assertTrue(error.getMessage(), error.getMessage().contains("input 0 is not float32; run with direct buffers"));
    }
  }

  @Test
  public void severalInputsAndOutputs() {
    try (NnapiModel model = NnapiModel.open(file("several.pt"))) {
      float[][] found = model.run(floats("several.in0"), floats("several.in1"));
      assertEquals(2, found.length);
      for (int i = 0; i < 2; ++i) assertClose(floats("several.out" + i), found[i]);
      assertEquals(1, model.input(1).argument);
    }
  }

  @Test
  public void assetsAndMemory() throws IOException {
    File asset = file("app.zip"); // ends with the archive
    long offset = Long.parseLong(System.getProperty("offset"));
    long length = file("fixed.pt").length();
    int before = openFiles();
    for (long bytes : new long[] {length, -1}) { // -1: up to the end of the file
      NnapiModel model;
      try (ParcelFileDescriptor descriptor = ParcelFileDescriptor.open(asset)) {
        model = NnapiAssets.open(new AssetFileDescriptor(descriptor, offset, bytes), new NnapiOptions());
      }
      assertClose(floats("fixed.out0"), model.run(floats("fixed.in0"))[0]);
      model.close();
    }
    try (FileChannel channel = FileChannel.open(file("fixed.pt").toPath(), StandardOpenOption.READ)) {
      ByteBuffer mapped = channel.map(FileChannel.MapMode.READ_ONLY, 0, length);
      try (NnapiModel model = NnapiModel.open(mapped, new NnapiOptions())) {
        assertClose(floats("fixed.out0"), model.run(floats("fixed.in0"))[0]);
        assertFalse(model.profile().weightsAreMapped);
      }
    }
    assertEquals(before, openFiles());
    ByteBuffer heap = ByteBuffer.wrap(Files.readAllBytes(file("fixed.pt").toPath()));
    assertThrows(IllegalArgumentException.class, () -> NnapiModel.open(heap, new NnapiOptions()));
    assertThrows(IllegalArgumentException.class, () -> NnapiModel.open(0, -1, 5, new NnapiOptions()));
  }

  /** Signs outside of the basic plane, which JNI has in another form, and messages that are cut within a sign. */
  @Test
  public void textsOfAllSigns() throws IOException {
    String signs = "\u00e9 \u20ac \ud83d\ude00";
    String rules = "{\"version\": 1, \"rules\": [{\"device\": \"*\", \"reason\": \"odd: " + signs + "\"}]}";
    try (NnapiModel model = NnapiModel.open(file("fixed.pt"), new NnapiOptions().driverRules(rules))) {
      String message = failure(() -> model.run(floats("fixed.in0"))).getMessage();
      assertTrue(message, message.contains("known to be wrong: odd: " + signs));
      assertTrue(model.state(), model.state().contains(signs));
    }
    for (String sign : new String[] {"\u20ac", "\ud83d\ude00"}) {
      StringBuilder name = new StringBuilder();
      for (int i = 0; i < 2000; ++i) name.append(sign);
      for (String before : new String[] {"", "a", "ab", "abc"}) {
        NnapiOptions nowhere = new NnapiOptions().library("/nowhere/" + before + name);
        try (NnapiModel model = NnapiModel.open(file("fixed.pt"), nowhere)) {
          String message = failure(() -> model.run(floats("fixed.in0"))).getMessage();
          assertTrue(message, message.contains("/nowhere/" + before + sign + sign));
          String rest = message.replace(sign, "").replace("\ufffd", "");
          assertTrue(rest, rest.matches("\\p{ASCII}*"));
        }
      }
    }
    String half = "\ud83d";
    NnapiOptions options = new NnapiOptions().library("/nowhere/" + half + "z");
    try (NnapiModel model = NnapiModel.open(file("fixed.pt"), options)) {
      String message = failure(() -> model.run(floats("fixed.in0"))).getMessage();
      assertTrue(message, message.contains("/nowhere/\ufffdz"));
    }
  }

  @Test
  public void failuresAreTheLibrarysSentences() throws IOException {
    NnapiException error = failure(() -> NnapiModel.open(file("missing.pt")));
    assertEquals(NnapiException.Status.BAD_ARGUMENT, error.status());
    assertTrue(error.getMessage(), error.getMessage().contains("missing.pt can't be opened: No such file"));
    error = failure(() -> NnapiModel.open(file("fixed.in0")));
    assertEquals(NnapiException.Status.BAD_MODEL, error.status());
    error = failure(() -> NnapiModel.open(file("stock.pt")));
    assertTrue(error.getMessage(), error.getMessage().contains("convert the model with --runtime shim"));
    NnapiOptions nowhere = new NnapiOptions().library("/nowhere/libneuralnetworks.so");
    try (NnapiModel model = NnapiModel.open(file("fixed.pt"), nowhere)) {
      error = failure(() -> model.run(floats("fixed.in0")));
      assertEquals(NnapiException.Status.UNAVAILABLE, error.status());
    }
    try (NnapiModel model = NnapiModel.open(file("fixed.pt"), new NnapiOptions().device("no such device"))) {
      error = failure(() -> model.run(floats("fixed.in0")));
      assertEquals(NnapiException.Status.NO_DEVICE, error.status());
    }
    String rules = "{\"version\": 1, \"rules\": [{\"device\": \"*\", \"reason\": \"it is odd\"}]}";
    Files.write(file("rules.json").toPath(), rules.getBytes(StandardCharsets.UTF_8));
    NnapiOptions[] forbidding = {
      new NnapiOptions().driverRules(rules), new NnapiOptions().driverRules(file("rules.json"))
    };
    for (NnapiOptions options : forbidding) {
      try (NnapiModel model = NnapiModel.open(file("fixed.pt"), options)) {
        error = failure(() -> model.run(floats("fixed.in0")));
        assertEquals(NnapiException.Status.NO_DEVICE, error.status());
        assertTrue(error.getMessage(), error.getMessage().contains("known to be wrong: it is odd"));
      }
    }
    error = failure(() -> NnapiModel.open(file("fixed.pt"), new NnapiOptions().driverRules("{}")));
    assertEquals(NnapiException.Status.BAD_ARGUMENT, error.status());
    try (NnapiModel model = NnapiModel.open(file("fixed.pt"))) {
      ByteBuffer[] outputs = {direct((int) model.output(0).bytes)};
      ByteBuffer[] small = {direct(4)};
      assertEquals(NnapiException.Status.BAD_ARGUMENT, failure(() -> model.run(small, outputs)).status());
      assertEquals(NnapiException.Status.BAD_ARGUMENT, failure(() -> model.run(outputs, outputs, PICTURE)).status());
      ByteBuffer[] heap = {ByteBuffer.allocate(4)};
      assertThrows(IllegalArgumentException.class, () -> model.run(heap, outputs));
      ByteBuffer[] readOnly = {outputs[0].asReadOnlyBuffer()};
      assertThrows(IllegalArgumentException.class, () -> model.run(small, readOnly));
      assertThrows(NullPointerException.class, () -> model.run(new ByteBuffer[1], outputs));
      assertThrows(NullPointerException.class, () -> model.run(new float[1][]));
      assertThrows(NullPointerException.class, () -> model.warmUp(new long[1][]));
      assertEquals(NnapiException.Status.BAD_ARGUMENT, failure(() -> model.input(1)).status());
      assertEquals("input -1 was asked for, the model has 1", failure(() -> model.input(-1)).getMessage());
      assertEquals("output -2 was asked for, the model has 1", failure(() -> model.output(-2)).getMessage());
      assertEquals("argument -3 was asked for, the model has 1", failure(() -> model.argumentSizes(-3)).getMessage());
      assertEquals(NnapiException.Status.BAD_ARGUMENT, failure(() -> model.argumentSizes(1)).status());
      assertEquals(NnapiException.Status.BAD_ARGUMENT, failure(() -> model.run(new float[5])).status());
      assertEquals(NnapiException.Status.BAD_ARGUMENT, failure(() -> model.run(new float[0][])).status());
    }
  }

  /** What Java gives without order(): its floats would be read with their bytes turned around. */
  @Test
  public void otherByteOrdersAreRefused() {
    ByteBuffer turned = ByteBuffer.allocateDirect(2 * 3 * 16 * 16 * 4);
    try (NnapiModel model = NnapiModel.open(file("fixed.pt"))) {
      ByteBuffer output = direct((int) model.output(0).bytes);
      assertTurned("input 0 ", () -> model.run(new ByteBuffer[] {turned}, new ByteBuffer[] {output}));
      ByteBuffer[] input = {direct("fixed.in0")};
      ByteBuffer turnedOutput = ByteBuffer.allocateDirect((int) model.output(0).bytes);
      assertTurned("output 0 ", () -> model.run(input, new ByteBuffer[] {turnedOutput}));
      model.run(input, new ByteBuffer[] {output});
    }
    assertTurned("the data ", () -> NnapiArray.of(NnapiArray.Type.FLOAT32, turned, PICTURE));
    assertEquals(6144, NnapiArray.of(NnapiArray.Type.UINT8, turned, 6144).count());
  }

  private static void assertTurned(String what, ThrowingRunnable call) {
    String message = assertThrows(IllegalArgumentException.class, call).getMessage();
    assertTrue(message, message.startsWith(what) && message.contains("ByteOrder.nativeOrder()"));
  }

  @Test
  public void negativeOptionsAreRefused() {
    NnapiOptions options = new NnapiOptions();
    assertThrows(IllegalArgumentException.class, () -> options.variant(-1));
    assertThrows(IllegalArgumentException.class, () -> options.maxCompiled(-1));
    assertThrows(IllegalArgumentException.class, () -> options.executeTimeoutNs(-1));
  }

  /** Messages about an argument name it as the caller does, whatever the program in the file does with it. */
  @Test
  public void wrongArgumentsAreNamed() {
    float[] picture = new float[2 * 3 * 16 * 16];
    try (NnapiModel model = NnapiModel.open(file("fixed.pt"))) {
      NnapiArray right = NnapiArray.of(picture, PICTURE);
      assertWrong(model, "input", right, "argument input is unknown: the method forward has picture");
      String advice = "; resize it, or convert the model with flexible sizes";
      NnapiArray flat = NnapiArray.of(picture, 2, 3, 32, 8);
      assertWrong(model, "picture", flat, "argument picture: sizes [2, 3, 32, 8] found, [2, 3, 16, 16] needed" + advice);
      NnapiArray rows = NnapiArray.of(picture, 6, 256);
      assertWrong(model, "picture", rows, "argument picture: sizes [6, 256] found, [2, 3, 16, 16] needed" + advice);
      NnapiArray integers = NnapiArray.of(new int[picture.length], PICTURE);
      assertWrong(model, "0", integers, "argument 0: dtype int32 found, float32 needed");
    }
    try (NnapiModel model = NnapiModel.open(file("flexible.pt"))) {
      NnapiArray channels = NnapiArray.of(picture, 1, 6, 16, 16);
      assertWrong(model, "picture", channels, "argument picture: sizes [1, 6, 16, 16] found, [?, 3, ?, ?] needed");
    }
    try (NnapiModel model = NnapiModel.open(file("parts.pt"))) {
      NnapiArray right = NnapiArray.of(picture, 3, 16, 32);
      assertWrong(model, "pictures[0]", right, "argument pictures[0] is unknown: the method forward has images, least");
    }
  }

  private static void assertWrong(NnapiModel model, String path, NnapiArray array, String expected) {
    NnapiException error = failure(() -> model.run(Collections.singletonMap(path, array)));
    assertEquals(NnapiException.Status.BAD_ARGUMENT, error.status());
    assertTrue(error.getMessage(), error.getMessage().startsWith(expected));
  }

  @Test
  public void closedModels() {
    NnapiModel model = NnapiModel.open(file("fixed.pt"));
    model.close();
    model.close();
    assertThrows(IllegalStateException.class, model::inputCount);
    assertThrows(IllegalStateException.class, () -> model.run(floats("fixed.in0")));
    assertThrows(IllegalStateException.class, model::profile);
  }

  /** An archive whose bytes are stored inverted: what an app's decryption does. */
  private static NnapiReader inverted(byte[] stored) {
    return (offset, destination) -> {
      while (destination.hasRemaining()) {
        if (offset >= stored.length) throw new IOException("the key is wrong");
        destination.put((byte) ~stored[(int) offset++]);
      }
    };
  }

  @Test
  public void readers() throws IOException {
    byte[] bytes = Files.readAllBytes(file("fixed.pt").toPath());
    byte[] stored = bytes.clone();
    for (int i = 0; i < stored.length; ++i) stored[i] = (byte) ~stored[i];
    try (NnapiModel model = NnapiModel.open(inverted(stored), stored.length, new NnapiOptions())) {
      assertEquals("not compiled", model.state());
      assertClose(floats("fixed.out0"), model.run(floats("fixed.in0"))[0]);
      assertFalse(model.profile().weightsAreMapped);
      assertTrue(model.state(), model.state().startsWith("nnapi"));
    }
    NnapiOptions options = new NnapiOptions();
    IOException thrown =
        assertThrows(IOException.class, () -> NnapiModel.open(inverted(stored), stored.length + 9L, options));
    assertEquals("the key is wrong", thrown.getMessage());
    assertThrows(IOException.class, () -> NnapiModel.open((offset, destination) -> {}, stored.length, options));
    assertEquals(
        NnapiException.Status.BAD_MODEL,
        assertThrows(NnapiException.class, () -> NnapiModel.open(inverted(bytes), bytes.length, options)).status());
    assertThrows(IllegalArgumentException.class, () -> NnapiModel.open(inverted(bytes), -1, options));
  }

  @Test
  public void threads() throws Exception {
    float[] input = floats("fixed.in0");
    float[] expected = floats("fixed.out0");
    ExecutorService pool = Executors.newFixedThreadPool(8);
    NnapiModel model = NnapiModel.open(file("fixed.pt"));
    List<Future<Integer>> runs = new ArrayList<>();
    for (int thread = 0; thread < 8; ++thread) {
      runs.add(pool.submit(() -> {
        int done = 0;
        try {
          for (; done < 500; ++done) assertClose(expected, model.run(input)[0]);
        } catch (IllegalStateException closed) {
          assertEquals("the model is closed", closed.getMessage());
        }
        return done;
      }));
    }
    while (model.profile().executions < 100) Thread.sleep(1);
    model.close(); // while the threads run
    int done = 0;
    for (Future<Integer> run : runs) done += run.get();
    assertTrue("runs: " + done, done >= 100);
    pool.shutdown();
  }

  @Test
  public void manyOpenedModelsLeaveNothing() {
    float[] input = floats("fixed.in0");
    for (int i = 0; i < 50; ++i) openAndRun(input);
    int files = openFiles();
    long memory = residentKb();
    for (int i = 0; i < 1000; ++i) openAndRun(input);
    int left = openFiles() - files; // the virtual machine closes files of its own, too
    assertTrue("left open: " + left, left <= 0);
    long grown = residentKb() - memory;
    assertTrue("grew by " + grown + " KB", grown < 64 * 1024);
  }

  private static void openAndRun(float[] input) {
    try (NnapiModel model = NnapiModel.open(file("fixed.pt"))) {
      if (model.run(input).length != 1) throw new IllegalStateException();
    }
  }

  private static long residentKb() {
    System.gc();
    try {
      for (String line : Files.readAllLines(new File("/proc/self/status").toPath())) {
        if (line.startsWith("VmRSS:")) return Long.parseLong(line.replaceAll("[^0-9]", ""));
      }
    } catch (IOException error) {
      throw new IllegalStateException(error);
    }
    throw new IllegalStateException("no VmRSS");
  }
}
