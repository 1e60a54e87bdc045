// Package urllist reads the addresses of a list. The list is read once for an
// import, so that its pages stay the same while it runs.
package urllist
