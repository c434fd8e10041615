#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Tests the rules for Bazel and the plugin for Gradle with Debian's packages of both, offline, and the docs' lines in Kotlin with
# a compiler from Maven Central: too slow and too large for every run of the tests. Needs what scripts/install.sh --tests installs, and
# installs bazel-bootstrap, gradle, maven and nginx-light.
#   NNAPI_CONVERT_KOTLIN=FOLDER the jars of kotlin-compiler-embeddable; without it they are fetched
#   NNAPI_CONVERT_BUILD=FOLDER  a build folder that is up to date; without it build/release is built
set -euo pipefail
# shellcheck source=scripts/steps.sh
source "$(dirname "${BASH_SOURCE[0]}")/steps.sh"
cd "$ROOT"

step "install packages" ./scripts/install.sh --tests bazel-bootstrap gradle maven nginx-light
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
  </dependency></dependencies>
</project>
END
  mvn -q -B -f build/kotlin/pom.xml dependency:copy-dependencies -DoutputDirectory="$PWD/build/kotlin/jars"
}

if [[ -z ${NNAPI_CONVERT_KOTLIN:-} ]]; then
  step "fetch Kotlin's compiler" fetch_kotlin
  export NNAPI_CONVERT_KOTLIN=$ROOT/build/kotlin/jars
fi
for name in bazel gradle kotlin; do
  step "test $name" "$PYTHON" "tests/integrations/${name}_test.py"
done
step_times
