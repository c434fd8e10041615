// SPDX-License-Identifier: BSD-3-Clause
package android.os;

import java.util.ArrayDeque;
import java.util.Queue;

/** Takes the place of Android's class of this name: gives what was written, in its order. */
public final class Parcel {
  private final Queue<Object> values = new ArrayDeque<>();

  public static Parcel obtain() {
    return new Parcel();
  }

  public void recycle() {}

  public void writeInt(int value) {
    values.add(value);
  }

  public void writeString(String value) {
    values.add(value);
  }

  public void writeStringArray(String[] value) {
    values.add(value);
  }

  public void writeLongArray(long[] value) {
    values.add(value);
  }

  public int readInt() {
    return (Integer) values.remove();
  }

  public String readString() {
    return (String) values.remove();
  }

  public String[] createStringArray() {
    return (String[]) values.remove();
  }

  public long[] createLongArray() {
    return (long[]) values.remove();
  }
}
