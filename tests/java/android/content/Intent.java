// SPDX-License-Identifier: BSD-3-Clause
package android.content;

import android.app.Service;
import java.util.HashMap;
import java.util.Map;

/** Takes the place of Android's class of this name: names a service or an action, and holds an answer. */
public final class Intent {
  private final Class<?> type;
  private final Map<String, Object> extras = new HashMap<>();
  private String action;

  public Intent(Context context, Class<?> type) {
    this.type = type;
  }

  public Intent(String action) {
    this.type = null;
    this.action = action;
  }

  public String getAction() {
    return action;
  }

  public Intent putExtra(String name, Object value) {
    extras.put(name, value);
    return this;
  }

  @SuppressWarnings("unchecked")
  public <T> T getParcelableExtra(String name) {
    return (T) extras.get(name);
  }

  Service service() {
    try {
      return (Service) type.getDeclaredConstructor().newInstance();
    } catch (ReflectiveOperationException error) {
      throw new IllegalStateException(error);
    }
  }
}
