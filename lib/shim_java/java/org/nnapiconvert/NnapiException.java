// SPDX-License-Identifier: BSD-3-Clause
package org.nnapiconvert;

/** A failure of the shim or of NNAPI. Its message is one sentence that tells what was found and what to do. */
public final class NnapiException extends RuntimeException {
  private static final long serialVersionUID = 1;

  /** The kinds of failures, in the order of nnapi_shim_status in nnapi_shim.h. */
  public enum Status {
    /** No failure. */
    OK,
    /** The archive is damaged, or of a version that this library does not know. */
    BAD_MODEL,
    /** The caller passed a wrong shape, size or option. */
    BAD_ARGUMENT,
    /** This phone has no NNAPI, or its NNAPI lacks functions that every model needs. */
    UNAVAILABLE,
    /** NNAPI's feature level is below what the model or an option needs. */
    TOO_OLD,
    /** No device of NNAPI matches the options. */
    NO_DEVICE,
    /** NNAPI or the driver refuses to build or compile the model. */
    REFUSED,
    /** The execution failed. */
    FAILED,
    /** Compilation or execution took longer than the options allow. */
    TIMED_OUT,
    /** A status that only a later library has. */
    OTHER
  }

  private final int status;
  private final int nnapiCode;

  NnapiException(int status, int nnapiCode, String message) {
    super(message);
    this.status = status;
    this.nnapiCode = nnapiCode;
  }

  public Status status() {
    Status[] values = Status.values();
    return status >= 0 && status < values.length ? values[status] : Status.OTHER;
  }

  /** Returns NNAPI's result code (ANEURALNETWORKS_*), or 0. */
  public int nnapiCode() {
    return nnapiCode;
  }
}
