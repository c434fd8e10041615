package android.view;

/** Takes the place of Android's class of this name. */
public class View {}
