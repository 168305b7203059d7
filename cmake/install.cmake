# Headers, both libraries, the program and a pkg-config file.
install(TARGETS motus_static motus_shared
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/motus DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
if(MOTUS_TOOLS)
  install(TARGETS motus RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
configure_file(cmake/motus.pc.in motus.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/motus.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
