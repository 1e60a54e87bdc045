// Package crawl reads the pages of a site: from its start, along links and
// sitemaps, on the same host, as robots.txt allows. It fetches one page at a time,
// with a delay between them.
//
// List fetches pages and saves their bytes in the state of the import, because it
// needs their links. Open returns the saved bytes, so every page is requested
// once. After a crash, List continues with the addresses that were saved last.
//
// A crawl ends on every site: addresses that look like a trap are not visited
// (address.go), and the numbers of pages and of links between the start and a
// page are limited.
package crawl
