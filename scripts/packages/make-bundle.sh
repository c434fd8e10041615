#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# Makes nnapi-convert-VERSION-linux-x86_64.tar.xz, which runs where it is unpacked, on every Linux of this architecture:
# it brings its own loader, C library and LibTorch. Needs Debian 12 with what scripts/install.sh installs.
#   make-bundle.sh [INSTALLED]
#   INSTALLED  an installation by `cmake --install`; without it build/release, which has to be built, is installed to
#              build/bundle/installed
# Writes the archive to build/bundle, with the folder that it holds. The same installation gives the same bytes: its files
# have the time SOURCE_DATE_EPOCH or, without it, that of the last commit.
set -euo pipefail
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$ROOT"

out=build/bundle
if (($# > 1)); then
  echo "make-bundle.sh: $# arguments found, at most one needed: the folder of an installation" >&2
  exit 2
fi
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CMakeLists.txt)}
mkdir -p "$out"
if (($# == 1)); then
  installed=$(realpath "$1")
else
  installed=$ROOT/$out/installed
  rm -rf "$installed"
  cmake --install build/release --prefix "$installed" >"$out/install.log" || {
    tail -n 5 "$out/install.log" >&2
    echo "make-bundle.sh: build/release can't be installed; build it: scripts/demo.sh, or scripts/test.sh" >&2
    exit 3
  }
fi
if [[ ! -x $installed/bin/nnapi-convert || ! -f $installed/lib/nnapi-convert/libnnapi_convert_engine.so ]]; then
  echo "make-bundle.sh: $installed has no bin/nnapi-convert with its libraries; needed: what cmake --install makes" >&2
  exit 3
fi

programs=(nnapi-convert nnapi-bench nnapi-probe)
version=$("$installed/bin/nnapi-convert" --version | sed -n 's/^nnapi-convert \([0-9.]*\).*/\1/p')
name=nnapi-convert-$version-linux-$(uname -m)
folder=$out/$name
own=lib/nnapi-convert # where the program looks for its own libraries
licences=$folder/share/doc/nnapi-convert/licences

# What `readelf -dW` lists as needed by a file.
needed_by() {
  readelf -dW "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'
}

# The path of a library of this name among the system's: where ld.so finds it, of this architecture.
system_library() {
  LC_ALL=C ldconfig -p | sed -n "s|^[[:space:]]*$1 (libc6,[^)]*) => ||p" | head -n 1
}

# The package that brings a file. Files of merged folders are asked for by both names.
package_of() {
  local path
  for path in "$1" "$(realpath "$1")" "${1#/usr}" "$(realpath "$1" | sed 's|^/usr||')"; do
    dpkg-query -S "$path" 2>/dev/null | sed 's/: .*//; s/,.*//' && return
  done
  echo "make-bundle.sh: no package has $1; needed: libraries of Debian's packages, whose licences the bundle keeps" >&2
  return 3
}

# Copies a library of the system under the name by which programs need it.
add_library() {
  local path=$1 soname=$2
  install -m 644 "$(realpath "$path")" "$folder/lib/$soname"
  package_of "$path" >>"$out/packages"
}

# Copies the libraries that the files in "todo" need, and those that these need. LibTorch names libraries that it takes
# nothing from (docs/architecture.md, stand-ins): the stand-ins are the only ones of these names here.
add_libraries() {
  local file soname path
  while ((${#todo[@]} > 0)); do
    file=${todo[0]}
    todo=("${todo[@]:1}")
    for soname in $(needed_by "$file"); do
      [[ ! -e $folder/lib/$soname ]] || continue
      if [[ -f $installed/$own/stand_ins/$soname ]]; then
        install -m 644 "$installed/$own/stand_ins/$soname" "$folder/lib/$soname"
        continue
      fi
      path=$(system_library "$soname")
      if [[ -z $path ]]; then
        echo "make-bundle.sh: $file needs $soname, which ldconfig doesn't list" >&2
        exit 3
      fi
      add_library "$path" "$soname"
      todo+=("$path")
    done
  done
}

add_licences() {
  local package
  mkdir -p "$licences"
  {
    echo "# Debian's packages whose files this bundle has, with the sources from which Debian built them: the source"
    echo "# package of this version at https://snapshot.debian.org. The files beside this one are their licences."
    sort -u "$out/packages" | while read -r package; do
      dpkg-query -W -f '${Package} ${Version}, source ${source:Package} ${source:Version}\n' "$package"
      install -m 644 "/usr/share/doc/${package%%:*}/copyright" "$licences/${package%%:*}"
    done
  } >"$licences/PACKAGES"
  cp -rL /usr/share/common-licenses "$licences/" # to which these refer
}

# Earlier versions, too: what reads this folder takes the one that is there.
rm -rf "$out"/nnapi-convert-*-linux-"$(uname -m)"*
mkdir -p "$folder"/{bin,lib,libexec,"$own"}
# Whose code is compiled into the programs, and into the launcher: libraries of headers, and the C library.
printf '%s\n' libcli11-dev nlohmann-json3-dev libc6-dev >"$out/packages"

loader=$(readelf -lW "$installed/bin/nnapi-convert" | sed -n 's/.*interpreter: \(.*\)\]/\1/p')
add_library "$loader" "$(basename "$loader")"
chmod 755 "$folder/lib/$(basename "$loader")"
cc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -Wno-format-truncation -Os -static -s -ffunction-sections \
  -Wl,--gc-sections,--build-id=none -DNNAPI_CONVERT_LOADER="\"$(basename "$loader")\"" -o "$out/launcher" \
  packaging/bundle/launcher.c

for program in "${programs[@]}"; do
  install -m 755 "$out/launcher" "$folder/bin/$program"
  install -m 755 -s "$installed/bin/$program" "$folder/libexec/$program"
done
while IFS= read -r file; do
  install -D -m 644 -s "$installed/$own/$file" "$folder/$own/$file"
done < <(cd "$installed/$own" && find . -name '*.so' -printf '%P\n' | sort)
cp -r "$installed/$own/stand_ins" "$folder/$own/"
mapfile -t todo < <(find "$folder/libexec" "$folder/$own" -maxdepth 2 -type f \( -perm -1 -o -name '*.so' \) | sort)
add_libraries
# The C library loads it by name, to end threads.
[[ -e $folder/lib/libgcc_s.so.1 ]] || add_library "$(system_library libgcc_s.so.1)" libgcc_s.so.1

for path in share/nnapi-convert share/doc share/bash-completion share/zsh share/fish share/man; do
  [[ ! -e $installed/$path ]] || { mkdir -p "$folder/${path%/*}" && cp -r "$installed/$path" "$folder/$path"; }
done
add_licences
cp LICENSE "$folder/LICENSE"
cp packaging/bundle/README "$folder/README"

tar --create --file - --directory "$out" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
  --mode=u=rwX,go=rX --format=gnu "$name" | xz -6 --threads=2 >"$out/$name.tar.xz.part"
mv "$out/$name.tar.xz.part" "$out/$name.tar.xz"
printf '%s: %d MB, unpacked %d MB\n' "$out/$name.tar.xz" "$(($(stat -c %s "$out/$name.tar.xz") / 1000000))" \
  "$(($(du -sb "$folder" | cut -f 1) / 1000000))"
