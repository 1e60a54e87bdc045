// Package markdown reads Markdown (CommonMark with tables, task lists and
// strikethrough) into blocks: headings with their levels, paragraphs, lists,
// tables and code. Marks of emphasis and link targets go, text stays; HTML in
// between is reduced to its text.
package markdown
