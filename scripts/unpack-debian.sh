#!/usr/bin/env bash
# Unpacks the packages of another release of Debian that building and testing need, into a folder of their own:
# scripts/unpack-debian.sh SUITE FOLDER, for example trixie build/trixie. The system's own packages stay as they are.
# scripts/test-libtorch.sh builds and tests there. Needs 3 GB.
set -euo pipefail

if (($# != 2)); then
  echo "unpack-debian.sh: $# arguments found, SUITE and FOLDER needed" >&2
  exit 2
fi
suite=$1
root=$(realpath -m "$2")
if [[ -e $root ]]; then
  echo "unpack-debian.sh: $root exists" >&2
  exit 3
fi
packages=(
  bash dash coreutils diffutils grep sed mawk findutils util-linux
  g++ cmake ninja-build ccache
  libtorch-dev libmimalloc-dev libcli11-dev libfmt-dev libspdlog-dev nlohmann-json3-dev libfarmhash-dev libdeflate-dev
  libjpeg62-turbo-dev libpng-dev libssl-dev catch2
  python3 python3-torch python3-numpy python3-jsonschema
)

# Runs apt-get with a state of its own, which has no installed package.
own_apt() {
  local folder=$root.apt key=/usr/share/keyrings/debian-archive-keyring.gpg
  mkdir -p "$folder"/{lists,archives}/partial "$folder"/etc/{apt.conf.d,preferences.d}
  : >"$folder/status"
  echo "deb [signed-by=$key] http://deb.debian.org/debian $suite main" >"$folder/sources.list"
  cat >"$folder/apt.conf" <<-END
	APT::Install-Recommends "false";
	Acquire::Languages "none";
	Dir::Etc "$folder/etc";
	Dir::Etc::SourceList "$folder/sources.list";
	Dir::Etc::SourceParts "-";
	Dir::State "$folder";
	Dir::State::status "$folder/status";
	Dir::Cache "$folder";
	Debug::NoLocking "true";
	END
  APT_CONFIG=$folder/apt.conf apt-get -q "$@" </dev/null
}

# Makes the links that scripts of the packages would make.
make_links() {
  local library folder
  for folder in bin sbin lib lib64; do
    [[ -e $root/$folder || ! -e $root/usr/$folder ]] || ln -s "usr/$folder" "$root/$folder"
  done
  [[ -e $root/usr/bin/awk ]] || ln -s mawk "$root/usr/bin/awk"
  [[ -e $root/usr/bin/sh ]] || ln -s dash "$root/usr/bin/sh"
  for library in blas lapack; do
    folder=$root/usr/lib/$(dpkg-architecture -q DEB_HOST_MULTIARCH 2>/dev/null || echo x86_64-linux-gnu)
    [[ ! -d $folder/$library ]] || ln -sfn "$library/lib$library.so.3" "$folder/lib$library.so.3"
  done
}

own_apt update
own_apt install --yes --download-only "${packages[@]}" | { grep -E '^(Need|Fetched|E:)' || true; }
mkdir -p "$root"/{dev,proc,sys,tmp,usr/{bin,sbin,lib,lib64}}
ln -s usr/bin usr/sbin usr/lib usr/lib64 "$root"
for archive in "$root.apt/archives"/*.deb; do
  dpkg-deb --fsys-tarfile "$archive" |
    tar --extract --keep-directory-symlink --no-same-owner --directory "$root" \
      --exclude './usr/share/doc/*' --exclude './usr/share/man/*' --exclude './usr/share/locale/*'
done
rm -rf "$root.apt"
make_links
du -sh "$root"
