// Package latex reads LaTeX: headings, lists, tables, listings and paragraphs, without
// commands, comments and the preamble. Formulas become one line. Nothing is run and nothing
// is included: macros of the text itself are not expanded.
package latex
