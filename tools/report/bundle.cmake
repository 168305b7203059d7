# Makes the report's page one text and that text a C array: cmake -DSOURCE=DIR -DOUTPUT=FILE.c -P bundle.cmake
# No other tools are needed, and no network: uPlot lies beside this file.
include("${CMAKE_CURRENT_LIST_DIR}/sources.cmake")

function(join_files result)
  set(text "")
  foreach(name ${ARGN})
    file(READ "${SOURCE}/${name}" part)
    string(APPEND text "${part}\n")
  endforeach()
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

file(READ "${SOURCE}/page.html" page)
file(READ "${SOURCE}/uplot/LICENSE" licence)
join_files(style ${report_styles})
join_files(script ${report_scripts})
string(REPLACE "@STYLE@" "${style}" page "${page}")
string(REPLACE "@SCRIPT@" "/* uPlot:\n${licence}*/\n${script}" page "${page}")

file(WRITE "${OUTPUT}.html" "${page}") # the page as it goes into the program, for whoever works on it
file(READ "${OUTPUT}.html" hex HEX)
string(LENGTH "${hex}" digits)
math(EXPR size "${digits} / 2")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${hex}") # as characters: above 0x7f a number would not fit into a char
string(REGEX REPLACE "(('\\\\x..',)('\\\\x..',)('\\\\x..',)('\\\\x..',)('\\\\x..',)('\\\\x..',)('\\\\x..',)('\\\\x..',))" "\\1\n" bytes "${bytes}")
file(WRITE "${OUTPUT}" "#include \"tools/report/report_page.h\"\n\nconst char motus_report_page[] = {\n${bytes}0};\nconst size_t motus_report_page_size = ${size};\n")
