// Package html reads HTML pages: the character set as browsers find it, without
// scripts, styles and navigation, by way of Markdown.
package html
