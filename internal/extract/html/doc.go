// Package html reads HTML pages. It detects the character set in the order that
// browsers use, drops scripts, styles and navigation, and converts the rest
// through Markdown.
package html
