// A small app for one model, and the shim beside it as a module. With the Android SDK, its NDK, JDK 17 and Gradle 9.4.1 or
// later:
//     cp out.pt sample/src/main/assets/model.pt        (out.pt: written by nnapi-convert --runtime shim)
//     gradle -p sample installDebug
pluginManagement {
    repositories {
        google()
        mavenCentral()
        gradlePluginPortal()
    }
    plugins {
        id("com.android.application") version "9.2.0"
        id("com.android.library") version "9.2.0"
    }
}
dependencyResolutionManagement {
    repositories {
        google()
        mavenCentral()
    }
}

rootProject.name = "nnapi_shim_sample"
include(":nnapi_shim")
project(":nnapi_shim").projectDir = file("..")
