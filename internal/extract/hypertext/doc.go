// Package hypertext reads the parts of HTML that web pages and Markdown share: tables
// with cells that cover others, raised and lowered text, and formulas in MathML.
package hypertext
