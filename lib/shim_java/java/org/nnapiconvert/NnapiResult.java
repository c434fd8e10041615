// SPDX-License-Identifier: BSD-3-Clause
package org.nnapiconvert;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.Set;

/**
 * The results of a call, by their paths in what forward returns: "boxes" of a dict, "[0].scores" of a list of dicts, ""
 * of a single tensor. Numbers are arrays without sizes; what is None is left out.
 *
 * <p>{@link #close} gives the memory back; the arrays and their buffers must not be used after it.
 */
public final class NnapiResult implements AutoCloseable {
  private final Map<String, NnapiArray> arrays = new LinkedHashMap<>();
  private long handle;

  /** Takes over the handle of an nnapi_shim_result. */
  NnapiResult(long handle) {
    this.handle = handle;
    int count = count(handle);
    for (int i = 0; i < count; ++i) {
      long[] numbers = describe(handle, i); // the type, then the sizes
      long[] sizes = new long[numbers.length - 1];
      System.arraycopy(numbers, 1, sizes, 0, sizes.length);
      ByteBuffer data = data(handle, i);
      ByteBuffer ordered = (data != null ? data : ByteBuffer.allocateDirect(0)).order(ByteOrder.nativeOrder());
      arrays.put(path(handle, i), new NnapiArray(NnapiArray.Type.of((int) numbers[0]), sizes, ordered));
    }
  }

  /** The paths, in the order of what forward returns. */
  public Set<String> paths() {
    return Collections.unmodifiableSet(arrays.keySet());
  }

  public boolean has(String path) {
    return arrays.containsKey(path);
  }

  /** Throws NoSuchElementException, with the paths that there are, for another one. */
  public NnapiArray get(String path) {
    if (handle == 0) throw new IllegalStateException("the result is closed");
    NnapiArray array = arrays.get(path);
    if (array == null) throw new NoSuchElementException("no result \"" + path + "\"; there are " + arrays.keySet());
    return array;
  }

  @Override
  public void close() {
    if (handle != 0) free(handle);
    handle = 0;
    arrays.clear();
  }

  private static native int count(long handle);

  private static native String path(long handle, int index);

  private static native long[] describe(long handle, int index);

  private static native ByteBuffer data(long handle, int index);

  private static native void free(long handle);
}
