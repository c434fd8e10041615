# nnapi_convert_embed_files(SOURCE FUNCTION HEADER ENTRY...): a rule that writes the C++ source SOURCE, whose function
# nnapi_convert::FUNCTION, declared in HEADER, gives files. An ENTRY is the name that a file gets, a tab, its path.
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
