// Package selection decides which objects of a source are imported, under which
// name and id, and with which tags and metadata: by the patterns and rules of a
// request, and by the description that stands beside an object.
//
// It reads nothing by itself: package source lists and opens objects, and the
// activities read the descriptions.
package selection
