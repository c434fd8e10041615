# Run at installation: makes the manual pages from the programs' --help, compressed as Debian wants them.
#   HELP2MAN  VERSION  BIN (folder of the programs)  PAGES (folder to write to)
file(REMOVE_RECURSE ${PAGES})
file(MAKE_DIRECTORY ${PAGES})

# Makes the page of a program, or of its subcommand if one is given.
function(make_page about program)
  set(page ${program})
  if(ARGN)
    set(page ${program}-${ARGN})
  endif()
  # The page has the options that --help leaves to --help-all.
  execute_process(COMMAND ${BIN}/${program} ${ARGN} --help OUTPUT_VARIABLE help COMMAND_ERROR_IS_FATAL ANY)
  set(all "")
  if(help MATCHES "--help-all")
    set(all --help-option=--help-all)
  endif()
  string(REPLACE ";" " " words "${BIN}/${program};${ARGN}")
  execute_process(
    COMMAND ${HELP2MAN} --no-info ${all} --version-string=${VERSION} --name=${about} --output=${PAGES}/${page}.1 ${words}
    COMMAND_ERROR_IS_FATAL ANY)
  # The name of a page has no space.
  file(READ ${PAGES}/${page}.1 text)
  string(REPLACE "\n${program} ${ARGN} \\-" "\n${page} \\-" text "${text}")
  file(WRITE ${PAGES}/${page}.1 "${text}")
  execute_process(COMMAND gzip -9n ${PAGES}/${page}.1 COMMAND_ERROR_IS_FATAL ANY)
endfunction()

make_page("convert TorchScript models to Android's Neural Networks API" nnapi-convert)
make_page("convert many models, and compare with an earlier run" nnapi-convert batch)
make_page("say whether and how well a model converts" nnapi-convert check)
make_page("compare a converted model with its original" nnapi-convert verify)
make_page("show what a converted file holds" nnapi-convert inspect)
make_page("list the operations that can be lowered" nnapi-convert ops)
make_page("write the sources of the on-device runtime" nnapi-convert shim)
make_page("time converted models beside the CPU" nnapi-bench)
make_page("ask NNAPI devices which operations they take" nnapi-probe)
