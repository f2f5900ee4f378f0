"""Charts as SVG text: pure functions from figures to pictures, for the report and the dashboard.

No script and no `style` attribute; colours come from the page's sheet, by class; all text is
escaped. A page that shows marks holds `marks.definitions()` once. The outer SVG is in pixels with
percentages for x, and what must stretch is in inner ones: so text never scales.
"""
