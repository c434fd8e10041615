# x86 with 32 bits.
get_filename_component(debian_root ${CMAKE_CURRENT_LIST_DIR}/../build/i386-root ABSOLUTE)
set(CMAKE_SYSTEM_PROCESSOR i686)
set(debian_triple i386-linux-gnu)
set(clang_target i686-linux-gnu)
set(emulator ${debian_root}/lib/ld-linux.so.2 --library-path ${debian_root}/lib/i386-linux-gnu)
include(${CMAKE_CURRENT_LIST_DIR}/debian_cross.cmake)
