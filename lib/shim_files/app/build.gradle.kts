// The shim as an Android library module: settings.gradle.kts names this folder, and the app depends on it by
// `implementation(project(":nnapi_shim"))`. Java and Kotlin use org.nnapiconvert.NnapiModel. C++ uses the prefab package:
// `buildFeatures { prefab = true }`, `find_package(nnapi_shim REQUIRED CONFIG)`, and link nnapi_shim::nnapi_shim; such an app
// has to be built with `-DANDROID_STL=c++_shared`, as the shim is. libc++_shared.so adds 0.9 MB for each kind of processor to a
// package that has it not yet.
//
// Needs version 8.9.1 or later of the Android Gradle Plugin, the first for API level 36, which aligns libraries within the
// package for pages of 16 KiB, and NDK r28 or later, whose libc++_shared.so is aligned so; Google Play asks for both of apps
// that target Android 15 or later.
plugins { id("com.android.library") }

android {
    namespace = "nnapi.convert.shim"
    compileSdk = 36
    ndkVersion = "28.2.13676358" // r28c

    defaultConfig {
        minSdk = 27 // Android 8.1, the first with NNAPI
        consumerProguardFiles("consumer-rules.pro")
        externalNativeBuild {
            cmake {
                arguments("-DANDROID_STL=c++_shared", "-DCMAKE_BUILD_TYPE=Release")
                targets("nnapi_shim", "nnapi_shim_jni")
            }
        }
    }
    externalNativeBuild { cmake { path = file("CMakeLists.txt") } }

    buildFeatures { prefabPublishing = true }
    prefab { create("nnapi_shim") { headers = "include" } }
}

// Annotations that say where null may be. The package doesn't contain them.
dependencies { compileOnly("org.jspecify:jspecify:1.0.0") }
