// A small app for one model, and the shim beside it as a module. With the Android SDK and its NDK:
//     cp out.pt sample/src/main/assets/model.pt        (out.pt: written by nnapi-convert --runtime shim)
//     gradle -p sample installDebug
pluginManagement {
    repositories {
        google()
        mavenCentral()
        gradlePluginPortal()
    }
    plugins {
        id 'com.android.application' version '8.5.2'
        id 'com.android.library' version '8.5.2'
    }
}
dependencyResolutionManagement {
    repositories {
        google()
        mavenCentral()
    }
}

rootProject.name = 'nnapi_shim_sample'
include ':nnapi_shim'
project(':nnapi_shim').projectDir = new File(settingsDir, '..')
