package org.nnapiconvert.gradle

import org.gradle.api.Action
import org.gradle.api.Project
import org.gradle.api.file.DirectoryProperty
import org.gradle.api.file.RegularFileProperty

/** Lazy values and tasks, by the functions of the Gradle that runs: 4.9 and 5.0 replaced those of 4.4. */
class Lazy {
    static RegularFileProperty file(Project project) {
        has(project.objects, 'fileProperty') ? project.objects.fileProperty() : project.layout.fileProperty()
    }

    static DirectoryProperty directory(Project project) {
        has(project.objects, 'directoryProperty') ? project.objects.directoryProperty() : project.layout.directoryProperty()
    }

    /** Gives a task's provider, so that the task is made only where it is needed; before Gradle 4.9 the task. */
    static Object task(Project project, String name, Class type, Closure configure) {
        Action action = { configure.call(it) } as Action
        has(project.tasks, 'register') ? project.tasks.register(name, type, action) : project.tasks.create(name, type, action)
    }

    private static boolean has(Object object, String function) {
        !object.metaClass.respondsTo(object, function).empty
    }
}
