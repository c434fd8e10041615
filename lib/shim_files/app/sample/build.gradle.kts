plugins { id 'com.android.application' }

android {
    namespace 'org.nnapiconvert.sample'
    compileSdk 34

    defaultConfig {
        applicationId 'org.nnapiconvert.sample'
        minSdk 27
        targetSdk 34
        versionCode 1
        versionName '1'
    }
}

dependencies { implementation project(':nnapi_shim') }
