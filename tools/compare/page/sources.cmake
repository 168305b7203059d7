# Sources of the report's page, in this order.
set(report_styles uplot/uPlot.min.css page.css)
set(report_scripts uplot/uPlot.iife.min.js data.js format.js tables.js charts.js draw.js
                   macroblock.js viewer.js main.js)
set(report_sources page.html uplot/LICENSE ${report_styles} ${report_scripts})
