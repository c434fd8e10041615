# Adds the project's warning flags to one target.
function(nnapi_convert_warnings target)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wpedantic)
  if(NNAPI_CONVERT_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
endfunction()
