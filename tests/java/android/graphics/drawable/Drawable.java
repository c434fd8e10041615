// SPDX-License-Identifier: BSD-3-Clause
package android.graphics.drawable;

/** Takes the place of Android's class of this name. */
public class Drawable {}
