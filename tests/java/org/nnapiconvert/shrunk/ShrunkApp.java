// SPDX-License-Identifier: BSD-3-Clause
package org.nnapiconvert.shrunk;

import java.io.EOFException;
import java.io.File;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.util.Arrays;
import org.nnapiconvert.NnapiException;
import org.nnapiconvert.NnapiModel;
import org.nnapiconvert.NnapiOptions;
import org.nnapiconvert.NnapiReader;

/** An app whose classes were shrunk and renamed: all that native code calls has to be there under its own name. */
public final class ShrunkApp {
  private ShrunkApp() {}

  public static void main(String[] arguments) throws IOException {
    File file = new File(arguments[0]);
    try (RandomAccessFile archive = new RandomAccessFile(file, "r");
        NnapiModel model = NnapiModel.open(reader(archive), file.length(), new NnapiOptions())) {
      float[] results = model.run(new float[2 * 16 * 16 * 3])[0];
      System.out.println("results " + results.length + " " + model.state() + " " + model.profile().executions);
    }
    try (NnapiModel model = NnapiModel.open(new File(arguments[1]), new NnapiOptions())) {
      System.out.println("opened " + model.inputCount());
    } catch (NnapiException error) {
      System.out.println(error.status() + " " + error.nnapiCode() + " " + error.getMessage());
    }
    try {
      NnapiModel.open((offset, destination) -> { throw new EOFException("cut off"); }, 10, new NnapiOptions());
    } catch (EOFException error) {
      System.out.println(error.getMessage() + " " + Arrays.asList(arguments).size());
    }
  }

  private static NnapiReader reader(RandomAccessFile archive) {
    return (offset, destination) -> {
      byte[] bytes = new byte[destination.remaining()];
      archive.seek(offset);
      archive.readFully(bytes);
      destination.put(bytes);
    };
  }
}
