package e2e_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// TestNoRouteOpensADocumentAboveTheClearance reads every route of openapi.json that names a document in
// its path or its query, with an administrator's key of a lower clearance: what is answered for a
// document below it is not found for one above.
func TestNoRouteOpensADocumentAboveTheClearance(t *testing.T) {
	t.Parallel()
	s := start(t, at(standIn(t, modeltest.Options{}).URL())...)
	above, below := s.classified(t, "Tourmaline", "restricted"), s.classified(t, "Feldspar", "internal")
	low := []string{"Authorization", "Bearer " + s.newKey(t, map[string]any{"name": "low", "scopes": []string{"admin"}, "clearance": "confidential"})}
	var description struct {
		Paths map[string]map[string]json.RawMessage
	}
	s.call(t, "GET", "/openapi.json", nil, &description)
	paths := []string{"/workspaces/{workspaceId}/access/explain?document_id={id}&user=ann", "/workspaces/{workspaceId}/documents/{id}/content?version=1"}
	for path, methods := range description.Paths {
		if _, reads := methods["get"]; reads && strings.Contains(path, "/documents/{id}") {
			paths = append(paths, path)
		}
	}
	opened := 0
	for _, path := range paths {
		of := func(d classified) (int, string) {
			path := strings.NewReplacer("{workspaceId}", "default", "{id}", d.document).Replace(path)
			res, body := s.raw(t, "GET", parameter.ReplaceAllString(path, "1"), "", nil, low...)
			return res.StatusCode, string(body)
		}
		if status, _ := of(below); status != http.StatusOK {
			t.Logf("%s answers with status %d", path, status)
			continue
		}
		opened++
		if status, body := of(above); status != http.StatusNotFound || strings.Contains(body, above.word) {
			t.Errorf("%s: status %d: %.300s", path, status, body)
		}
	}
	if opened < 8 {
		t.Errorf("%d routes of %d open a document", opened, len(paths))
	}
}
