package edge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"syscall"

	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
)

// problemType is the media type of every error.
const problemType = "application/problem+json"

// statusClientClosed is counted for a client that left before its answer.
const statusClientClosed = 499

// kinds maps each code to its HTTP status and its title.
var kinds = map[knowledge.Code]struct {
	status int
	title  string
}{
	knowledge.CodeMalformed:         {http.StatusBadRequest, "The request cannot be read"},
	knowledge.CodeUnauthorized:      {http.StatusUnauthorized, "Credentials are missing or wrong"},
	knowledge.CodeForbidden:         {http.StatusForbidden, "Not allowed"},
	knowledge.CodeNotFound:          {http.StatusNotFound, "Not found"},
	knowledge.CodeMethodNotAllowed:  {http.StatusMethodNotAllowed, "Method not allowed"},
	knowledge.CodeConflict:          {http.StatusConflict, "Conflict"},
	knowledge.CodeGone:              {http.StatusGone, "Gone"},
	knowledge.CodeTooLarge:          {http.StatusRequestEntityTooLarge, "Too large"},
	knowledge.CodeInvalid:           {http.StatusUnprocessableEntity, "The request is not valid"},
	knowledge.CodeRateLimited:       {http.StatusTooManyRequests, "Too many requests"},
	knowledge.CodeLimitReached:      {http.StatusConflict, "A limit is reached"},
	knowledge.CodeCanceled:          {http.StatusConflict, "Canceled"},
	knowledge.CodeProviderFailed:    {http.StatusBadGateway, "A provider failed"},
	knowledge.CodeNeedsComponent:    {http.StatusNotImplemented, "A component is missing"},
	knowledge.CodeUnavailable:       {http.StatusServiceUnavailable, "Not available now"},
	knowledge.CodeInternal:          {http.StatusInternalServerError, "Internal error"},
	knowledge.CodeEmpty:             {http.StatusUnprocessableEntity, "The file has no text"},
	knowledge.CodeUnsupportedFormat: {http.StatusUnsupportedMediaType, "Format not supported"},
	knowledge.CodeEncrypted:         {http.StatusUnprocessableEntity, "The document is encrypted"},
	knowledge.CodeCorrupt:           {http.StatusUnprocessableEntity, "The document is corrupt"},
	knowledge.CodeParseLimit:        {http.StatusUnprocessableEntity, "The document exceeds the limits of parsing"},
	knowledge.CodePIIFound:          {http.StatusUnprocessableEntity, "The document has personal data"},
	knowledge.CodeConsentMissing:    {http.StatusUnprocessableEntity, "A consent is missing"},
	knowledge.CodeStepFailed:        {http.StatusUnprocessableEntity, "A step of the project failed"},
	knowledge.CodeStepRejected:      {http.StatusUnprocessableEntity, "A step of the project refused it"},
	knowledge.CodeRejected:          {http.StatusUnprocessableEntity, "The file is rejected as malware"},
}

// Problem is the body of every error (RFC 9457).
type Problem struct {
	Type   string         `json:"type" doc:"The URL of the explanation of the code" example:"/docs#not_found"`
	Title  string         `json:"title" doc:"The kind of problem"`
	Status int            `json:"status" doc:"The HTTP status"`
	Detail string         `json:"detail" doc:"What is wrong with the request, and what to do"`
	Code   knowledge.Code `json:"code" doc:"The stable name of the problem" example:"not_found"`
	Errors []ProblemField `json:"errors" doc:"The wrong fields"`

	headers http.Header
}

// ProblemField is one wrong field.
type ProblemField struct {
	Location string `json:"location" doc:"The location of the wrong field" example:"body.filters[0].type"`
	Message  string `json:"message" doc:"What is wrong with the field"`
}

// Error implements error.
func (p *Problem) Error() string { return p.Detail }

// GetStatus implements huma.StatusError.
func (p *Problem) GetStatus() int { return p.Status }

// GetHeaders implements huma.HeadersError.
func (p *Problem) GetHeaders() http.Header { return p.headers }

// ContentType implements huma.ContentTypeFilter.
func (p *Problem) ContentType(string) string { return problemType }

// The bounds of an error's body, whatever was sent.
const (
	maxLocation    = 200 // code points; a location may be a path that the client made up
	maxMessage     = 400 // code points, of which a message repeats at most 200 of a value (knowledge.Messagef)
	maxHumaMessage = 200 // code points of a message that huma made
	maxErrors      = 20
	maxProblem     = 7900 // bytes of the whole body
)

// addFields lists the wrong fields within these bounds. The detail counts the
// fields that are left out.
func (p *Problem) addFields(fields []knowledge.Field) {
	for _, f := range fields[:min(len(fields), maxErrors)] {
		p.Errors = append(p.Errors, ProblemField{Location: knowledge.Cut(f.Location, maxLocation), Message: knowledge.Cut(f.Message, maxMessage)})
	}
	for len(p.Errors) > 1 && p.size() > maxProblem {
		p.Errors = p.Errors[:len(p.Errors)-1]
	}
	if more := len(fields) - len(p.Errors); more > 0 {
		p.Detail += fmt.Sprintf(" (%d more are not listed)", more)
	}
}

// size returns the length of the body in bytes.
func (p *Problem) size() int {
	body, err := json.Marshal(p)
	if err != nil {
		return 0 // a Problem holds nothing that has no JSON
	}
	return len(body)
}

// newProblem returns the body with which a client sees e.
func newProblem(e *knowledge.Error) *Problem {
	kind, ok := kinds[e.Code]
	if !ok {
		kind = kinds[knowledge.CodeInternal]
		e = &knowledge.Error{Code: knowledge.CodeInternal, Message: "something went wrong on our side"}
	}
	p := &Problem{
		Type: "/docs#" + string(e.Code), Title: kind.title, Status: kind.status, Detail: knowledge.Cut(e.Message, maxMessage), Code: e.Code,
		Errors: []ProblemField{}, headers: http.Header{},
	}
	p.addFields(e.Fields)
	if e.RetryAfter > 0 {
		p.headers.Set("Retry-After", strconv.Itoa(int(math.Ceil(e.RetryAfter.Seconds()))))
	}
	if e.Code == knowledge.CodeUnauthorized {
		p.headers.Set("WWW-Authenticate", "Bearer")
	}
	return p
}

// Classify returns the error with a code that err is or stands for.
func Classify(err error) *knowledge.Error {
	var tooLarge *http.MaxBytesError
	codeError, ok := errors.AsType[*knowledge.Error](err)
	provider, fromModel := errors.AsType[*model.Error](err)
	switch {
	case ok:
		return codeError
	case fromModel:
		return provider.Public()
	case errors.As(err, &tooLarge):
		return knowledge.TooLarge("body", tooLarge.Limit)
	case errors.Is(err, blob.ErrNoSpace), errors.Is(err, syscall.ENOSPC):
		return knowledge.Errorf(knowledge.CodeUnavailable, "the disk of the server is full; nothing was stored").WithCause(err)
	case errors.Is(err, context.DeadlineExceeded):
		return knowledge.Errorf(knowledge.CodeUnavailable, "the request took too long; try again shortly").WithCause(err)
	}
	return knowledge.AsError(err)
}

// problem returns the body with which a client sees err, and logs the rest of err.
func problem(ctx context.Context, log *slog.Logger, err error) *Problem {
	e := Classify(err)
	if refuse := callOf(ctx).refuse; e.Code == knowledge.CodeUnauthorized && refuse != nil {
		e = refuse(e)
	}
	p := newProblem(e)
	noteCode(ctx, p.Code)
	switch {
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		p.Status = statusClientClosed
		log.DebugContext(ctx, "client left", "error", err)
	case p.Status >= http.StatusInternalServerError && p.Code != knowledge.CodeNeedsComponent:
		log.ErrorContext(ctx, "request failed", "code", p.Code, "error", err)
	case e.Cause != nil || p.Code == knowledge.CodeNeedsComponent: // which is no failure of ours
		log.InfoContext(ctx, "request refused", "code", p.Code, "error", err)
	}
	return p
}

// LogError logs an error that ends an answer which has begun.
func LogError(r *http.Request, err error) { _ = problem(r.Context(), RequestLog(r.Context()), err) }

// RefusalOf returns the code with which a client sees err, and logs and counts err as WriteError
// does.
func RefusalOf(r *http.Request, err error) knowledge.Code {
	return problem(r.Context(), RequestLog(r.Context()), err).Code
}

// WriteError answers with err, for handlers that write their response themselves.
// A response that has begun is cut off.
func WriteError(w http.ResponseWriter, r *http.Request, err error) {
	p := problem(r.Context(), RequestLog(r.Context()), err)
	if hasBegun(w) {
		panic(http.ErrAbortHandler)
	}
	if p.Code == knowledge.CodeTooLarge {
		drain(w, r)
	}
	writeProblem(w, r, p)
}

func writeProblem(w http.ResponseWriter, r *http.Request, p *Problem) {
	noteCode(r.Context(), p.Code)
	for name, values := range p.headers {
		w.Header()[name] = values
	}
	if speaksOpenAI(r.URL.Path) {
		WriteJSON(w, p.Status, p.OpenAI())
		return
	}
	if speaksSCIM(r.URL.Path) {
		writeSCIMError(w, p)
		return
	}
	w.Header().Set("Content-Type", problemType)
	w.WriteHeader(p.Status)
	encodeJSON(w, p)
}

// WriteJSON answers with v.
func WriteJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	encodeJSON(w, v)
}

func encodeJSON(w http.ResponseWriter, v any) {
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(v) // what fails is the connection, and the client has left
}

// reshape is the huma transformer that turns huma's own errors into a Problem.
func reshape(ctx huma.Context, _ string, v any) (any, error) {
	theirs, ok := v.(*huma.ErrorModel)
	if !ok {
		return v, nil
	}
	code, detail := knowledge.CodeInvalid, "some fields are not valid; see errors"
	switch theirs.Status {
	case http.StatusBadRequest:
		code, detail = knowledge.CodeMalformed, "the body cannot be read; see errors"
		if len(theirs.Errors) == 0 {
			detail = "this request needs a JSON body"
		}
	case http.StatusUnsupportedMediaType:
		code, detail = knowledge.CodeUnsupportedFormat, "the body must be application/json"
		theirs.Errors = nil
	case http.StatusInternalServerError:
		code, detail = knowledge.CodeInternal, "something went wrong on our side"
		theirs.Errors = nil
	}
	e := knowledge.Errorf(code, "%s", detail)
	for _, d := range theirs.Errors {
		e.Fields = append(e.Fields, fieldOf(d))
	}
	p := newProblem(e)
	noteCode(ctx.Context(), p.Code)
	p.Status = theirs.Status
	return p, nil
}
