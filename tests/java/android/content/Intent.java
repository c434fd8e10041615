package android.content;

import android.app.Service;

/** Takes the place of Android's class of this name: names a service. */
public final class Intent {
  private final Class<?> type;

  public Intent(Context context, Class<?> type) {
    this.type = type;
  }

  Service service() {
    try {
      return (Service) type.getDeclaredConstructor().newInstance();
    } catch (ReflectiveOperationException error) {
      throw new IllegalStateException(error);
    }
  }
}
