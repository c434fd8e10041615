// SPDX-License-Identifier: BSD-3-Clause
package org.nnapiconvert.sample;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Locale;
import java.util.Random;
import org.nnapiconvert.NnapiModel;
import org.nnapiconvert.NnapiTensor;

/** Runs a model of fixed sizes on random numbers. It uses nothing of Android. */
public final class ModelTrial {
  private static final int RUNS = 20;

  private ModelTrial() {}

  /** Returns the model's tensors, the time of a run, and the range of each result of numbers. */
  public static String run(NnapiModel model) {
    if (model.inputCount() == 0) return "The model runs in parts, by the names of its arguments. A touch takes a picture.";
    StringBuilder text = new StringBuilder();
    Random random = new Random(1);
    ByteBuffer[] inputs = new ByteBuffer[model.inputCount()];
    for (int i = 0; i < inputs.length; ++i) {
      NnapiTensor tensor = model.input(i);
      inputs[i] = filled(tensor, random);
      text.append(String.format(Locale.ROOT, "input %d: %s%n", i, tensor));
    }
    ByteBuffer[] outputs = new ByteBuffer[model.outputCount()];
    for (int i = 0; i < outputs.length; ++i) outputs[i] = buffer(model.output(i));
    model.run(inputs, outputs); // compiles
    long start = System.nanoTime();
    for (int i = 0; i < RUNS; ++i) model.run(inputs, outputs);
    double milliseconds = (System.nanoTime() - start) / 1e6 / RUNS;
    for (int i = 0; i < outputs.length; ++i) {
      text.append(String.format(Locale.ROOT, "output %d: %s%s%n", i, model.output(i), range(model.output(i), outputs[i])));
    }
    if (!model.choice().isEmpty()) text.append(model.choice()).append('\n');
    String weights = model.profile().weightsAreMapped ? "mapped" : "copied";
    return text.append(String.format(Locale.ROOT, "weights %s, %.2f ms each run%n", weights, milliseconds)).toString();
  }

  private static ByteBuffer buffer(NnapiTensor tensor) {
    return ByteBuffer.allocateDirect((int) tensor.bytes).order(ByteOrder.nativeOrder());
  }

  /** Fills an input: floats from -1 to 1, any bytes for 8-bit integers, zeros for other types, which may be indices. */
  private static ByteBuffer filled(NnapiTensor tensor, Random random) {
    ByteBuffer buffer = buffer(tensor);
    if (tensor.type == NnapiTensor.FLOAT32) {
      while (buffer.hasRemaining()) buffer.putFloat(2 * random.nextFloat() - 1);
    } else if (tensor.type == NnapiTensor.QUANT8_ASYMM || tensor.type == NnapiTensor.QUANT8_ASYMM_SIGNED) {
      while (buffer.hasRemaining()) buffer.put((byte) random.nextInt(256));
    }
    buffer.clear();
    return buffer;
  }

  private static String range(NnapiTensor tensor, ByteBuffer values) {
    if (tensor.type != NnapiTensor.FLOAT32) return "";
    float lowest = Float.POSITIVE_INFINITY;
    float highest = Float.NEGATIVE_INFINITY;
    for (int i = 0; i < tensor.bytes; i += Float.BYTES) {
      lowest = Math.min(lowest, values.getFloat(i));
      highest = Math.max(highest, values.getFloat(i));
    }
    return String.format(Locale.ROOT, ", %.4g to %.4g", lowest, highest);
  }
}
