# Warnings and sanitizers, for every target.
add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-Wall> $<$<COMPILE_LANGUAGE:C,CXX>:-Wextra> $<$<COMPILE_LANGUAGE:C,CXX>:-Wshadow>
                    $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes> $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes>
                    $<$<COMPILE_LANGUAGE:C>:-Wpointer-arith> $<$<COMPILE_LANGUAGE:C>:-Wvla>)
if(MOTUS_WERROR)
  add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-Werror>)
endif()
if(MOTUS_SANITIZE)
  add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=${MOTUS_SANITIZE}> $<$<COMPILE_LANGUAGE:C,CXX>:-fno-omit-frame-pointer>)
  if(MOTUS_SANITIZE MATCHES undefined)
    add_compile_options($<$<COMPILE_LANGUAGE:C,CXX>:-fno-sanitize-recover=undefined>)
  endif()
  add_link_options(-fsanitize=${MOTUS_SANITIZE})
endif()
