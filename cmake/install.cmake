# Rules of `cmake --install`, in five components that are also the Debian packages (package.cmake):
# runtime (the shared library), dev (headers, static library, pkg-config file, CMake package,
# motus(3)), tools (the program, its man pages, completion), mpi (motus-mpi), gstreamer (the
# plug-in). No installed file holds a path of the build or of the prefix: the tree may be moved.
include(CMakePackageConfigHelpers)

install(TARGETS motus_shared
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT dev)
install(TARGETS motus_static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
install(DIRECTORY include/motus DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev
        FILES_MATCHING PATTERN "*.h")
if(TARGET motus)
  install(TARGETS motus RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
endif()
if(TARGET motus-mpi)
  install(TARGETS motus-mpi RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT mpi)
endif()

# Libraries that the static one needs besides the C runtime, as names for the linker: the consumer's
# compiler may be another one, or compile C++.
set(motus_private ${OpenMP_C_LIB_NAMES} m)
set(motus_private_dir "")
if(MOTUS_HAVE_CUDA) # in front: a library stands before those that it needs
  set(motus_private cudart_static stdc++ ${motus_private} pthread dl rt)
  set(motus_private_dir ${CUDAToolkit_LIBRARY_DIR})
endif()
list(REMOVE_DUPLICATES motus_private)

file(RELATIVE_PATH MOTUS_PC_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" MOTUS_PC_PREFIX "${MOTUS_PC_PREFIX}")
list(TRANSFORM motus_private PREPEND "-l" OUTPUT_VARIABLE MOTUS_PC_PRIVATE)
list(JOIN MOTUS_PC_PRIVATE " " MOTUS_PC_PRIVATE)
if(motus_private_dir)
  string(PREPEND MOTUS_PC_PRIVATE "-L${motus_private_dir} ")
endif()
configure_file(cmake/motus.pc.in motus.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/motus.pc
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT dev)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/motus)
set(motus_shared_file ${CMAKE_SHARED_LIBRARY_PREFIX}motus${CMAKE_SHARED_LIBRARY_SUFFIX})
set(motus_static_file ${CMAKE_STATIC_LIBRARY_PREFIX}motus${CMAKE_STATIC_LIBRARY_SUFFIX})
configure_package_config_file(cmake/motus-config.cmake.in motus-config.cmake
                              INSTALL_DESTINATION ${package_dir}
                              PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_LIBDIR
                              NO_CHECK_REQUIRED_COMPONENTS_MACRO)
# While the version is 0.x, a minor version may change the API: only the same one will do.
set(compatible SameMajorVersion)
if(PROJECT_VERSION_MAJOR EQUAL 0)
  set(compatible SameMinorVersion)
endif()
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/motus-config-version.cmake
                                 COMPATIBILITY ${compatible})
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/motus-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/motus-config-version.cmake
        DESTINATION ${package_dir} COMPONENT dev)
