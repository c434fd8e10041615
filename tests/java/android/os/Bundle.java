// SPDX-License-Identifier: BSD-3-Clause
package android.os;

/** Takes the place of Android's class of this name. */
public final class Bundle {}
