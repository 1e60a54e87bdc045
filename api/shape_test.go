package api_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func keysOf(object map[string]any) []string { return slices.Sorted(maps.Keys(object)) }

// wantKeys compares the keys of an object with those that the contract names.
func wantKeys(t *testing.T, object any, keys ...string) {
	t.Helper()
	m, ok := object.(map[string]any)
	if !ok {
		t.Fatalf("not an object: %v", object)
	}
	slices.Sort(keys)
	if diff := cmp.Diff(keys, keysOf(m)); diff != "" {
		t.Errorf("keys (-want +got):\n%s", diff)
	}
}

var documentKeys = []string{
	"id", "externalId", "name", "mediaType", "bytes", "status", "stage", "progress", "publishedVersion", "error", "version",
	"chunkCount", "pageCount", "language", "tags", "metadata", "classification", "access", "createdAt", "updatedAt", "operatorUrl",
}
