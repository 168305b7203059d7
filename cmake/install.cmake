# Headers, both libraries, the program and a pkg-config file, which finds its prefix by itself (the tree may be moved).
install(TARGETS motus_static motus_shared
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/motus DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
if(TARGET motus-mpi)
  install(TARGETS motus-mpi RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(TARGET motus)
  install(TARGETS motus RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

file(RELATIVE_PATH MOTUS_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" MOTUS_PC_PREFIX "${MOTUS_PC_PREFIX}")
set(MOTUS_PC_PRIVATE "${OpenMP_C_FLAGS} -lm") # what the static library needs besides the C runtime
if(MOTUS_HAVE_CUDA)
  string(APPEND MOTUS_PC_PRIVATE " -L${CUDAToolkit_LIBRARY_DIR} -lcudart_static -lstdc++ -lpthread -ldl -lrt")
endif()
configure_file(cmake/motus.pc.in motus.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/motus.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
