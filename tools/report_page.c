// A plain page: the verdict, and the data as they are.
// SPDX-License-Identifier: BSD-2-Clause
#include "tools/report_page.h"

const char motus_report_page[] =
    "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>motus compare</title>\n"
    "<style>:root{color-scheme:light dark}body{font:16px sans-serif;max-width:60em;margin:2em auto;padding:0 1em}"
    "pre{overflow:auto}</style>\n<h1>motus compare</h1>\n<div id=\"verdict\"></div>\n<pre id=\"total\"></pre>\n"
    "<script type=\"application/json\" id=\"motus-data\">@MOTUS_DATA@</script>\n"
    "<script>const d=JSON.parse(document.getElementById('motus-data').textContent);\n"
    "for(const s of d.verdict){const "
    "p=document.createElement('p');p.textContent=s;document.getElementById('verdict').append(p)}\n"
    "document.getElementById('total').textContent=JSON.stringify(d.total,null,1)</script>\n</html>\n";
const size_t motus_report_page_size = sizeof motus_report_page - 1;
