// Package manual typesets the sample service manual as a PDF: text in the
// standard Helvetica fonts, headings, tables with ruled lines, and a footer on
// each page. It supports only what that document needs.
package manual
