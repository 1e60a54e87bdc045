// Package manual sets the sample service manual as a PDF: text in the standard
// Helvetica fonts, headings, tables with ruled lines, a footer on each page. It
// is as much of a typesetter as that one document needs.
package manual
