# Run by CPack before it packs (CPACK_PRE_BUILD_SCRIPTS): sets the packages that the programs and libraries depend on.
# CPack's own way to do that, CPACK_DEBIAN_PACKAGE_SHLIBDEPS, starts two processes for each file, most of which are headers.
set(root ${CPACK_TEMPORARY_INSTALL_DIRECTORY}${CPACK_PACKAGING_INSTALL_PREFIX})
file(GLOB programs ${root}/bin/*)
file(GLOB_RECURSE libraries ${root}/lib/*.so*)
file(MAKE_DIRECTORY ${CPACK_TEMPORARY_DIRECTORY}/debian)
file(WRITE ${CPACK_TEMPORARY_DIRECTORY}/debian/control "")  # dpkg-shlibdeps reads it
execute_process(
  COMMAND dpkg-shlibdeps --ignore-missing-info -O ${programs} ${libraries}
  WORKING_DIRECTORY ${CPACK_TEMPORARY_DIRECTORY} OUTPUT_VARIABLE text ERROR_VARIABLE warnings
  OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed)
file(REMOVE_RECURSE ${CPACK_TEMPORARY_DIRECTORY}/debian)
if(failed OR NOT text MATCHES "^shlibs:Depends=(.+)$")
  message(FATAL_ERROR "dpkg-shlibdeps failed: ${warnings}")
endif()
set(CPACK_DEBIAN_PACKAGE_DEPENDS "${CMAKE_MATCH_1}")
