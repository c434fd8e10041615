// SPDX-License-Identifier: BSD-3-Clause
package org.nnapiconvert;

import java.io.EOFException;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import org.jspecify.annotations.Nullable;

/**
 * A model that {@code nnapi-convert --runtime shim} wrote, on this phone's Neural Networks API. Needs no PyTorch.
 *
 * <pre>{@code
 * try (NnapiModel model = NnapiModel.open(new File(path))) {
 *   float[] scores = model.run(pixels)[0];
 * }
 * }</pre>
 *
 * <p>Shapes are the sizes of forward's arguments in PyTorch's order (N, C, H, W for images), one array for each
 * argument; no shapes stand for the model's own sizes, if all are fixed. Buffers hold tensors in NNAPI's form, which
 * {@link #input} and {@link #output} describe: in a file made with {@code --nhwc} images are N, H, W, C there.
 *
 * <p>Several threads may use one model at the same time. {@link #close} waits for running calls; after it every method
 * throws {@link IllegalStateException}. Results stay until they are closed themselves. Failures are
 * {@link NnapiException}s with one sentence that tells what to do.
 */
public final class NnapiModel implements AutoCloseable {
  static {
    System.loadLibrary("nnapi_shim_jni");
  }

  private final Native opened;
  private final NnapiCleaner cleaner;

  private NnapiModel(long handle, @Nullable ByteBuffer archive, NnapiOptions options) {
    opened = new Native(handle, archive);
    cleaner = NnapiCleaner.watch(this, opened::close);
    try {
      configure(handle, options.strings(), options.numbers());
    } catch (RuntimeException | Error error) {
      close();
      throw error;
    }
  }

  public static NnapiModel open(File file) {
    return open(file, new NnapiOptions());
  }

  /** Opens an archive. Maps its weights and hands them to NNAPI by file descriptor. */
  public static NnapiModel open(File file, NnapiOptions options) {
    Objects.requireNonNull(options, "options");
    return new NnapiModel(openFile(file.getPath()), null, options);
  }

  /**
   * Opens an archive within an open file: {@code bytes} bytes from {@code offset} on, or all up to the file's end if
   * {@code bytes} is -1. The caller may close the descriptor afterwards. NnapiAssets opens an app's asset.
   */
  public static NnapiModel open(int descriptor, long offset, long bytes, NnapiOptions options) {
    Objects.requireNonNull(options, "options");
    if (offset < 0 || bytes < -1) {
      throw new IllegalArgumentException("offset " + offset + " and " + bytes + " bytes found, 0 or more needed");
    }
    return new NnapiModel(openDescriptor(descriptor, offset, bytes), null, options);
  }

  /**
   * Opens an archive in memory, such as a decrypted one: the bytes between the buffer's position and its limit. The
   * buffer has to be direct, and its bytes must not change before {@link #close}.
   */
  public static NnapiModel open(ByteBuffer archive, NnapiOptions options) {
    Objects.requireNonNull(options, "options");
    NnapiBuffers.check(archive, "the archive");
    ByteBuffer kept = archive.slice();
    return new NnapiModel(openMemory(kept, kept.remaining()), kept, options);
  }

  /**
   * Opens an archive of {@code bytes} bytes that {@code reader} reads, such as an encrypted one. The weights are read
   * into memory of this process; the reader is not used afterwards. An exception of the reader leaves this method.
   */
  public static NnapiModel open(NnapiReader reader, long bytes, NnapiOptions options) throws IOException {
    Objects.requireNonNull(reader, "reader");
    Objects.requireNonNull(options, "options");
    if (bytes < 0) throw new IllegalArgumentException(bytes + " bytes found, 0 or more needed");
    return new NnapiModel(openReader(copying(reader), bytes), null, options);
  }

  /**
   * Makes the trial of a file: compiles its model for one device after the other and runs the file's samples there,
   * until a device can be trusted. The verdicts go to the options' cache directory, where later starts find them. A
   * driver may end the process: NnapiTrial calls this method in a process of its own, and again as long as that process
   * dies.
   */
  public static void probe(File file, NnapiOptions options) {
    Objects.requireNonNull(options, "options");
    probe(file.getPath(), options.strings(), options.numbers());
  }

  public int argumentCount() {
    return counts()[0];
  }

  public int inputCount() {
    return counts()[1];
  }

  public int outputCount() {
    return counts()[2];
  }

  /** Returns the lowest feature level of NNAPI that runs the model: 1 is Android 8.1, 3 is Android 10. */
  public int featureLevel() {
    return counts()[3];
  }

  /** Returns the sizes of an argument of forward; a flexible size is 0. */
  public long[] argumentSizes(int argument) {
    try (Use use = new Use()) {
      checkIndex(argument, "argument", counts(use.handle)[0]);
      return argumentSizes(use.handle, argument);
    }
  }

  /** Describes an input for arguments of these shapes. Needs no NNAPI. */
  public NnapiTensor input(int index, long[]... shapes) {
    try (Use use = new Use()) {
      checkIndex(index, "input", counts(use.handle)[1]);
      return describe(use.handle, new Shapes(use.handle, shapes), index, false);
    }
  }

  /** Describes an output for arguments of these shapes. Needs no NNAPI. */
  public NnapiTensor output(int index, long[]... shapes) {
    try (Use use = new Use()) {
      checkIndex(index, "output", counts(use.handle)[2]);
      return describe(use.handle, new Shapes(use.handle, shapes), index, true);
    }
  }

  /**
   * Builds and compiles the model for arguments of these shapes, ahead of the first run. It may take seconds. A model
   * that runs NNAPI between steps of its own takes no shapes: its parts for NNAPI with fixed sizes are compiled then.
   */
  public void warmUp(long[]... shapes) {
    try (Use use = new Use()) {
      Shapes flat = new Shapes(use.handle, shapes);
      warmUp(use.handle, flat.ranks, flat.sizes);
    }
  }

  /**
   * Runs the model. Each buffer is direct and has, between its position and its limit, exactly the bytes of its tensor,
   * in the phone's byte order: a buffer of floats has to have {@link ByteOrder#nativeOrder}, unlike new buffers of
   * allocateDirect. Nothing is copied, and positions stay. Callers that keep their buffers run faster.
   */
  public void run(ByteBuffer[] inputs, ByteBuffer[] outputs, long[]... shapes) {
    ByteBuffer[] in = inputs.clone(); // another thread may change the caller's arrays
    ByteBuffer[] out = outputs.clone();
    int[] inputPositions = positions(in, "input", false);
    int[] outputPositions = positions(out, "output", true);
    try (Use use = new Use()) {
      Shapes flat = new Shapes(use.handle, shapes);
      checkOrders(use.handle, flat, in, false);
      checkOrders(use.handle, flat, out, true);
      run(use.handle, flat.ranks, flat.sizes, in, inputPositions, out, outputPositions);
    }
  }

  /**
   * Runs a model whose tensors are all float32. Takes one array for each input, in NNAPI's order. At most one size of
   * each argument may be open; it follows from the array's length. Returns an array for each output. Copies the
   * numbers.
   */
  public float[][] run(float[]... inputs) {
    return run(inputs, shapesOf(inputs));
  }

  /** Returns shapes whose open sizes follow from the arrays' lengths; none if all are fixed or the arrays don't fit. */
  private long[][] shapesOf(float[][] inputs) {
    long[][] shapes = new long[inputs.length][];
    boolean isOpen = false;
    for (int i = 0; i < inputs.length; ++i) {
      Objects.requireNonNull(inputs[i], "input " + i);
      try {
        shapes[i] = argumentSizes(i);
      } catch (RuntimeException error) {
        return new long[0][]; // the run reports the mistake
      }
      int open = -1;
      long known = 1;
      for (int axis = 0; axis < shapes[i].length; ++axis) {
        if (shapes[i][axis] != 0) {
          known *= shapes[i][axis];
        } else if (open < 0) {
          open = axis;
        } else {
          return new long[0][];
        }
      }
      if (open < 0) continue;
      if (inputs[i].length == 0 || inputs[i].length % known != 0) return new long[0][];
      shapes[i][open] = inputs[i].length / known;
      isOpen = true;
    }
    return isOpen ? shapes : new long[0][];
  }

  /** Runs such a model, as {@link #run(float[]...)}, for arguments of these shapes. */
  public float[][] run(float[][] inputs, long[]... shapes) {
    float[][] in = inputs.clone(); // another thread may change the caller's array
    for (int i = 0; i < in.length; ++i) Objects.requireNonNull(in[i], "input " + i);
    try (Use use = new Use()) {
      Shapes flat = new Shapes(use.handle, shapes);
      return runFloats(use.handle, flat.ranks, flat.sizes, in);
    }
  }

  /**
   * Runs forward on arguments that are named by paths: "x" is an argument's name, "images[0]" an element of a list,
   * "state.hidden" a field, "batch[\"image\"]" the value of a key. An argument that is left out has its default. Arrays
   * are in PyTorch's order. Works for models that run in parts, too: the library runs their steps outside of NNAPI
   * itself.
   *
   * <pre>{@code
   * try (NnapiResult result = model.run(Collections.singletonMap("x", NnapiArray.of(pixels, 3, 320, 320)))) {
   *   float[] boxes = result.get("boxes").floats();
   * }
   * }</pre>
   */
  public NnapiResult run(Map<String, NnapiArray> arguments) {
    return call("forward", arguments);
  }

  /** Runs a method of the model, such as one that resets its state, as {@link #run(Map)} runs forward. */
  public NnapiResult call(String method, Map<String, NnapiArray> arguments) {
    Objects.requireNonNull(method, "method");
    int count = arguments.size();
    String[] paths = new String[count];
    int[] types = new int[count];
    long[][] sizes = new long[count][];
    ByteBuffer[] data = new ByteBuffer[count];
    List<NnapiArray> read = new ArrayList<>(count);
    long result;
    try {
      for (Map.Entry<String, NnapiArray> argument : arguments.entrySet()) {
        NnapiArray array = Objects.requireNonNull(argument.getValue(), argument.getKey());
        int i = read.size();
        paths[i] = Objects.requireNonNull(argument.getKey(), "path");
        types[i] = array.type().number;
        sizes[i] = array.sizes();
        data[i] = array.beginRead();
        read.add(array);
      }
      try (Use use = new Use()) {
        result = call(use.handle, method, paths, types, sizes, data);
      }
    } finally {
      for (NnapiArray array : read) array.endRead();
    }
    return new NnapiResult(result);
  }

  /**
   * Fills an input, which {@link #input} describes, with a picture, as nnapi-convert prepared the pictures that it
   * calibrated with: the file was made with {@code --mean} and {@code --std}, or with {@code --input-pixels}. The buffer is
   * direct and has, between its position and its limit, the bytes of the input. Its position stays.
   */
  public void fill(NnapiPicture picture, NnapiTensor input, ByteBuffer buffer) {
    int[] ends = positions(new ByteBuffer[] {buffer}, "buffer", true);
    if (input.elementBytes() > 1) NnapiBuffers.checkOrder(buffer, "the input");
    picture.check();
    try (Use use = new Use()) {
      fillPicture(use.handle, picture.planes, picture.numbers, input.numbers, buffer, ends[0], ends[1]);
    }
  }

  /** Returns a picture as the only input, of floats and fixed sizes, for {@link #run(float[]...)}. */
  public float[] floats(NnapiPicture picture) {
    NnapiTensor input = input(0);
    if (input.type != NnapiTensor.FLOAT32) throw new IllegalStateException("the input is of " + input);
    ByteBuffer buffer = ByteBuffer.allocateDirect((int) input.bytes).order(ByteOrder.nativeOrder());
    fill(picture, input, buffer);
    float[] numbers = new float[(int) (input.bytes / Float.BYTES)];
    buffer.asFloatBuffer().get(numbers);
    return numbers;
  }

  /**
   * Returns a picture as an argument of {@link #run(Map)}. {@code sizes} are those of the argument in PyTorch's order;
   * none if its sizes are fixed.
   */
  public NnapiArray array(NnapiPicture picture, long... sizes) {
    NnapiTensor argument = pictureTensor(sizes);
    boolean isFloat = argument.type == NnapiTensor.FLOAT32;
    ByteBuffer data = ByteBuffer.allocateDirect((int) argument.bytes).order(ByteOrder.nativeOrder());
    fill(picture, argument, data);
    return NnapiArray.of(isFloat ? NnapiArray.Type.FLOAT32 : NnapiArray.Type.UINT8, data, argument.sizes());
  }

  /**
   * Runs forward on a picture, whatever it returns: scores, or a detector's boxes, which {@link #boxes} converts to the
   * picture's pixels. Other arguments have their defaults.
   */
  public NnapiResult run(NnapiPicture picture, long... sizes) {
    @Nullable String path;
    try (Use use = new Use()) {
      path = pictureArgument(use.handle);
    }
    NnapiArray array = array(picture, sizes); // throws for a file that knows no pictures
    if (path == null) throw new IllegalStateException("the file doesn't name the argument of pictures; convert it again");
    return run(Collections.singletonMap(path, array));
  }

  /**
   * Converts boxes in place from pixels of the input, whose sizes are fixed, to pixels of the picture. Each box has
   * four numbers: left, top, right and bottom.
   */
  public void boxes(NnapiPicture picture, float[] boxes) {
    boxes(picture, pictureTensor(), boxes);
  }

  /** Converts boxes from pixels of an input that {@link #input} describes. */
  public void boxes(NnapiPicture picture, NnapiTensor input, float[] boxes) {
    if (boxes.length % 4 != 0) {
      throw new IllegalArgumentException(boxes.length + " numbers found, four for each box needed");
    }
    try (Use use = new Use()) {
      pictureBoxes(use.handle, picture.planes, picture.numbers, input.numbers, boxes);
    }
  }

  private NnapiTensor pictureTensor(long... sizes) {
    long[] numbers;
    try (Use use = new Use()) {
      numbers = pictureTensor(use.handle);
    }
    if (sizes.length > 0) {
      if (sizes.length != numbers[1]) {
        throw new IllegalArgumentException(sizes.length + " sizes found, " + numbers[1] + " needed");
      }
      long bytes = numbers[0] == NnapiTensor.FLOAT32 ? Float.BYTES : 1;
      for (long size : sizes) bytes = Math.multiplyExact(bytes, size);
      System.arraycopy(sizes, 0, numbers, 2, sizes.length);
      numbers[2 + 8 + 2] = bytes;
    }
    return new NnapiTensor(numbers);
  }

  /** Returns the names of the classes (--labels); none if the file has none. */
  public List<String> labels() {
    try (Use use = new Use()) {
      return Collections.unmodifiableList(Arrays.asList(labels(use.handle)));
    }
  }

  /**
   * Returns the largest numbers of an output, at most {@code count}, the largest first, with the names of their
   * classes. NaN comes last.
   */
  public List<NnapiScore> top(float[] scores, int count) {
    if (count < 0) throw new IllegalArgumentException("count " + count + " found, 0 or more needed");
    List<NnapiScore> best = new ArrayList<>();
    try (Use use = new Use()) {
      String[] labels = labels(use.handle);
      for (int index : top(use.handle, scores, Math.min(count, scores.length))) {
        best.add(new NnapiScore(index, scores[index], index < labels.length ? labels[index] : null));
      }
    }
    return best;
  }

  /** Returns the notes of the file (--note), such as its author and licence, by their keys. */
  public Map<String, String> notes() {
    Map<String, String> notes = new LinkedHashMap<>();
    try (Use use = new Use()) {
      String[] texts = notes(use.handle);
      for (int i = 0; i < texts.length; i += 2) notes.put(texts[i], texts[i + 1]);
    }
    return notes;
  }

  /**
   * Tells which model of a package runs, and why not those before it. Empty for a file of one model, and before the
   * first {@link #warmUp} or run.
   */
  public String choice() {
    try (Use use = new Use()) {
      return choice(use.handle);
    }
  }

  /**
   * Tells in one line on what the model runs: the devices, the model of a package, and the newest reason why a device
   * was not used. "not compiled" before the first {@link #warmUp} or run.
   */
  public String state() {
    try (Use use = new Use()) {
      return state(use.handle);
    }
  }

  /** Returns the measurements of the model so far. */
  public NnapiProfile profile() {
    try (Use use = new Use()) {
      return new NnapiProfile(profile(use.handle), devices(use.handle));
    }
  }

  /** Waits for running calls. A model that nothing refers to any more is closed some time later. */
  @Override
  public void close() {
    opened.close();
    cleaner.forget();
  }

  /** Lets the reader fill a part of an archive; native code calls this for each part. */
  private static void fill(NnapiReader reader, long offset, ByteBuffer destination) throws IOException {
    reader.read(offset, destination);
    if (destination.hasRemaining()) {
      throw new EOFException(destination.remaining() + " bytes are missing at " + (offset + destination.position()));
    }
  }

  /** Returns a reader that fills Java's memory: the app's reader may keep the buffer after native code frees it. */
  private static NnapiReader copying(NnapiReader reader) {
    ByteBuffer[] kept = new ByteBuffer[1];
    return (offset, destination) -> {
      int bytes = destination.remaining();
      if (kept[0] == null || kept[0].capacity() < bytes) kept[0] = ByteBuffer.allocateDirect(bytes);
      ByteBuffer part = kept[0].duplicate();
      part.limit(bytes);
      part = part.slice();
      reader.read(offset, part);
      part.flip();
      destination.put(part);
    };
  }

  private static NnapiTensor describe(long handle, Shapes shapes, int index, boolean isOutput) {
    return new NnapiTensor(describe(handle, shapes.ranks, shapes.sizes, index, isOutput));
  }

  /** Checks that an index is not negative; native code checks that it is not too large. */
  private static void checkIndex(int index, String what, int count) {
    if (index >= 0) return;
    throw new NnapiException(
        NnapiException.Status.BAD_ARGUMENT.ordinal(), 0, what + " " + index + " was asked for, the model has " + count);
  }

  /** Refuses buffers whose byte order is not the phone's, if their elements have several bytes. */
  private static void checkOrders(long handle, Shapes shapes, ByteBuffer[] buffers, boolean isOutput) {
    int count = Math.min(buffers.length, counts(handle)[isOutput ? 2 : 1]);
    for (int i = 0; i < count; ++i) {
      if (buffers[i].order() == ByteOrder.nativeOrder()) continue;
      if (describe(handle, shapes, i, isOutput).elementBytes() == 1) continue;
      NnapiBuffers.checkOrder(buffers[i], (isOutput ? "output " : "input ") + i);
    }
  }

  private int[] counts() {
    try (Use use = new Use()) {
      return counts(use.handle);
    }
  }

  /** Holds the handle during a call: close() waits for the call's end. */
  private final class Use implements AutoCloseable {
    final long handle;
    private final Lock reading = opened.lock.readLock();

    Use() {
      reading.lock();
      handle = opened.handle;
      if (handle != 0) return;
      reading.unlock();
      throw new IllegalStateException("the model is closed");
    }

    @Override
    public void close() {
      reading.unlock();
    }
  }

  /** The native part of a model. It doesn't refer to the model, so that the cleaner can close it. */
  private static final class Native {
    final ReadWriteLock lock = new ReentrantReadWriteLock();
    long handle; // 0 after close()
    private @Nullable ByteBuffer archive; // keeps the memory of the archive; null for files

    Native(long handle, @Nullable ByteBuffer archive) {
      this.handle = handle;
      this.archive = archive;
    }

    void close() {
      Lock writing = lock.writeLock();
      writing.lock();
      try {
        if (handle != 0) NnapiModel.close(handle);
        handle = 0;
        archive = null;
      } finally {
        writing.unlock();
      }
    }
  }

  /** Shapes in the form that native code reads. */
  private static final class Shapes {
    final int[] ranks;
    final long[] sizes;

    Shapes(long handle, long[][] given) {
      long[][] shapes = given.length == 0 ? ownShapes(handle) : given;
      ranks = new int[shapes.length];
      int count = 0;
      for (int i = 0; i < shapes.length; ++i) {
        ranks[i] = Objects.requireNonNull(shapes[i], "shape " + i).length;
        count += ranks[i];
      }
      sizes = new long[count];
      int at = 0;
      for (long[] shape : shapes) {
        System.arraycopy(shape, 0, sizes, at, shape.length);
        at += shape.length;
      }
    }

    private static long[][] ownShapes(long handle) {
      long[][] shapes = new long[counts(handle)[0]][];
      for (int i = 0; i < shapes.length; ++i) shapes[i] = argumentSizes(handle, i);
      return shapes;
    }
  }

  private static int[] positions(ByteBuffer[] buffers, String what, boolean isWritten) {
    int[] positions = new int[2 * buffers.length]; // for each buffer its position and its limit
    for (int i = 0; i < buffers.length; ++i) {
      ByteBuffer buffer = buffers[i];
      NnapiBuffers.check(buffer, what + " " + i);
      if (isWritten && buffer.isReadOnly()) throw new IllegalArgumentException(what + " " + i + " is read-only");
      positions[2 * i] = buffer.position();
      positions[2 * i + 1] = buffer.limit();
    }
    return positions;
  }

  private static native long openFile(String path);

  private static native long openDescriptor(int descriptor, long offset, long bytes);

  private static native long openMemory(ByteBuffer archive, long bytes);

  private static native long openReader(NnapiReader reader, long bytes) throws IOException;

  static native void probe(String path, @Nullable String[] strings, long[] numbers);

  private static native void configure(long handle, @Nullable String[] strings, long[] numbers);

  private static native int[] counts(long handle);

  private static native long[] argumentSizes(long handle, int argument);

  private static native long[] describe(long handle, int[] ranks, long[] sizes, int index, boolean isOutput);

  private static native void warmUp(long handle, int[] ranks, long[] sizes);

  private static native void run(
      long handle, int[] ranks, long[] sizes, ByteBuffer[] inputs, int[] inputPositions, ByteBuffer[] outputs,
      int[] outputPositions);

  private static native float[][] runFloats(long handle, int[] ranks, long[] sizes, float[][] inputs);

  private static native long call(
      long handle, String method, String[] paths, int[] types, long[][] sizes, ByteBuffer[] data);

  private static native void fillPicture(
      long handle, ByteBuffer[] planes, long[] picture, long[] tensor, ByteBuffer buffer, int position, int limit);

  private static native void pictureBoxes(
      long handle, ByteBuffer[] planes, long[] picture, long[] tensor, float[] boxes);

  private static native long[] pictureTensor(long handle);

  private static native @Nullable String pictureArgument(long handle);

  private static native String[] labels(long handle);

  private static native int[] top(long handle, float[] scores, int count);

  private static native String[] notes(long handle);

  private static native long[] profile(long handle);

  private static native String devices(long handle);

  private static native String choice(long handle);

  private static native String state(long handle);

  private static native void close(long handle);
}
