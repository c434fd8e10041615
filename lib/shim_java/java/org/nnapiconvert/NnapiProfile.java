// SPDX-License-Identifier: BSD-3-Clause
package org.nnapiconvert;

/** Measurements of a model. Times are in nanoseconds; 0 means not measured. */
public final class NnapiProfile {
  /** The time of building NNAPI's model for the newest compiled shape. */
  public final long buildNs;
  /** The time of compiling the model for the newest compiled shape. */
  public final long compileNs;
  public final long executions;
  public final long lastExecuteNs;
  public final long totalExecuteNs;
  /** The last run's time on the device, with {@link NnapiOptions#measureTiming}. */
  public final long lastOnDeviceNs;
  /** The last run's time in the driver, with {@link NnapiOptions#measureTiming}. */
  public final long lastInDriverNs;
  /** The number of shapes compiled so far, including dropped ones. */
  public final int compiled;
  /** NNAPI's feature level on this phone; 0: NNAPI is not loaded yet. */
  public final int featureLevel;
  public final long weightBytes;
  /** Whether NNAPI maps the weights from the file, without a copy. */
  public final boolean weightsAreMapped;
  /** The names of the devices, separated by ", "; empty: NNAPI chooses. */
  public final String devices;

  // The numbers are those of nnapi_shim_profile, in its order.
  NnapiProfile(long[] numbers, String devices) {
    buildNs = numbers[0];
    compileNs = numbers[1];
    executions = numbers[2];
    lastExecuteNs = numbers[3];
    totalExecuteNs = numbers[4];
    lastOnDeviceNs = numbers[5];
    lastInDriverNs = numbers[6];
    compiled = (int) numbers[7];
    featureLevel = (int) numbers[8];
    weightBytes = numbers[9];
    weightsAreMapped = numbers[10] != 0;
    this.devices = devices;
  }
}
