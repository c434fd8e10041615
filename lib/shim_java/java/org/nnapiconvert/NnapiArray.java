// SPDX-License-Identifier: BSD-3-Clause
package org.nnapiconvert;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A tensor as PyTorch has it: row-major, with sizes in PyTorch's order (N, C, H, W for images). {@link
 * NnapiModel#run(java.util.Map)} takes and returns arrays. A single number has no sizes. Arrays of a result belong to
 * it: they throw {@link IllegalStateException} when it is closed.
 */
public final class NnapiArray {
  /** The types of elements, with the numbers of PyTorch's ScalarType. */
  public enum Type {
    UINT8(0, 1),
    INT8(1, 1),
    INT16(2, 2),
    INT32(3, 4),
    INT64(4, 8),
    FLOAT16(5, 2),
    FLOAT32(6, 4),
    FLOAT64(7, 8),
    BOOL(11, 1);

    final int number;
    /** Returns the size of an element in bytes. */
    public final int bytes;

    Type(int number, int bytes) {
      this.number = number;
      this.bytes = bytes;
    }

    static Type of(int number) {
      for (Type type : values()) {
        if (type.number == number) return type;
      }
      throw new IllegalArgumentException("type " + number);
    }
  }

  private final Type type;
  private final long[] sizes;
  private final ByteBuffer data;
  private final @Nullable NnapiMemory owner; // of `data`; null if the buffer keeps its memory by itself

  NnapiArray(Type type, long[] sizes, ByteBuffer data, @Nullable NnapiMemory owner) {
    this.type = type;
    this.sizes = sizes;
    this.data = data;
    this.owner = owner;
  }

  /**
   * Wraps a direct buffer: the bytes between its position and its limit. Nothing is copied. The buffer's order has to
   * be the phone's ({@link ByteOrder#nativeOrder}) if elements have several bytes.
   */
  public static NnapiArray of(Type type, ByteBuffer data, long... sizes) {
    Objects.requireNonNull(type, "type");
    NnapiBuffers.check(data, "the data");
    if (type.bytes > 1) NnapiBuffers.checkOrder(data, "the data");
    ByteBuffer kept = data.slice().order(ByteOrder.nativeOrder());
    check(type, sizes, kept.remaining());
    return new NnapiArray(type, sizes.clone(), kept, null);
  }

  /** Copies the numbers into a float32 array. */
  public static NnapiArray of(float[] numbers, long... sizes) {
    NnapiArray array = allocate(Type.FLOAT32, numbers.length, sizes);
    array.data.asFloatBuffer().put(numbers);
    return array;
  }

  /** Copies the numbers into an int32 array. */
  public static NnapiArray of(int[] numbers, long... sizes) {
    NnapiArray array = allocate(Type.INT32, numbers.length, sizes);
    array.data.asIntBuffer().put(numbers);
    return array;
  }

  /** Copies the numbers into an int64 array. */
  public static NnapiArray of(long[] numbers, long... sizes) {
    NnapiArray array = allocate(Type.INT64, numbers.length, sizes);
    array.data.asLongBuffer().put(numbers);
    return array;
  }

  /** Copies the bytes into a uint8 array. */
  public static NnapiArray of(byte[] numbers, long... sizes) {
    NnapiArray array = allocate(Type.UINT8, numbers.length, sizes);
    array.data.duplicate().put(numbers);
    return array;
  }

  public Type type() {
    return type;
  }

  public long[] sizes() {
    return sizes.clone();
  }

  /** Returns the number of elements. */
  public long count() {
    return count(sizes);
  }

  /**
   * Returns the bytes, read-only, in the phone's byte order. Nothing is copied. The buffer keeps a result's memory,
   * even if the result is closed.
   */
  public ByteBuffer buffer() {
    if (owner != null) owner.lend();
    return data.asReadOnlyBuffer().order(ByteOrder.nativeOrder());
  }

  /** Returns the memory itself, for native code to read until {@link #endRead}. Throws if the result is closed. */
  ByteBuffer beginRead() {
    if (owner != null) owner.beginRead();
    return data;
  }

  void endRead() {
    if (owner != null) owner.endRead();
  }

  /** Copies the numbers of a float32 or float64 array. */
  public float[] floats() {
    need(type == Type.FLOAT32 || type == Type.FLOAT64, "float32 or float64");
    float[] numbers = new float[(int) count()];
    ByteBuffer from = beginRead();
    try {
      if (type == Type.FLOAT32) {
        from.asFloatBuffer().get(numbers);
      } else {
        for (int i = 0; i < numbers.length; ++i) numbers[i] = (float) from.getDouble(8 * i);
      }
    } finally {
      endRead();
    }
    return numbers;
  }

  /** Copies the numbers of an array of integers or of booleans. */
  public long[] longs() {
    long[] numbers = new long[(int) count()];
    beginRead();
    try {
      for (int i = 0; i < numbers.length; ++i) numbers[i] = longAt(i);
    } finally {
      endRead();
    }
    return numbers;
  }

  private long longAt(int i) {
    switch (type) {
      case UINT8:
      case BOOL:
        return data.get(i) & 0xff;
      case INT8:
        return data.get(i);
      case INT16:
        return data.getShort(2 * i);
      case INT32:
        return data.getInt(4 * i);
      case INT64:
        return data.getLong(8 * i);
      default:
        throw new IllegalStateException("the array is of " + type + ", integers are needed");
    }
  }

  private void need(boolean holds, String needed) {
    if (!holds) throw new IllegalStateException("the array is of " + type + ", " + needed + " is needed");
  }

  private static NnapiArray allocate(Type type, int numbers, long[] sizes) {
    check(type, sizes, (long) numbers * type.bytes);
    ByteBuffer data = ByteBuffer.allocateDirect(numbers * type.bytes).order(ByteOrder.nativeOrder());
    return new NnapiArray(type, sizes.clone(), data, null);
  }

  private static void check(Type type, long[] sizes, long bytes) {
    long needed = Math.multiplyExact(count(sizes), (long) type.bytes);
    if (bytes != needed) {
      throw new IllegalArgumentException(
          bytes + " bytes found, " + needed + " needed for " + type + " " + Arrays.toString(sizes));
    }
  }

  private static long count(long[] sizes) {
    long count = 1;
    for (long size : sizes) {
      if (size < 0) throw new IllegalArgumentException("size " + size + " found, 0 or more needed");
      count = Math.multiplyExact(count, size);
    }
    return count;
  }

  @Override
  public String toString() {
    return type + " " + Arrays.toString(sizes);
  }
}
