# The CMake package: find_package(nnapi_convert) gives the program and nnapi_convert_model(); with COMPONENTS library also
# the converter as a library, which needs LibTorch.
include(CMakePackageConfigHelpers)
set(NNAPI_CONVERT_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/nnapi_convert)
set(NNAPI_CONVERT_HEADER_DIR ${CMAKE_INSTALL_INCLUDEDIR}/nnapi-convert)

install(TARGETS
  nnapi_base nnapi_format nnapi_model nnapi_passes nnapi_types nnapi_tensors nnapi_ops nnapi_buffer nnapi_emitter
  nnapi_litert nnapi_quantise nnapi_calibration nnapi_picture_list
  ${nnapi_converter_targets} nnapi_report_page nnapi_shim_files nnapi_shim_objects nnapi_shim_binding_objects
  nnapi_shim_binding torch_deps
  EXPORT nnapi_convert_library
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/nnapi-convert)

# Builds whatever the rules of installation take, and no test: tests/packages/installed_targets_test.py finds what is missing.
add_custom_target(installed DEPENDS
  nnapi-convert nnapi-bench nnapi-probe nnapi_shim nnapi_shim_static nnapi_shim_binding ${nnapi_converter_targets}
  neuralnetworks neuralnetworks_level1 neuralnetworks_level2 neuralnetworks_level3 neuralnetworks_level4)
foreach(target nnapi_shim_jni nnapi_shim_torch)
  if(TARGET ${target})
    add_dependencies(installed ${target})
  endif()
endforeach()

# Headers keep their folders, because they include each other by these paths.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/lib/base ${PROJECT_SOURCE_DIR}/lib/format ${PROJECT_SOURCE_DIR}/lib/nnapi
                  ${PROJECT_SOURCE_DIR}/lib/types ${PROJECT_SOURCE_DIR}/lib/ops ${PROJECT_SOURCE_DIR}/lib/serialize
                  ${PROJECT_SOURCE_DIR}/lib/quantise ${PROJECT_SOURCE_DIR}/lib/converter
        DESTINATION ${NNAPI_CONVERT_HEADER_DIR}/lib
        FILES_MATCHING PATTERN "*.h")
install(FILES ${PROJECT_SOURCE_DIR}/lib/nnapi_convert.h DESTINATION ${NNAPI_CONVERT_HEADER_DIR})

install(EXPORT nnapi_convert_program NAMESPACE nnapi_convert:: FILE nnapi_convertProgram.cmake
        DESTINATION ${NNAPI_CONVERT_CMAKE_DIR})
install(EXPORT nnapi_convert_library NAMESPACE nnapi_convert:: FILE nnapi_convertLibrary.cmake
        DESTINATION ${NNAPI_CONVERT_CMAKE_DIR})
set(NNAPI_CONVERT_ENGINE ${CMAKE_INSTALL_LIBDIR}/nnapi-convert/libnnapi_convert_engine.so)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/nnapi_convertConfig.cmake.in
  ${PROJECT_BINARY_DIR}/generated/nnapi_convertConfig.cmake INSTALL_DESTINATION ${NNAPI_CONVERT_CMAKE_DIR}
  PATH_VARS NNAPI_CONVERT_ENGINE)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/generated/nnapi_convertConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/generated/nnapi_convertConfig.cmake
  ${PROJECT_BINARY_DIR}/generated/nnapi_convertConfigVersion.cmake
  ${CMAKE_CURRENT_LIST_DIR}/nnapi_convert_model.cmake
  DESTINATION ${NNAPI_CONVERT_CMAKE_DIR})
