package selection

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/source"
)

// maxExternalID is the longest external id, in bytes.
const maxExternalID = 1024

// SourceName names a source: two requests with the same name import the same objects.
func SourceName(s source.Spec) string {
	uri := strings.TrimSuffix(s.URI, "/")
	if s.Options.Endpoint == "" {
		return string(s.Type) + " " + uri
	}
	return string(s.Type) + " " + uri + " at " + strings.TrimSuffix(s.Options.Endpoint, "/")
}

// ExternalID returns the external id of the document of an object: its address, or its
// path below the name of its archive.
func ExternalID(s source.Spec, o source.Object) string {
	id := o.Address
	switch {
	case id == "":
		id = archiveName(s.URI) + "/" + o.Key
	case s.Options.Endpoint != "": // another service has other objects under the same address
		id = strings.TrimSuffix(s.Options.Endpoint, "/") + "/" + strings.Replace(id, "://", ":", 1)
	}
	if len(id) <= maxExternalID && !knowledge.HasControl(id) {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return "object:" + hex.EncodeToString(sum[:])
}

// archiveName returns the address of an archive without its query, which may be a
// signature, or the name or the id of an uploaded file.
func archiveName(uri string) string {
	if u, err := url.Parse(uri); err == nil && u.Host != "" {
		return u.Scheme + "://" + u.Host + u.Path
	}
	return strings.Trim(uri, "/")
}

// Pipeline is what makes a document of an object beside its bytes.
type Pipeline struct {
	Version    int // of the steps
	Splitter   knowledge.Splitter
	Enrichment knowledge.VersionEnrichment
	Access     *knowledge.Access
	Parser     knowledge.Parser `json:",omitempty"`
}

// Fingerprint returns a short text that changes with everything but the bytes that
// makes a document: the pipeline, the attributes of the request, and the description
// beside the object, by its etag.
func Fingerprint(p Pipeline, a Attributes, description string) string {
	data, err := json.Marshal(struct {
		Pipeline
		Attributes  Attributes
		Description string
	}{p, a, description})
	if err != nil {
		panic(fmt.Sprintf("encode attributes: %v", err)) // they came as JSON
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:8])
}
