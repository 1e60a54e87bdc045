// Package paged gives pages to office documents that were read without any: spreadsheets,
// and texts and slides that were read where LibreOffice was missing or too slow. The pages
// are those of a PDF that LibreOffice makes of the original when somebody wants to see them.
// The words of the document are found again on that PDF, so that a passage has its place.
//
// The PDF and the places are kept below the version, and are removed with it. Package paged
// checks no permission: its callers have read the version as the reader who asks.
package paged
