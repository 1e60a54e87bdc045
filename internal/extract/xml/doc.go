// Package xml reads XML documents whose vocabulary nobody knows: prose with titles and
// paragraphs, records, feeds (RSS, Atom) and drawings (SVG).
//
// Nothing outside the document is read. Entities are replaced by their text if the
// document declares them as plain text; other entities are refused.
package xml
