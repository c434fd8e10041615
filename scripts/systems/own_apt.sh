# SPDX-License-Identifier: BSD-3-Clause
# Sourced by scripts that unpack Debian's packages into a folder of their own. The system's own packages stay as they
# are. The sourcing script sets
#   apt_folder   where apt keeps its lists and archives
#   apt_sources  an array: suites with their archives, for example "debian trixie"
# shellcheck shell=bash disable=SC2154

# own_apt [-o OPTION=VALUE...] COMMAND: runs apt-get with a state of its own, which has no installed package.
own_apt() {
  local key=/usr/share/keyrings/debian-archive-keyring.gpg mirror=http://deb.debian.org
  mkdir -p "$apt_folder"/{lists,archives}/partial "$apt_folder"/etc/{apt.conf.d,preferences.d}
  : >"$apt_folder/status"
  printf "deb [signed-by=$key] $mirror/%s main\n" "${apt_sources[@]}" >"$apt_folder/sources.list"
  cat >"$apt_folder/apt.conf" <<-END
	APT::Install-Recommends "false";
	Acquire::Languages "none";
	Dir::Etc "$apt_folder/etc";
	Dir::Etc::SourceList "$apt_folder/sources.list";
	Dir::Etc::SourceParts "-";
	Dir::State "$apt_folder";
	Dir::State::status "$apt_folder/status";
	Dir::Cache "$apt_folder";
	Debug::NoLocking "true";
	END
  APT_CONFIG=$apt_folder/apt.conf apt-get -q "$@" </dev/null
}

# unpack_archives ROOT: unpacks all archives that apt has downloaded. Pages of manuals and translations stay out.
unpack_archives() {
  local root=$1 archive
  for archive in "$apt_folder"/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$archive" |
      tar --extract --keep-directory-symlink --no-same-owner --directory "$root" \
        --exclude './usr/share/doc/*' --exclude './usr/share/man/*' --exclude './usr/share/locale/*'
  done
}

# link_blas FOLDER: makes the links that the packages' own scripts would make to BLAS and LAPACK.
link_blas() {
  local library
  for library in blas lapack; do
    [[ ! -d $1/$library ]] || ln -sfn "$library/lib$library.so.3" "$1/lib$library.so.3"
  done
}
