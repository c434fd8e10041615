# 32-bit ARM.
get_filename_component(debian_root ${CMAKE_CURRENT_LIST_DIR}/../build/armhf-root ABSOLUTE)
set(CMAKE_SYSTEM_PROCESSOR armv7l)
set(debian_triple arm-linux-gnueabihf)
set(clang_target armv7a-linux-gnueabihf)
set(CMAKE_CXX_FLAGS_INIT -mthumb) # as Android's NDK
set(emulator qemu-arm -L ${debian_root})
include(${CMAKE_CURRENT_LIST_DIR}/debian_cross.cmake)
