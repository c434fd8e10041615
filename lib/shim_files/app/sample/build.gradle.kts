plugins { id("com.android.application") }

android {
    namespace = "org.nnapiconvert.sample"
    compileSdk = 36

    defaultConfig {
        applicationId = "org.nnapiconvert.sample"
        minSdk = 27
        targetSdk = 36
        versionCode = 1
        versionName = "1"
    }
}

dependencies { implementation(project(":nnapi_shim")) }
