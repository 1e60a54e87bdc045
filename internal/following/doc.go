// Package following keeps connections to services, and syncs that follow places there: it
// starts their runs, each of which is an import, and opens their places.
//
// It neither lists nor reads anything itself: package source has the places, and the
// activities of imports read them.
package following
