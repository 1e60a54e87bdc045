// Package markdown reads Markdown (CommonMark with tables, task lists and
// strikethrough) into blocks: headings with their levels, paragraphs, lists,
// tables and code. It drops emphasis marks and link targets and keeps their
// text. HTML in the text is reduced to its own text.
package markdown
