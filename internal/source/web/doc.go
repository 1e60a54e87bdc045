// Package web fetches pages and files by HTTP for sources: with conditional
// requests, few connections to a host, and the waits that a host asks for. It
// knows neither lists of addresses nor links.
package web
