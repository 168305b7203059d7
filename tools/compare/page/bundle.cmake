# Bundles the report's page as a C array: cmake -DSOURCE=DIR -DOUTPUT=FILE.c -P bundle.cmake
# It needs no other tools and no network: uPlot is in this folder.
include("${CMAKE_CURRENT_LIST_DIR}/sources.cmake")

function(join_files result)
  set(text "")
  foreach(name ${ARGN})
    file(READ "${SOURCE}/${name}" content)
    string(APPEND text "${content}\n")
  endforeach()
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

file(READ "${SOURCE}/page.html" page)
file(READ "${SOURCE}/uplot/LICENSE" licence)
join_files(style ${report_styles})
join_files(script ${report_scripts})
string(REPLACE "@STYLE@" "${style}" page "${page}")
string(REPLACE "@SCRIPT@" "/* uPlot:\n${licence}*/\n${script}" page "${page}")

file(WRITE "${OUTPUT}.html" "${page}") # the bundled page, for development
file(READ "${OUTPUT}.html" hex HEX)
string(LENGTH "${hex}" digits)
math(EXPR size "${digits} / 2")
# Characters, since numbers above 0x7f do not fit into a char.
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${hex}")
set(one "'\\\\x..',")
set(four "${one}${one}${one}${one}")
string(REGEX REPLACE "(${four}${four})" "\\1\n" bytes "${bytes}")
file(WRITE "${OUTPUT}" "#include \"tools/compare/page/report_page.h\"

const char motus_report_page[] = {
${bytes}0};
const size_t motus_report_page_size = ${size};
")
