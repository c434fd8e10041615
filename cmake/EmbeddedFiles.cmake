# nnapi_convert_embed_files(SOURCE FUNCTION HEADER ENTRY...): adds a rule that writes the C++ source SOURCE. SOURCE
# defines nnapi_convert::FUNCTION, which HEADER declares and which returns files. An ENTRY is a file's new name, a tab,
# its path.
function(nnapi_convert_embed_files source function header)
  list(TRANSFORM ARGN REPLACE "^[^\t]*\t" "" OUTPUT_VARIABLE paths)
  string(REPLACE ";" "\n" lines "${ARGN}")
  file(CONFIGURE OUTPUT ${source}.txt CONTENT "@lines@\n" @ONLY)
  set(script ${PROJECT_SOURCE_DIR}/cmake/EmbedFiles.cmake)
  add_custom_command(
    OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} -DMANIFEST=${source}.txt -DOUTPUT=${source} -DFUNCTION=${function} -DHEADER=${header}
            -P ${script}
    DEPENDS ${paths} ${source}.txt ${script}
    VERBATIM)
endfunction()
