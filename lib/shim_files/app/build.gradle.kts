// The shim as an Android library module: settings.gradle names this folder, and the app depends on it by
// `implementation project(':nnapi_shim')`. Java and Kotlin use org.nnapiconvert.NnapiModel. C++ uses the prefab package:
// `buildFeatures { prefab true }`, `find_package(nnapi_shim REQUIRED CONFIG)`, and link nnapi_shim::nnapi_shim; such an app
// has to be built with `-DANDROID_STL=c++_shared`, as the shim is.
//
// Needs version 8.5.1 or later of the Android Gradle Plugin, which aligns libraries within the package for pages of 16 KiB,
// and NDK r28 or later, whose libc++_shared.so is aligned so; Google Play asks for both of apps that target Android 15.
plugins { id 'com.android.library' }

android {
    namespace 'nnapi.convert.shim'
    compileSdk 34
    ndkVersion '28.2.13676358' // r28c

    defaultConfig {
        minSdk 27 // Android 8.1, the first with NNAPI
        consumerProguardFiles 'consumer-rules.pro'
        externalNativeBuild {
            cmake {
                arguments '-DANDROID_STL=c++_shared', '-DCMAKE_BUILD_TYPE=Release'
                targets 'nnapi_shim', 'nnapi_shim_jni'
            }
        }
    }
    externalNativeBuild { cmake { path 'CMakeLists.txt' } }

    buildFeatures { prefabPublishing true }
    prefab { nnapi_shim { headers 'include' } }
}
