// SPDX-License-Identifier: BSD-3-Clause
package android.os;

/** Takes the place of Android's class of this name. */
public class RemoteException extends Exception {
  private static final long serialVersionUID = 1;
}
