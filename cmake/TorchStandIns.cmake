# Makes empty libraries that the program loads before LibTorch, so that LibTorch starts faster.
#
# Debian's LibTorch 1.13 names libraries that it takes no symbol from: OpenCV's, FFmpeg's, LevelDB and others. They
# bring in 200 more and take most of the time in which LibTorch starts. If a library of the same SONAME is already in
# the process, ld.so loads no other one. So each of these libraries has a *stand-in*: a library of its SONAME, without
# content. A library that anything takes a symbol from has none, so that no call can reach a stand-in.

# Sets `result` to the SONAMEs of the libraries that `library` names.
function(needed_libraries library result)
  execute_process(COMMAND ${CMAKE_READELF} -dW ${library} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "\\(NEEDED\\)[^\n]*\\[[^]\n]+\\]" lines "${text}")
  list(TRANSFORM lines REPLACE ".*\\[(.*)\\]" "\\1")
  set(${result} "${lines}" PARENT_SCOPE)
endfunction()

# Sets `result` to the names of a library's dynamic symbols, without versions: those that nm lists with `option`.
function(dynamic_symbols library option result)
  execute_process(COMMAND ${CMAKE_NM} -D -P ${option} ${library} OUTPUT_VARIABLE text ERROR_QUIET)
  string(REGEX MATCHALL "(^|\n)[^ @\n]+" names "${text}")
  list(TRANSFORM names STRIP)
  set(${result} "${names}" PARENT_SCOPE)
endfunction()

# Sets `result` to the path of the library of this SONAME, or to nothing if it isn't found.
function(find_needed_library soname folder result)
  unset(found)
  find_file(found ${soname} HINTS ${folder} PATHS /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE} /lib/${CMAKE_LIBRARY_ARCHITECTURE}
            /usr/lib64 /lib64 /usr/lib /lib NO_CACHE)
  if(NOT found)
    set(found "")
  endif()
  set(${result} "${found}" PARENT_SCOPE)
endfunction()

# Sets `result` to the SONAMEs in `needed` of the libraries from which `library` takes no symbol. A library that isn't
# found or has no symbols counts as used.
function(unused_libraries library needed folder result)
  dynamic_symbols(${library} -u symbols)
  foreach(symbol IN LISTS symbols)
    set(is_taken_${symbol} TRUE)
  endforeach()
  set(unused "")
  foreach(soname IN LISTS needed)
    find_needed_library(${soname} ${folder} path)
    set(defined "")
    if(path)
      dynamic_symbols(${path} --defined-only defined)
    endif()
    set(is_used TRUE)
    if(symbols AND defined)
      set(is_used FALSE)
      foreach(symbol IN LISTS defined)
        if(DEFINED is_taken_${symbol})
          set(is_used TRUE)
          break()
        endif()
      endforeach()
    endif()
    if(NOT is_used)
      list(APPEND unused ${soname})
    endif()
  endforeach()
  set(${result} "${unused}" PARENT_SCOPE)
endfunction()

# Sets `result` to the SONAMEs that get stand-ins, for the LibTorch at `library`: those that it names and doesn't use,
# without those that another library in the process needs.
function(stand_in_names library result)
  get_filename_component(library ${library} REALPATH)
  get_filename_component(folder ${library} DIRECTORY)
  needed_libraries(${library} needed)
  unused_libraries(${library} "${needed}" ${folder} names)
  # The program takes symbols from these itself.
  list(FILTER names EXCLUDE REGEX "^lib(crypto|deflate|farmhash|fmt|jpeg|mimalloc|png[0-9]*|spdlog|z)\\.so")
  set(ahead ${needed})
  list(REMOVE_ITEM ahead ${names})
  set(seen ${ahead})
  while(ahead)
    list(POP_FRONT ahead soname)
    list(REMOVE_ITEM names ${soname})
    find_needed_library(${soname} ${folder} path)
    if(NOT path)
      message(STATUS "No stand-ins for libraries that LibTorch doesn't use: ${soname} is not found")
      set(${result} "" PARENT_SCOPE)
      return()
    endif()
    needed_libraries(${path} needed)
    foreach(next IN LISTS needed)
      if(NOT next IN_LIST seen)
        list(APPEND seen ${next})
        list(APPEND ahead ${next})
      endif()
    endforeach()
  endwhile()
  set(${result} "${names}" PARENT_SCOPE)
endfunction()

# Adds the targets. Sets `result` to their names.
function(add_torch_stand_ins result)
  get_target_property(library torch_cpu LOCATION)
  stand_in_names(${library} names)
  set(targets "")
  file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/generated/torch_stand_in.cpp CONTENT "")
  foreach(name IN LISTS names)
    string(MAKE_C_IDENTIFIER "stand_in_${name}" target)
    add_library(${target} SHARED ${PROJECT_BINARY_DIR}/generated/torch_stand_in.cpp)
    # Its SONAME is its file's name.
    set_target_properties(${target} PROPERTIES PREFIX "" SUFFIX "" OUTPUT_NAME ${name} UNITY_BUILD OFF
      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_LIBRARY_OUTPUT_DIRECTORY}/stand_ins)
    target_compile_options(${target} PRIVATE -fno-sanitize=all)
    target_link_options(${target} PRIVATE -nostdlib LINKER:-z,noseparate-code)
    install(TARGETS ${target} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/nnapi-convert/stand_ins)
    list(APPEND targets ${target})
  endforeach()
  list(LENGTH targets count)
  message(STATUS "Stand-ins for libraries that LibTorch needs and doesn't use: ${count}")
  set(${result} "${targets}" PARENT_SCOPE)
endfunction()
