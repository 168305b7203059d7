# Makes man pages and completion for shells from the program's --help, and motus(3) from the public
# headers. Left out if the program cannot be run (cross compiling) or is not installed (sanitizers).
find_program(MOTUS_AWK awk)
mark_as_advanced(MOTUS_AWK)
if(NOT MOTUS_AWK OR CMAKE_CROSSCOMPILING OR MOTUS_SANITIZE)
  message(STATUS "motus: no man pages and no completion are made")
  return()
endif()
set(help_dir ${CMAKE_CURRENT_BINARY_DIR}/help)
set(help_sources ${PROJECT_SOURCE_DIR}/cmake/help)

file(GLOB help_headers CONFIGURE_DEPENDS include/motus/*.h)
list(REMOVE_ITEM help_headers ${PROJECT_SOURCE_DIR}/include/motus/motus.h)
set(help_files ${help_dir}/motus.3)
add_custom_command(OUTPUT ${help_dir}/motus.3
                   COMMAND ${CMAKE_COMMAND} -E make_directory ${help_dir}
                   COMMAND ${MOTUS_AWK} -v version=${PROJECT_VERSION} -f ${help_sources}/api.awk
                           ${help_headers} > ${help_dir}/motus.3
                   DEPENDS ${help_sources}/api.awk ${help_headers} VERBATIM)
install(FILES ${help_dir}/motus.3 DESTINATION ${CMAKE_INSTALL_MANDIR}/man3 COMPONENT dev)

if(TARGET motus)
  list(APPEND help_files ${help_dir}/man1/motus.1)
  add_custom_command(OUTPUT ${help_dir}/man1/motus.1
                     COMMAND ${help_sources}/pages.sh $<TARGET_FILE:motus> ${PROJECT_VERSION}
                             ${help_dir}
                     DEPENDS motus ${help_sources}/pages.sh ${help_sources}/man.awk
                             ${help_sources}/completion.awk
                     VERBATIM)
  install(DIRECTORY ${help_dir}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} COMPONENT tools)
  set(completion ${help_dir}/completion)
  install(FILES ${completion}/bash/motus COMPONENT tools
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${completion}/zsh/_motus COMPONENT tools
          DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${completion}/fish/motus.fish COMPONENT tools
          DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
if(TARGET motus-mpi)
  list(APPEND help_files ${help_dir}/motus-mpi.1)
  add_custom_command(OUTPUT ${help_dir}/motus-mpi.1
                     COMMAND $<TARGET_FILE:motus-mpi> --help > ${help_dir}/motus-mpi.txt
                     COMMAND ${MOTUS_AWK} -v page=motus-mpi -v version=${PROJECT_VERSION}
                             -v "about=H.264 encoding by many processes"
                             -v "also=.BR motus-encode (1)" -f ${help_sources}/man.awk
                             ${help_dir}/motus-mpi.txt > ${help_dir}/motus-mpi.1
                     DEPENDS motus-mpi ${help_sources}/man.awk ${help_dir}/motus.3 VERBATIM)
  install(FILES ${help_dir}/motus-mpi.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT mpi)
endif()
add_custom_target(help_files ALL DEPENDS ${help_files})
