# Finds LibTorch and makes two things for all targets on it: the interface target `torch_deps`, and one precompiled
# header (LibTorch's headers cost seconds per file), which targets reuse by `nnapi_convert_torch_target`.
find_package(Torch REQUIRED)
if(Torch_VERSION VERSION_GREATER_EQUAL 2.14)
  set(CMAKE_CXX_STANDARD 20)  # its headers need it
endif()
set(nnapi_convert_stand_ins "")
if(NNAPI_CONVERT_STAND_INS)
  include(cmake/TorchStandIns.cmake)
  add_torch_stand_ins(nnapi_convert_stand_ins)
endif()

# What the program calls LibTorch's release: headers of Debian's 1.13.1 say 1.13.0, so that the package is asked, if the
# library is one's.
set(NNAPI_CONVERT_TORCH_RELEASE ${Torch_VERSION})
find_program(NNAPI_CONVERT_DPKG_QUERY dpkg-query)
if(NNAPI_CONVERT_DPKG_QUERY)
  execute_process(COMMAND ${NNAPI_CONVERT_DPKG_QUERY} -S ${TORCH_LIBRARY}
                  OUTPUT_VARIABLE owner RESULT_VARIABLE failed ERROR_QUIET)
  if(NOT failed AND owner MATCHES "^([^ ,]+): ")
    execute_process(COMMAND ${NNAPI_CONVERT_DPKG_QUERY} -W -f "\${source:Upstream-Version}" ${CMAKE_MATCH_1}
                    OUTPUT_VARIABLE upstream ERROR_QUIET)
    if(upstream MATCHES "^[0-9]+(\\.[0-9]+)+")
      set(NNAPI_CONVERT_TORCH_RELEASE ${CMAKE_MATCH_0})
    endif()
  endif()
endif()

add_library(torch_deps INTERFACE)
target_include_directories(torch_deps SYSTEM INTERFACE ${TORCH_INCLUDE_DIRS})
target_link_libraries(torch_deps INTERFACE torch torch_cpu c10)

file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/torch_pch.cpp CONTENT "")  # written once, unlike file(WRITE)
# What works on graphs gains nothing by more than -Og, which compiles in half of the time. Precompiled headers bring their
# own options along, so that all of these targets have the same. They also fill the compiler's memory, which it would
# search for garbage again and again: a tenth of its time.
set(nnapi_convert_torch_options -fPIC $<$<CONFIG:Release>:-Og>)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  list(APPEND nnapi_convert_torch_options --param=ggc-min-expand=400 --param=ggc-min-heapsize=1500000)
endif()
add_library(torch_pch OBJECT ${CMAKE_BINARY_DIR}/generated/torch_pch.cpp)
target_link_libraries(torch_pch PUBLIC torch_deps)
target_precompile_headers(torch_pch PRIVATE
  <ATen/ATen.h>
  <torch/csrc/jit/api/module.h>
  <functional> <map> <memory> <optional> <string> <unordered_map> <vector>)
set_target_properties(torch_pch PROPERTIES POSITION_INDEPENDENT_CODE OFF)
target_compile_options(torch_pch PRIVATE ${nnapi_convert_torch_options})
nnapi_convert_warnings(torch_pch)

# Links a target to LibTorch, with the shared precompiled header and the project's warnings.
function(nnapi_convert_torch_target target)
  target_link_libraries(${target} PUBLIC torch_deps)
  target_precompile_headers(${target} REUSE_FROM torch_pch)
  # The header is compiled with -fPIC; an executable's own -fPIE would not match it.
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${target} PRIVATE ${nnapi_convert_torch_options})
  nnapi_convert_warnings(${target})
endfunction()
