package org.nnapiconvert.gradle

import org.gradle.api.DefaultTask
import org.gradle.api.GradleException
import org.gradle.api.file.ConfigurableFileCollection
import org.gradle.api.file.DirectoryProperty
import org.gradle.api.file.RegularFileProperty
import org.gradle.api.provider.ListProperty
import org.gradle.api.provider.Property
import org.gradle.api.tasks.CacheableTask
import org.gradle.api.tasks.Input
import org.gradle.api.tasks.InputFiles
import org.gradle.api.tasks.OutputDirectory
import org.gradle.api.tasks.OutputFile
import org.gradle.api.tasks.PathSensitive
import org.gradle.api.tasks.PathSensitivity
import org.gradle.api.tasks.TaskAction

/**
 * Converts one model. Model, program and files that options name count by their contents, wherever they lie. The action
 * reads nothing but these properties, so that Gradle can keep the task in its configuration cache.
 */
@CacheableTask
class NnapiConvert extends DefaultTask {
    /** The one file to convert. */
    @InputFiles
    @PathSensitive(PathSensitivity.NONE)
    final ConfigurableFileCollection model = project.files()

    /** The program, and what it loads to convert: it decides the result, too. */
    @InputFiles
    @PathSensitive(PathSensitivity.NONE)
    final ConfigurableFileCollection converter = project.files()

    @InputFiles
    @PathSensitive(PathSensitivity.NONE)
    final ConfigurableFileCollection files = project.files()

    @Input
    final ListProperty<String> arguments = project.objects.listProperty(String)

    /** Where the result lies below the folder `assets`. */
    @Input
    final Property<String> place = project.objects.property(String)

    /** Where the file for LiteRT lies below the folder `assets`; empty: none is written. */
    @Input
    final Property<String> litertPlace = project.objects.property(String)

    /** Has the results and nothing else. */
    @OutputDirectory
    final DirectoryProperty assets = Lazy.directory(project)

    @OutputFile
    final RegularFileProperty report = Lazy.file(project)

    @TaskAction
    void convert() {
        if (model.files.size() != 1) {
            throw new GradleException("${name}: ${model.files.size()} models found, one needed".toString())
        }
        File original = model.singleFile
        File result = new File(assets.get().asFile, place.get())
        // What another name or extension left.
        assets.get().asFile.listFiles()?.each { it.directory ? it.deleteDir() : it.delete() }
        result.parentFile.mkdirs()
        report.get().asFile.parentFile.mkdirs()
        List<String> command = [converter.files[0].path, original.path, '--output', result.path,
                                '--report', report.get().asFile.path] + litertArguments() + arguments.get()
        logger.info(command.join(' '))
        ProcessBuilder builder = new ProcessBuilder(command)
        builder.redirectErrorStream(true)
        Process process = builder.start()
        process.outputStream.close()
        String said = process.inputStream.getText('UTF-8')
        int code = process.waitFor()
        if (code != 0) {
            throw new GradleException("${original.name} was not converted (exit code ${code}):\n${said.trim()}".toString())
        }
        if (said) logger.lifecycle(said.trim())
    }

    private List<String> litertArguments() {
        litertPlace.get() ? ['--litert', new File(assets.get().asFile, litertPlace.get()).path] : []
    }
}
