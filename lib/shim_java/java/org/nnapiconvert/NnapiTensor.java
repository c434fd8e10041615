// SPDX-License-Identifier: BSD-3-Clause
package org.nnapiconvert;

import java.util.Arrays;

/** An input or output tensor in NNAPI's form. */
public final class NnapiTensor {
  /** ANEURALNETWORKS_TENSOR_FLOAT32, the value of {@link #type} for float tensors. */
  public static final int FLOAT32 = 3;
  /** ANEURALNETWORKS_TENSOR_INT32. */
  public static final int INT32 = 4;
  /** ANEURALNETWORKS_TENSOR_QUANT8_ASYMM: unsigned bytes. */
  public static final int QUANT8_ASYMM = 5;
  /** ANEURALNETWORKS_TENSOR_BOOL8. */
  public static final int BOOL8 = 9;
  /** ANEURALNETWORKS_TENSOR_QUANT8_ASYMM_SIGNED: signed bytes. */
  public static final int QUANT8_ASYMM_SIGNED = 14;

  private static final int MOST_AXES = 8;

  /** The type, ANEURALNETWORKS_TENSOR_*. */
  public final int type;
  /** The scale of a quantised type: a number q stands for scale * (q - zeroPoint). */
  public final float scale;
  public final int zeroPoint;
  /** The size in bytes. */
  public final long bytes;
  /** For an input: the index of forward's argument. */
  public final int argument;
  /** Whether the axes are N, H, W, C here, and N, C, H, W for callers of the TorchScript module. */
  public final boolean isNhwc;

  /** The description of the tensor in the form that native code reads. */
  final long[] numbers;

  private final long[] sizes;

  // The numbers are those of nnapi_shim_tensor, in its order.
  NnapiTensor(long[] numbers) {
    this.numbers = numbers;
    type = (int) numbers[0];
    sizes = Arrays.copyOfRange(numbers, 2, 2 + (int) numbers[1]);
    int at = 2 + MOST_AXES;
    scale = Float.intBitsToFloat((int) numbers[at]);
    zeroPoint = (int) numbers[at + 1];
    bytes = numbers[at + 2];
    argument = (int) numbers[at + 3];
    isNhwc = numbers[at + 4] != 0;
  }

  /** Returns the sizes in NNAPI's order. */
  public long[] sizes() {
    return sizes.clone();
  }

  /** Returns the bytes of an element; 1 for a tensor without elements. */
  long elementBytes() {
    long count = 1;
    for (long size : sizes) count *= size;
    return count > 0 ? bytes / count : 1;
  }

  @Override
  public String toString() {
    return "type " + type + " " + Arrays.toString(sizes) + (isNhwc ? " NHWC" : "")
        + (scale != 0 ? ", scale " + scale + ", zero point " + zeroPoint : "");
  }
}
