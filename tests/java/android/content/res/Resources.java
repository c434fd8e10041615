// SPDX-License-Identifier: BSD-3-Clause
package android.content.res;

/** Takes the place of Android's class of this name. */
public final class Resources {}
