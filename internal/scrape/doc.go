// Package scrape reads pages of the web that a search engine found: it requests each
// within limits of time and size, as the site's robots.txt allows, and has its main text
// extracted. It does not search, and it does not follow links.
package scrape
