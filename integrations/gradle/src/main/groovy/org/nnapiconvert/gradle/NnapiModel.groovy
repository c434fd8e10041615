package org.nnapiconvert.gradle

/** One model of the block nnapiModels: the file, and how it is converted. */
class NnapiModel {
    final String name
    /** One file, in any form that project.files() takes: a path, or a task or provider that makes it. */
    Object model
    /** Shapes of the arguments of forward, as --input has them. */
    List<String> inputs = []
    boolean nhwc = false
    String quant = 'auto'
    /** Runs original and result on the machine that builds, and compares. */
    boolean verify = false
    /** Also writes the model for LiteRT, beside the module: NAME.tflite. */
    boolean litert = false
    /** Further options of nnapi-convert. */
    List<String> options = []
    /** Files that options name: the model is converted again when they change. */
    List<Object> files = []
    /** pt, or ptl for the lite interpreter. */
    String extension = 'pt'

    NnapiModel(String name) {
        this.name = name
    }

    void inputs(String... shapes) {
        inputs = shapes as List
    }

    void options(String... words) {
        options = words as List
    }

    List<String> arguments() {
        List<String> words = []
        inputs.each { words += ['--input', it.toString()] }
        if (nhwc) words << '--nhwc'
        words += ['--quant', quant]
        if (verify) words << '--verify'
        words + options.collect { it.toString() }
    }
}
