# CPack runs this on the files of the packages: compresses man pages, moves the licence and zsh's
# completion to Debian's folders.
find_program(gzip gzip REQUIRED)
set(names "runtime=${CPACK_DEBIAN_RUNTIME_PACKAGE_NAME}" "dev=${CPACK_DEBIAN_DEV_PACKAGE_NAME}"
          tools=motus mpi=motus-mpi gstreamer=gstreamer1.0-motus)
foreach(entry IN LISTS names)
  string(REGEX MATCH "^([a-z]+)=(.*)$" entry "${entry}")
  set(root "${CPACK_TEMPORARY_INSTALL_DIRECTORY}/${CMAKE_MATCH_1}/usr")
  set(name "${CMAKE_MATCH_2}")
  if(NOT IS_DIRECTORY "${root}")
    continue()
  endif()
  file(GLOB pages "${root}/share/man/man*/*.[0-9]")
  if(pages)
    execute_process(COMMAND ${gzip} -9nf ${pages} COMMAND_ERROR_IS_FATAL ANY)
  endif()
  configure_file("${CMAKE_CURRENT_LIST_DIR}/../LICENSE" "${root}/share/doc/${name}/copyright"
                 COPYONLY)
  if(EXISTS "${root}/share/zsh/site-functions")
    file(RENAME "${root}/share/zsh/site-functions" "${root}/share/zsh/vendor-completions")
  endif()
endforeach()
