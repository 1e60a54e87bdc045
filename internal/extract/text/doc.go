// Package text reads files that are nothing but text: plain text, source code,
// JSON and JSON lines. It takes decoded text (package charset).
package text
