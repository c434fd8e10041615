package org.nnapiconvert.gradle

import org.gradle.api.DefaultTask
import org.gradle.api.GradleException
import org.gradle.api.tasks.CacheableTask
import org.gradle.api.tasks.Input
import org.gradle.api.tasks.InputFile
import org.gradle.api.tasks.InputFiles
import org.gradle.api.tasks.OutputFile
import org.gradle.api.tasks.PathSensitive
import org.gradle.api.tasks.PathSensitivity
import org.gradle.api.tasks.TaskAction

/** Converts one model. Model, program and files that options name count by their contents, wherever they lie. */
@CacheableTask
class NnapiConvert extends DefaultTask {
    @InputFile
    @PathSensitive(PathSensitivity.NONE)
    File model

    @InputFile
    @PathSensitive(PathSensitivity.NONE)
    File converter

    @InputFiles
    @PathSensitive(PathSensitivity.NONE)
    Iterable<File> files = []

    @Input
    List<String> arguments = []

    @OutputFile
    File module

    @OutputFile
    File report

    @TaskAction
    void convert() {
        List<String> command = [converter.path, model.path, '--output', module.path, '--report', report.path] + arguments
        logger.info(command.join(' '))
        ProcessBuilder builder = new ProcessBuilder(command)
        builder.redirectErrorStream(true)
        Process process = builder.start()
        process.outputStream.close()
        String said = process.inputStream.getText('UTF-8')
        int code = process.waitFor()
        if (code != 0) {
            throw new GradleException("${model.name} was not converted (exit code ${code}):\n${said.trim()}".toString())
        }
        if (said) logger.lifecycle(said.trim())
    }
}
