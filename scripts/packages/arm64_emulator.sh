# SPDX-License-Identifier: BSD-3-Clause
# shellcheck shell=bash
# Sourced by scripts that run programs for 64-bit ARM in root folders, on a machine with another processor.

# Has the kernel start programs for 64-bit ARM by qemu-user, which needs no file in their root folder. Needs root.
register_arm64() {
  local folder=/proc/sys/fs/binfmt_misc rule=/usr/lib/binfmt.d/qemu-aarch64.conf
  [[ $(uname -m) != aarch64 ]] || return 0
  "$ROOT/scripts/install.sh" qemu-user-static
  [[ -e $folder/register ]] || mount -t binfmt_misc none "$folder" || {
    echo "$0: $folder can't be mounted; needed: a kernel with binfmt_misc, and root of the machine itself" >&2
    return 3
  }
  [[ -e $folder/qemu-aarch64 ]] || cat "$rule" >"$folder/register"
}
