// SPDX-License-Identifier: BSD-3-Clause
package org.nnapiconvert;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The results of a call, by their paths in forward's result: "boxes" in a dict, "[0].scores" in a list of dicts, "" for
 * a single tensor. Numbers are arrays without sizes; None is left out.
 *
 * <pre>{@code
 * try (NnapiResult result = model.run(arguments)) {
 *   float[] boxes = result.get("boxes").floats();
 * }
 * }</pre>
 *
 * <p>{@link #close} frees the memory at once. After it the arrays throw {@link IllegalStateException}; a buffer that
 * {@link NnapiArray#buffer} returned before keeps its memory. The memory of a result that is not closed is freed some
 * time after nothing refers to it any more.
 */
public final class NnapiResult implements AutoCloseable {
  private final Map<String, NnapiArray> arrays = new LinkedHashMap<>();
  private final NnapiMemory memory;

  /** Takes over the handle of an nnapi_shim_result. */
  NnapiResult(long handle) {
    memory = new NnapiMemory(handle);
    try {
      read(handle);
    } catch (RuntimeException | Error failure) {
      memory.close();
      throw failure;
    }
    NnapiMemory.limitGarbage();
  }

  private void read(long handle) {
    int count = count(handle);
    for (int i = 0; i < count; ++i) {
      long[] numbers = describe(handle, i); // the type, then the sizes
      long[] sizes = new long[numbers.length - 1];
      System.arraycopy(numbers, 1, sizes, 0, sizes.length);
      ByteBuffer made = data(handle, i);
      if (made != null) memory.add(made);
      ByteBuffer data = made != null ? made : ByteBuffer.allocateDirect(0);
      NnapiArray.Type type = NnapiArray.Type.of((int) numbers[0]);
      arrays.put(path(handle, i), new NnapiArray(type, sizes, data.order(ByteOrder.nativeOrder()), memory));
    }
    memory.freeIfEmpty();
  }

  /** Returns the paths, in the order of forward's result. */
  public Set<String> paths() {
    return Collections.unmodifiableSet(arrays.keySet());
  }

  public boolean has(String path) {
    return arrays.containsKey(path);
  }

  /** Returns the array at a path. Throws NoSuchElementException, with the known paths, for an unknown path. */
  public NnapiArray get(String path) {
    if (memory.isClosed()) throw new IllegalStateException("the result is closed");
    NnapiArray array = arrays.get(path);
    if (array == null) throw new NoSuchElementException("no result \"" + path + "\"; there are " + arrays.keySet());
    return array;
  }

  @Override
  public void close() {
    memory.close();
  }

  private static native int count(long handle);

  private static native String path(long handle, int index);

  private static native long[] describe(long handle, int index);

  private static native @Nullable ByteBuffer data(long handle, int index);

  static native void free(long handle);
}
