package org.nnapiconvert.gradle

import org.gradle.api.NamedDomainObjectContainer

/** The block nnapiModels: each name in it is a model. */
class NnapiExtension {
    private final NamedDomainObjectContainer<NnapiModel> models
    /** The program: a file, or a name to be looked for on PATH. */
    Object converter = 'nnapi-convert'
    /** Folder below the app's assets. */
    String folder = ''

    NnapiExtension(NamedDomainObjectContainer<NnapiModel> models) {
        this.models = models
    }

    NamedDomainObjectContainer<NnapiModel> getModels() {
        models
    }

    def methodMissing(String name, Object arguments) {
        Object[] given = arguments as Object[]
        if (given.length != 1 || !(given[0] instanceof Closure)) {
            throw new MissingMethodException(name, NnapiExtension, given)
        }
        NnapiModel model = models.maybeCreate(name)
        Closure block = given[0].clone() as Closure
        block.delegate = model
        block.resolveStrategy = Closure.DELEGATE_FIRST
        block.call(model)
        model
    }
}
