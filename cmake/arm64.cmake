# 64-bit ARM.
get_filename_component(debian_root ${CMAKE_CURRENT_LIST_DIR}/../build/arm64-root ABSOLUTE)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(debian_triple aarch64-linux-gnu)
set(clang_target aarch64-linux-gnu)
set(emulator qemu-aarch64 -L ${debian_root})
include(${CMAKE_CURRENT_LIST_DIR}/debian_cross.cmake)
