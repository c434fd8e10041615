# Installs manual pages, completions and the files that Debian's packages need, and makes the .deb by
# `cpack -G DEB --config build/release/CPackConfig.cmake`.
find_program(HELP2MAN help2man)
if(HELP2MAN)
  install(CODE "
    set(HELP2MAN ${HELP2MAN})
    set(VERSION ${PROJECT_VERSION})
    set(BIN $<TARGET_FILE_DIR:nnapi-convert>)
    set(PAGES ${PROJECT_BINARY_DIR}/generated/man)
    include(${CMAKE_CURRENT_LIST_DIR}/ManPages.cmake)
    file(INSTALL \${PAGES}/ DESTINATION \${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}/man1)")
endif()

install(DIRECTORY ${PROJECT_SOURCE_DIR}/integrations DESTINATION ${CMAKE_INSTALL_DATADIR}/nnapi-convert)

# Completions come from the program's --help, as the manual pages do.
find_program(NNAPI_CONVERT_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
if(NNAPI_CONVERT_PYTHON)
  set(completions ${PROJECT_BINARY_DIR}/generated/completions)
  install(CODE "
    execute_process(COMMAND ${NNAPI_CONVERT_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/generate/make_completions.py
                            $<TARGET_FILE:nnapi-convert> ${completions} COMMAND_ERROR_IS_FATAL ANY)")
  install(FILES ${completions}/nnapi-convert.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
          RENAME nnapi-convert)
  install(FILES ${completions}/_nnapi-convert DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
  install(FILES ${completions}/nnapi-convert.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

install(CODE "
  set(folder ${PROJECT_BINARY_DIR}/generated/debian)
  file(MAKE_DIRECTORY \${folder})
  execute_process(COMMAND gzip -9nc ${PROJECT_SOURCE_DIR}/packaging/debian/changelog OUTPUT_FILE \${folder}/changelog.gz
                  COMMAND_ERROR_IS_FATAL ANY)
  file(INSTALL \${folder}/changelog.gz DESTINATION \${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DOCDIR})")
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} RENAME copyright)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME nnapi-convert)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "converter from TorchScript to Android's Neural Networks API")
set(CPACK_PACKAGE_CONTACT "nnapi-convert authors <nnapi-convert@users.noreply.github.com>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
    OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/DebDepends.cmake)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/packaging/debian/triggers)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libtorch-dev")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"Takes a trained PyTorch model as TorchScript and gives back a TorchScript
model with the same interface that runs on Android's Neural Networks API
(NNAPI), and so on the GPU, DSP or NPU of a phone. No Python is needed.
.
The package has the command, an NNAPI for this machine to verify results on,
the runtime for apps that want more than PyTorch's own, and a CMake package
for builds that convert models and for programs that convert by themselves.")
include(CPack)
