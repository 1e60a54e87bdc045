package edge

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
)

// SCIMType is the media type of SCIM (RFC 7644, section 3.1).
const SCIMType = "application/scim+json"

// SCIMError is the body of every error below /scim/v2 (RFC 7644, section 3.12).
type SCIMError struct {
	Schemas []string `json:"schemas"`
	Status  string   `json:"status" doc:"The HTTP status" example:"404"`
	Type    string   `json:"scimType,omitempty" doc:"What is wrong with a request of status 400 or 409" example:"uniqueness"`
	Detail  string   `json:"detail,omitempty"`
}

// speaksSCIM reports whether a path belongs to SCIM, also below a workspace.
func speaksSCIM(path string) bool {
	if rest, ok := strings.CutPrefix(path, "/workspaces/"); ok {
		_, path, _ = strings.Cut(rest, "/")
		path = "/" + path
	}
	return strings.HasPrefix(path, "/scim/")
}

func writeSCIMError(w http.ResponseWriter, p *Problem) {
	w.Header().Set("Content-Type", SCIMType)
	w.WriteHeader(p.Status)
	encodeJSON(w, SCIMError{Schemas: []string{"urn:ietf:params:scim:api:messages:2.0:Error"}, Status: strconv.Itoa(p.Status), Detail: p.Detail})
}

func scimErrorResponse() *huma.Response {
	return &huma.Response{
		Description: "Error",
		Content:     map[string]*huma.MediaType{SCIMType: {Schema: &huma.Schema{Ref: "#/components/schemas/SCIMError"}}},
	}
}
