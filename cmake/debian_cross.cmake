# Builds for another processor's Linux with Clang and LLD, as Android's NDK does, against the Debian packages that
# scripts/systems/test-architecture.sh unpacks into build/ARCHITECTURE-root, and runs what it built there. The toolchain file that
# includes this one sets
#   debian_root          the folder of the packages
#   debian_triple        the name of its folder of libraries
#   clang_target         what Clang compiles for
#   emulator             what runs a program of the root
set(CMAKE_SYSTEM_NAME Linux)

set(CMAKE_SYSROOT ${debian_root})
set(CMAKE_CXX_COMPILER clang++)
set(CMAKE_C_COMPILER clang)
set(CMAKE_CXX_COMPILER_TARGET ${clang_target})
set(CMAKE_C_COMPILER_TARGET ${clang_target})
set(CMAKE_AR llvm-ar)
set(CMAKE_RANLIB llvm-ranlib)
set(CMAKE_STRIP llvm-strip)
foreach(kind EXE SHARED MODULE)
  set(CMAKE_${kind}_LINKER_FLAGS_INIT -fuse-ld=lld)
endforeach()

# Libraries, headers and packages from the root, programs from this machine.
set(CMAKE_LIBRARY_ARCHITECTURE ${debian_triple})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

set(CMAKE_CROSSCOMPILING_EMULATOR ${emulator})
