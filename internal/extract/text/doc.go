// Package text reads plain text, source code, JSON and JSON lines. Its input is
// decoded text (package charset).
package text
