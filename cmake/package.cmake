# Makes Debian packages with `cpack -G DEB`, one for each component of install.cmake. dpkg-shlibdeps
# finds their dependencies. Configure with -DCMAKE_INSTALL_PREFIX=/usr, or libraries lie in /usr/lib
# instead of Debian's folder for the architecture, the only one where GStreamer looks for plug-ins.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME motus)
set(CPACK_PACKAGE_VENDOR motus)
set(CPACK_PACKAGE_CONTACT "the motus developers <motus@localhost>")
# CPack's default; a component's own description goes before it.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${CMAKE_PROJECT_NAME} built using CMake")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/packages)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_STRIP_FILES ON)

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/package_files.cmake)

# The library's package is named after its soname: two versions can be installed side by side.
set(CPACK_COMPONENTS_ALL runtime dev)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME libmotus${soversion})
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(subject "H.264 motion estimation and encoding")
string(CONCAT CPACK_COMPONENT_RUNTIME_DESCRIPTION "${subject}, shared library\n"
       "Exhaustive motion estimation with all vectors of a picture, and an H.264 encoder\n"
       "(Constrained Baseline to High), on CPUs and CUDA devices.")
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libmotus-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "libmotus${soversion} (= ${PROJECT_VERSION})")
string(CONCAT CPACK_COMPONENT_DEV_DESCRIPTION "${subject}, for developers\n"
       "Headers, the static library, and what pkg-config and CMake need.")
if(TARGET motus)
  list(APPEND CPACK_COMPONENTS_ALL tools)
  set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME motus)
  set(CPACK_DEBIAN_TOOLS_PACKAGE_SECTION video)
  string(CONCAT CPACK_COMPONENT_TOOLS_DESCRIPTION "${subject}, the program\n"
         "Encodes sequences, searches, draws and compares motion vectors.")
endif()
if(TARGET motus-mpi)
  list(APPEND CPACK_COMPONENTS_ALL mpi)
  set(CPACK_DEBIAN_MPI_PACKAGE_NAME motus-mpi)
  set(CPACK_DEBIAN_MPI_PACKAGE_SECTION video)
  string(CONCAT CPACK_COMPONENT_MPI_DESCRIPTION "H.264 encoding on many machines\n"
         "The encoder of motus, spread over processes of MPI.")
endif()
if(TARGET gstmotus)
  list(APPEND CPACK_COMPONENTS_ALL gstreamer)
  set(CPACK_DEBIAN_GSTREAMER_PACKAGE_NAME gstreamer1.0-motus)
  set(CPACK_DEBIAN_GSTREAMER_PACKAGE_SECTION video)
  string(CONCAT CPACK_COMPONENT_GSTREAMER_DESCRIPTION
         "H.264 encoding with motus, GStreamer plug-in\n" "The element motush264enc.")
endif()
include(CPack)
