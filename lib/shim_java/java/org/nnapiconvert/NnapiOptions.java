// SPDX-License-Identifier: BSD-3-Clause
package org.nnapiconvert;

import java.io.File;
import org.jspecify.annotations.Nullable;

/** The options for running a model. A new object holds the defaults: NNAPI chooses the devices. */
public final class NnapiOptions {
  /** The devices that may run the model, in the order of nnapi_shim_device_kind in nnapi_shim.h. */
  public enum DeviceKind {
    ANY,
    GPU,
    ACCELERATOR,
    /** A driver's CPU device, or NNAPI's own. */
    CPU,
    /** All devices but NNAPI's own CPU, nnapi-reference. */
    NOT_REFERENCE_CPU
  }

  /** The aim of compilation: the model's own choice, then ANEURALNETWORKS_PREFER_* in NNAPI's order. */
  public enum Preference {
    OF_THE_MODEL,
    LOW_POWER,
    FAST_SINGLE_ANSWER,
    SUSTAINED_SPEED
  }

  /** The priority of this model's work for the driver. */
  public enum Priority {
    DEFAULT(0),
    LOW(90),
    MEDIUM(100),
    HIGH(110);

    final int number; // ANEURALNETWORKS_PRIORITY_*

    Priority(int number) {
      this.number = number;
    }
  }

  private @Nullable String library;
  private @Nullable String device;
  private @Nullable String cacheDirectory;
  private boolean isSupportLibrary;
  private boolean measuresTiming;
  private DeviceKind deviceKind = DeviceKind.ANY;
  private Preference preference = Preference.OF_THE_MODEL;
  private long compileTimeoutNs;
  private long executeTimeoutNs;
  private int maxCompiled;
  private boolean skipsSelfCheck;
  private int variant;
  private boolean measuresModels;
  private @Nullable String driverRules;
  private @Nullable String driverRulesFile;
  private Priority priority = Priority.DEFAULT;
  private long loopTimeoutNs;
  private boolean avoidsBursts;
  private boolean avoidsReuse;

  /** Sets the path of the NNAPI library, in place of libneuralnetworks.so. */
  public NnapiOptions library(@Nullable String path) {
    library = path;
    return this;
  }

  /** Sets the path of an NNAPI support library: drivers shipped with the app. */
  public NnapiOptions supportLibrary(String path) {
    library = path;
    isSupportLibrary = true;
    return this;
  }

  /** Sets the name of the one device to use, in place of a kind. */
  public NnapiOptions device(@Nullable String name) {
    device = name;
    return this;
  }

  public NnapiOptions deviceKind(DeviceKind kind) {
    deviceKind = kind;
    return this;
  }

  public NnapiOptions preference(Preference choice) {
    preference = choice;
    return this;
  }

  /** Limits compilation; 0: no limit. Needs exactly one device. */
  public NnapiOptions compileTimeoutNs(long nanoseconds) {
    compileTimeoutNs = notNegative(nanoseconds, "compileTimeoutNs");
    return this;
  }

  /** Limits each run; 0: no limit. Needs exactly one device. */
  public NnapiOptions executeTimeoutNs(long nanoseconds) {
    executeTimeoutNs = notNegative(nanoseconds, "executeTimeoutNs");
    return this;
  }

  /** Asks the driver for the device's time. Needs exactly one device. */
  public NnapiOptions measureTiming(boolean measures) {
    measuresTiming = measures;
    return this;
  }

  /** Sets the folder in which drivers keep compiled models, such as an app's {@code getCodeCacheDir()}. */
  public NnapiOptions cacheDirectory(File folder) {
    cacheDirectory = folder.getPath();
    return this;
  }

  /** Sets how many shapes stay compiled; 0: 4. */
  public NnapiOptions maxCompiled(int shapes) {
    maxCompiled = (int) notNegative(shapes, "maxCompiled");
    return this;
  }

  /** Runs no samples of the file before a device is trusted. */
  public NnapiOptions noSelfCheck(boolean skips) {
    skipsSelfCheck = skips;
    return this;
  }

  /** Sets the number of the package's model to use, from 1 on; 0: the library chooses. */
  public NnapiOptions variant(int number) {
    variant = (int) notNegative(number, "variant");
    return this;
  }

  /** Runs all models of a package that suit this phone, and uses the fastest. */
  public NnapiOptions measureModels(boolean measures) {
    measuresModels = measures;
    return this;
  }

  /** Sets the rules about drivers that are known to be wrong, as JSON, in place of the library's own. */
  public NnapiOptions driverRules(@Nullable String json) {
    driverRules = json;
    return this;
  }

  /** Sets a file of such rules. */
  public NnapiOptions driverRules(File file) {
    driverRulesFile = file.getPath();
    return this;
  }

  /** Sets the priority of the model's work. NNAPI ignores it before Android 11. */
  public NnapiOptions priority(Priority choice) {
    priority = choice;
    return this;
  }

  /** Limits each WHILE operation; 0: NNAPI's default. */
  public NnapiOptions loopTimeoutNs(long nanoseconds) {
    loopTimeoutNs = notNegative(nanoseconds, "loopTimeoutNs");
    return this;
  }

  /** Uses no bursts, even if NNAPI has them. */
  public NnapiOptions noBurst(boolean avoids) {
    avoidsBursts = avoids;
    return this;
  }

  /** Makes a new execution for each run, even if NNAPI can reuse executions. */
  public NnapiOptions noReuse(boolean avoids) {
    avoidsReuse = avoids;
    return this;
  }

  private static long notNegative(long value, String option) {
    if (value < 0) throw new IllegalArgumentException(option + " " + value + " found, 0 or more needed");
    return value;
  }

  @Nullable String[] strings() {
    return new String[] {library, device, cacheDirectory, driverRules, driverRulesFile};
  }

  long[] numbers() {
    return new long[] {
      isSupportLibrary ? 1 : 0,
      deviceKind.ordinal(),
      preference.ordinal(),
      compileTimeoutNs,
      executeTimeoutNs,
      measuresTiming ? 1 : 0,
      maxCompiled,
      skipsSelfCheck ? 1 : 0,
      variant,
      measuresModels ? 1 : 0,
      priority.number,
      loopTimeoutNs,
      avoidsBursts ? 1 : 0,
      avoidsReuse ? 1 : 0
    };
  }
}
