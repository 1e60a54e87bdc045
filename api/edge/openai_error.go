package edge

import (
	"net/http"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// OpenAIError is the body of every error below /v1, in the shape that clients of the
// OpenAI protocol read.
type OpenAIError struct {
	Error OpenAIErrorDetail `json:"error"`
}

// OpenAIErrorDetail is a Problem in that shape.
type OpenAIErrorDetail struct {
	Message string         `json:"message" doc:"What is wrong with the request, and what to do"`
	Type    string         `json:"type" enum:"invalid_request_error,authentication_error,permission_error,rate_limit_error,server_error"`
	Param   *string        `json:"param" doc:"The first wrong field"`
	Code    knowledge.Code `json:"code" doc:"The stable name of the problem" example:"not_found"`
}

// maxOpenAIMessage bounds the message, in code points: it lists the wrong fields, for
// which the shape has no other place.
const maxOpenAIMessage = 1200

// speaksOpenAI reports whether a path belongs to the OpenAI protocol: /v1/…, also below
// the webhooks of a workspace.
func speaksOpenAI(path string) bool {
	if rest, ok := strings.CutPrefix(path, "/workspaces/"); ok {
		if _, rest, ok = strings.Cut(rest, "/webhooks"); ok {
			path = rest
		}
	}
	return path == "/v1" || strings.HasPrefix(path, "/v1/")
}

// OpenAI returns the error as clients of the OpenAI protocol read it.
func (p *Problem) OpenAI() OpenAIError {
	e := OpenAIErrorDetail{Message: p.Detail, Type: openAIType(p.Status), Code: p.Code}
	var wrong []string
	for _, field := range p.Errors {
		name := field.Location
		for _, part := range []string{"body.", "query.", "path."} {
			name = strings.TrimPrefix(name, part)
		}
		if e.Param == nil {
			e.Param = &name
		}
		wrong = append(wrong, name+" "+field.Message)
	}
	if len(wrong) > 0 && p.Code == knowledge.CodeInvalid {
		e.Message = knowledge.Cut(strings.Join(wrong, "; "), maxOpenAIMessage)
	}
	return OpenAIError{e}
}

func openAIType(status int) string {
	switch {
	case status == http.StatusUnauthorized:
		return "authentication_error"
	case status == http.StatusForbidden:
		return "permission_error"
	case status == http.StatusTooManyRequests:
		return "rate_limit_error"
	case status >= http.StatusInternalServerError:
		return "server_error"
	default:
		return "invalid_request_error"
	}
}

// NewOpenAIError returns err as clients of the OpenAI protocol read it, for an answer
// that has begun.
func NewOpenAIError(err error) OpenAIError { return newProblem(Classify(err)).OpenAI() }

// openAISchema is where the schema of these errors stands.
const openAISchema = "#/components/schemas/OpenAIError"

// ErrorResponseOf describes the errors that the operations of a path can answer with.
func ErrorResponseOf(path string) *huma.Response {
	if speaksSCIM(path) {
		return scimErrorResponse()
	}
	if !speaksOpenAI(path) {
		return ErrorResponse()
	}
	return &huma.Response{
		Description: "Error",
		Content:     map[string]*huma.MediaType{"application/json": {Schema: &huma.Schema{Ref: openAISchema}}},
	}
}
