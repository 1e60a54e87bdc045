// Package knowledgetest makes values of the vocabulary that tests need.
package knowledgetest

import (
	"encoding/json"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Principal returns a principal with these claims. It reads them as the stored snapshot
// of a run is read, because only package access creates principals from claims.
func Principal(c knowledge.Claims) knowledge.Principal {
	data, err := json.Marshal(c)
	if err != nil {
		panic(err) // claims are strings and booleans
	}
	var p knowledge.Principal
	if err := json.Unmarshal(data, &p); err != nil {
		panic(err)
	}
	return p
}
