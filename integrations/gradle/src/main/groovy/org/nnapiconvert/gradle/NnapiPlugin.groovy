package org.nnapiconvert.gradle

import org.gradle.api.GradleException
import org.gradle.api.Plugin
import org.gradle.api.Project

/**
 * Adds the block nnapiModels, a task for each model in it, and nnapiModels, which runs them all. In an Android project the
 * results are assets of the app.
 */
class NnapiPlugin implements Plugin<Project> {
    @Override
    void apply(Project project) {
        NnapiExtension extension = project.extensions.create('nnapiModels', NnapiExtension, project.container(NnapiModel))
        def all = project.tasks.create('convertNnapiModels')
        all.group = 'build'
        all.description = 'Converts the TorchScript models of nnapiModels to NNAPI.'
        File assets = new File(project.buildDir, 'generated/nnapi/assets')
        ['com.android.application', 'com.android.library'].each { id ->
            project.plugins.withId(id) {
                project.extensions.getByName('android').sourceSets.getByName('main').assets.srcDir(assets)
                project.tasks.matching { it.name == 'preBuild' }.all { it.dependsOn(all) }
            }
        }
        project.afterEvaluate {
            extension.models.each { model -> all.dependsOn(addTask(project, extension, model, assets)) }
        }
    }

    private static NnapiConvert addTask(Project project, NnapiExtension extension, NnapiModel model, File assets) {
        if (model.model == null) throw new GradleException("nnapiModels.${model.name}: model is missing".toString())
        NnapiConvert task = project.tasks.create("convert${model.name.capitalize()}ToNnapi", NnapiConvert)
        task.description = "Converts ${model.model} to NNAPI."
        task.model = project.file(model.model)
        task.converter = program(project, extension.converter)
        task.files = project.files(model.files as Object[]) + project.files(libraries(task.converter))
        task.arguments = model.arguments()
        task.module = new File(new File(assets, extension.folder), "${model.name}.${model.extension}")
        task.report = new File(project.buildDir, "reports/nnapi/${model.name}.report.json")
        task
    }

    /** What the program loads to convert: it decides the result, too. */
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
