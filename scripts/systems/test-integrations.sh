#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests the rules for Bazel and the plugin for Gradle with Debian's packages of both, offline, lines in Kotlin (the docs' and those of
# --emit-kotlin) with a compiler from Maven Central, and the docs' scripts for Dask and Ray and the workflow for GitHub with the wheel: too slow and
# too large for every run of the tests. Needs what scripts/install.sh --tests installs, and installs bazel-bootstrap, gradle,
# maven, nginx-light and python3-venv; Dask and Ray come from PyPI into build/schedulers.
#   NNAPI_CONVERT_KOTLIN=FOLDER the jars of kotlin-compiler-embeddable, and PyTorch's two Android packages; without it they are fetched
#   NNAPI_CONVERT_BUILD=FOLDER  a build folder that is up to date; without it build/release is built
#   NNAPI_CONVERT_WHEEL=FILE    the wheel; without it one is made of the build folder, in build/bundle
set -euo pipefail
# shellcheck source=scripts/steps.sh
source "$(dirname "${BASH_SOURCE[0]}")/../steps.sh"
cd "$ROOT"

step "install packages" ./scripts/install.sh --tests bazel-bootstrap gradle maven nginx-light python3-venv
if [[ -z ${NNAPI_CONVERT_BUILD:-} ]]; then
  step "configure" cmake --preset release
  step "build" cmake --build --preset release --parallel 2
fi
export NNAPI_CONVERT_BUILD=${NNAPI_CONVERT_BUILD:-$ROOT/build/release} PYTHONDONTWRITEBYTECODE=1 OMP_NUM_THREADS=1
fetch_kotlin() {
  mkdir -p build/kotlin
  cat >build/kotlin/pom.xml <<'END'
<project>
  <modelVersion>4.0.0</modelVersion><groupId>kotlin</groupId><artifactId>compiler</artifactId><version>1</version>
  <dependencies><dependency>
    <groupId>org.jetbrains.kotlin</groupId><artifactId>kotlin-compiler-embeddable</artifactId><version>2.2.20</version>
  </dependency><dependency>
    <groupId>org.pytorch</groupId><artifactId>pytorch_android</artifactId><version>1.13.1</version><type>aar</type>
    <exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>
  </dependency><dependency>
    <groupId>org.pytorch</groupId><artifactId>pytorch_android_lite</artifactId><version>1.12.2</version><type>aar</type>
    <exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions>
  </dependency></dependencies>
</project>
END
  mvn -q -B -f build/kotlin/pom.xml dependency:copy-dependencies -DoutputDirectory="$PWD/build/kotlin/jars"
}

if [[ -z ${NNAPI_CONVERT_KOTLIN:-} ]]; then
  step "fetch Kotlin's compiler" fetch_kotlin
  export NNAPI_CONVERT_KOTLIN=$ROOT/build/kotlin/jars
fi
make_wheel() {
  rm -rf build/schedulers/installed build/bundle/nnapi_convert-*.whl
  cmake --install "$NNAPI_CONVERT_BUILD" --prefix "$PWD/build/schedulers/installed" >build/schedulers/install.log
  ./scripts/packages/make-bundle.sh build/schedulers/installed
  "$PYTHON" scripts/packages/make-wheel.py
}

make_venv() {
  "$PYTHON" -m venv --clear build/schedulers/venv
  build/schedulers/venv/bin/pip install --quiet "$NNAPI_CONVERT_WHEEL" "dask[distributed]==2026.8.0" "ray==2.60.0"
}

mkdir -p build/schedulers
if [[ -z ${NNAPI_CONVERT_WHEEL:-} ]]; then
  step "make the wheel" make_wheel
  NNAPI_CONVERT_WHEEL=$(find build/bundle -maxdepth 1 -name 'nnapi_convert-*.whl')
fi
NNAPI_CONVERT_WHEEL=$(realpath "$NNAPI_CONVERT_WHEEL")
export NNAPI_CONVERT_WHEEL
step "install the wheel, Dask and Ray" make_venv
export NNAPI_CONVERT_SCHEDULERS=$ROOT/build/schedulers/venv/bin/python
step "test GitHub's workflow" "$PYTHON" tests/packages/pipelines_test.py GitHub
for name in schedulers bazel gradle kotlin; do
  step "test $name" "$PYTHON" "tests/integrations/${name}_test.py"
done
step_times
