# The CUDA language and its flags. MOTUS_HAVE_CUDA says whether the backend is built.
include(${CMAKE_CURRENT_LIST_DIR}/gpus.cmake)
set(MOTUS_HAVE_CUDA OFF)
if(NOT MOTUS_CUDA STREQUAL "OFF")
  include(CheckLanguage)
  if(NOT CMAKE_CUDA_COMPILER AND EXISTS /usr/local/cuda/bin/nvcc)
    set(CMAKE_CUDA_COMPILER /usr/local/cuda/bin/nvcc)
  endif()
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    motus_choose_gpus()
    enable_language(CUDA CXX)
    foreach(language CUDA CXX)
      set(CMAKE_${language}_STANDARD 17)
      set(CMAKE_${language}_STANDARD_REQUIRED ON)
      set(CMAKE_${language}_VISIBILITY_PRESET hidden)
    endforeach()
    find_package(CUDAToolkit REQUIRED)
    set(MOTUS_HAVE_CUDA ON)
    set(gpus "${CMAKE_CUDA_ARCHITECTURES}")
    if(gpus STREQUAL "native")
      set(gpus "${CMAKE_CUDA_ARCHITECTURES_NATIVE}")
    elseif(gpus STREQUAL "all-major")
      set(gpus "${CMAKE_CUDA_ARCHITECTURES_ALL_MAJOR}")
    endif()
    motus_gpu_names(MOTUS_GPU_NAMES "${gpus}")
    message(STATUS "motus: compiles for ${MOTUS_GPU_NAMES} (${MOTUS_GPUS_WHY})")
    # One rule for both halves of a .cu: nvcc's front end and ptxas, and the host compiler.
    add_compile_options($<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra>)
    if(MOTUS_WERROR)
      add_compile_options($<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings>
                          $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Werror>)
    endif()
  elseif(MOTUS_CUDA STREQUAL "ON")
    message(FATAL_ERROR "MOTUS_CUDA=ON, but no CUDA compiler was found")
  endif()
endif()
message(STATUS "motus: CUDA backend ${MOTUS_HAVE_CUDA}")

# motus_cuda_sources(FILE.cu...): adds files to the library where the backend is built; C code asks
# with #ifdef MOTUS_HAVE_CUDA. The runtime is linked statically and kept private: a library with the
# CUDA backend still loads, and runs on the CPU, where there is no driver.
function(motus_cuda_sources)
  if(NOT MOTUS_HAVE_CUDA)
    return()
  endif()
  target_sources(motus_objects PRIVATE ${ARGN})
  target_compile_definitions(motus_objects PRIVATE MOTUS_HAVE_CUDA)
  target_link_libraries(motus_objects PUBLIC CUDA::cudart_static)
endfunction()

# motus_cuda_host_sources(FILE.cu...): the same for files without kernels. The C++ compiler takes
# them, in a tenth of a second; nvcc needs two and a half for seven architectures.
function(motus_cuda_host_sources)
  if(NOT MOTUS_HAVE_CUDA)
    return()
  endif()
  motus_cuda_sources(${ARGN})
  set_source_files_properties(${ARGN} TARGET_DIRECTORY motus_objects PROPERTIES LANGUAGE CXX)
endfunction()

# motus_no_cuda_source(FILE.c): stands in for a folder's .cu files in a build without the backend;
# its functions ignore their parameters.
function(motus_no_cuda_source file)
  if(MOTUS_HAVE_CUDA)
    return()
  endif()
  target_sources(motus_objects PRIVATE ${file})
  set_source_files_properties(${file} TARGET_DIRECTORY motus_objects
                              PROPERTIES COMPILE_OPTIONS "-Wno-unused-parameter")
endfunction()
