# The CUDA language and its flags. MOTUS_HAVE_CUDA says whether the backend is built.
set(MOTUS_HAVE_CUDA OFF)
if(NOT MOTUS_CUDA STREQUAL "OFF")
  include(CheckLanguage)
  if(NOT CMAKE_CUDA_COMPILER AND EXISTS /usr/local/cuda/bin/nvcc)
    set(CMAKE_CUDA_COMPILER /usr/local/cuda/bin/nvcc)
  endif()
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
      set(CMAKE_CUDA_ARCHITECTURES 90-real)
    endif()
    enable_language(CUDA)
    set(CMAKE_CUDA_STANDARD 17)
    set(CMAKE_CUDA_STANDARD_REQUIRED ON)
    set(CMAKE_CUDA_VISIBILITY_PRESET hidden)
    find_package(CUDAToolkit REQUIRED)
    set(MOTUS_HAVE_CUDA ON)
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

# motus_cuda_sources(FILE.cu...): adds kernels to the library if the backend is built; C code asks
# with #ifdef MOTUS_HAVE_CUDA. The runtime is linked statically and kept private: a library with the
# CUDA backend loads without a driver and runs on the CPU.
function(motus_cuda_sources)
  if(NOT MOTUS_HAVE_CUDA)
    return()
  endif()
  target_sources(motus_objects PRIVATE ${ARGN})
  target_compile_definitions(motus_objects PRIVATE MOTUS_HAVE_CUDA)
  target_link_libraries(motus_objects PUBLIC CUDA::cudart_static)
endfunction()

# motus_no_cuda_source(FILE.c): replaces a folder's .cu files in a build without the backend; its
# functions ignore their parameters.
function(motus_no_cuda_source file)
  if(MOTUS_HAVE_CUDA)
    return()
  endif()
  target_sources(motus_objects PRIVATE ${file})
  set_source_files_properties(${file} TARGET_DIRECTORY motus_objects
                              PROPERTIES COMPILE_OPTIONS "-Wno-unused-parameter")
endfunction()
