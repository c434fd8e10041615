#[[
nnapi_convert_model(<target> MODEL <file> [OUTPUT <file>] [LITERT <file>] [OPTIONS <option>...] [DEPENDS <file>...])

Adds a target, part of "all", that converts a TorchScript model when the model, the options or the program have changed.

  MODEL    the model; relative to the current source folder
  OUTPUT   the result; relative to the current binary folder; else the model's name there
  LITERT   also writes the model for LiteRT (.tflite); relative to the current binary folder
  OPTIONS  options of nnapi-convert, for example --nhwc --input 1,3,224,224 --verify
  DEPENDS  files that options name

The report is written beside the result, as <name>.report.json. The target has the properties NNAPI_MODULE and NNAPI_REPORT:
the paths of both, and with LITERT NNAPI_LITERT.
]]
function(nnapi_convert_model target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "MODEL;OUTPUT;LITERT" "OPTIONS;DEPENDS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "nnapi_convert_model(${target}): \"${arg_UNPARSED_ARGUMENTS}\" belongs to none of MODEL, OUTPUT, LITERT, OPTIONS, DEPENDS")
  endif()
  if(NOT arg_MODEL)
    message(FATAL_ERROR "nnapi_convert_model(${target}): MODEL is missing")
  endif()
  get_filename_component(model ${arg_MODEL} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
  if(NOT arg_OUTPUT)
    get_filename_component(arg_OUTPUT ${model} NAME)
  endif()
  get_filename_component(output ${arg_OUTPUT} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_BINARY_DIR})
  if(output STREQUAL model)
    message(FATAL_ERROR "nnapi_convert_model(${target}): ${output} is the model itself; give another OUTPUT")
  endif()
  set(litert)
  set(litert_options)
  set(litert_folder)
  if(arg_LITERT)
    get_filename_component(litert ${arg_LITERT} ABSOLUTE BASE_DIR ${CMAKE_CURRENT_BINARY_DIR})
    get_filename_component(litert_folder ${litert} DIRECTORY)
    set(litert_options --litert ${litert})
  endif()
  get_filename_component(folder ${output} DIRECTORY)
  get_filename_component(stem ${output} NAME_WLE)
  set(report ${folder}/${stem}.report.json)
  get_target_property(engine nnapi_convert::nnapi-convert NNAPI_CONVERT_ENGINE)
  add_custom_command(
    OUTPUT ${output} ${litert}
    BYPRODUCTS ${report}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${folder} ${litert_folder}
    COMMAND nnapi_convert::nnapi-convert ${model} --output ${output} --report ${report} ${litert_options} ${arg_OPTIONS}
    DEPENDS ${model} nnapi_convert::nnapi-convert ${engine} ${arg_DEPENDS}
    COMMENT "Converting ${arg_MODEL} to NNAPI"
    VERBATIM)
  add_custom_target(${target} ALL DEPENDS ${output} ${litert})
  set_target_properties(${target} PROPERTIES NNAPI_MODULE ${output} NNAPI_REPORT ${report})
  if(litert)
    set_target_properties(${target} PROPERTIES NNAPI_LITERT ${litert})
  endif()
endfunction()
