// Package latex reads LaTeX: headings, lists, tables, listings and paragraphs, without
// commands, comments and the preamble. Formulas become one line. Commands that the text
// defines are replaced by their texts, within bounds; nothing is run and nothing is included.
package latex
