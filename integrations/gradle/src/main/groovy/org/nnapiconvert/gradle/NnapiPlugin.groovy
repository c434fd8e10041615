package org.nnapiconvert.gradle

import org.gradle.api.Action
import org.gradle.api.DefaultTask
import org.gradle.api.GradleException
import org.gradle.api.Plugin
import org.gradle.api.Project

/**
 * Adds the block nnapiModels, a task for each model in it, and convertNnapiModels, which runs them all. In an Android
 * project the results are assets of the app. Files, options and the program are read when a task needs them.
 */
class NnapiPlugin implements Plugin<Project> {
    @Override
    void apply(Project project) {
        NnapiExtension extension = project.extensions.create('nnapiModels', NnapiExtension, project.container(NnapiModel))
        Map<String, Object> tasks = [:]  // by model: a task or its provider
        extension.models.all { NnapiModel model -> tasks[model.name] = addTask(project, extension, model) }
        def all = Lazy.task(project, 'convertNnapiModels', DefaultTask) {
            it.group = 'build'
            it.description = 'Converts the TorchScript models of nnapiModels to NNAPI.'
            it.dependsOn({ tasks.values() })
        }
        ['com.android.application', 'com.android.library'].each { id ->
            project.plugins.withId(id) { addAssets(project, tasks, all) }
        }
    }

    private static Object addTask(Project project, NnapiExtension extension, NnapiModel model) {
        Lazy.task(project, "convert${model.name.capitalize()}ToNnapi", NnapiConvert) { NnapiConvert task ->
            task.description = "Converts ${model.name} to NNAPI."
            task.model.from({
                if (model.model == null) throw new GradleException("nnapiModels.${model.name}: model is missing".toString())
                model.model
            })
            task.converter.from({ program(project, extension.converter) })
            task.converter.from({ libraries(program(project, extension.converter)) })
            task.files.from({ model.files })
            task.arguments.set(project.provider { model.arguments() })
            task.place.set(project.provider { place(extension.folder, model, model.extension) })
            task.litertPlace.set(project.provider { model.litert ? place(extension.folder, model, 'tflite') : '' })
            task.assets.set(project.layout.buildDirectory.dir("generated/nnapi/${model.name}".toString()))
            task.report.set(project.layout.buildDirectory.file("reports/nnapi/${model.name}.report.json".toString()))
        }
    }

    private static String place(String folder, NnapiModel model, String extension) {
        (folder ? folder + '/' : '') + model.name + '.' + extension
    }

    /** By the variant interface of Android's plugin (7.4 and later), else by source sets. */
    private static void addAssets(Project project, Map<String, Object> tasks, Object all) {
        def components = project.extensions.findByName('androidComponents')
        if (components != null && hasVariantSources(components.pluginVersion)) {
            components.onVariants(components.selector().all(), { variant ->
                tasks.values().each { task -> variant.sources.assets?.addGeneratedSourceDirectory(task) { it.assets } }
            } as Action)
            return
        }
        def main = project.extensions.getByName('android').sourceSets.getByName('main')
        project.afterEvaluate {
            tasks.keySet().each { name ->
                main.assets.srcDir(project.layout.buildDirectory.dir("generated/nnapi/${name}".toString()).get().asFile)
            }
        }
        project.tasks.matching { it.name == 'preBuild' }.all { it.dependsOn(all) }
    }

    private static boolean hasVariantSources(Object version) {
        version.major > 7 || (version.major == 7 && version.minor >= 4)
    }

    private static List<File> libraries(File program) {
        File root = program.canonicalFile.parentFile.parentFile
        List<String> folders = ['lib', 'lib/x86_64-linux-gnu', 'lib/aarch64-linux-gnu']
        folders.collect { new File(root, "${it}/nnapi-convert/libnnapi_convert_engine.so") }.findAll { it.isFile() }
    }

    private static File program(Project project, Object converter) {
        String name = converter.toString()
        if (converter instanceof File || name.contains('/')) return project.file(converter)
        File found = (System.getenv('PATH') ?: '').split(File.pathSeparator).collect { new File(it, name) }.find { it.canExecute() }
        if (found == null) throw new GradleException("nnapiModels: no ${name} on PATH; set converter".toString())
        found
    }
}
