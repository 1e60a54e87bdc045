package knowledge

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// Code is the stable name of an error, as clients see it.
type Code string

// The error codes. docs/errors.md says what each means and what to do.
const (
	CodeMalformed         Code = "malformed"          // not JSON, not UTF-8
	CodeUnauthorized      Code = "unauthorized"       // missing or wrong credentials
	CodeForbidden         Code = "forbidden"          // known, but not allowed
	CodeNotFound          Code = "not_found"          // does not exist for this principal
	CodeMethodNotAllowed  Code = "method_not_allowed" // the route has other methods
	CodeConflict          Code = "conflict"           // contradicts what is there
	CodeGone              Code = "gone"               // existed, was removed
	CodeTooLarge          Code = "too_large"          // above a limit of size
	CodeInvalid           Code = "invalid"            // wrong type, range, field or name
	CodeRateLimited       Code = "rate_limited"       // too many at a time
	CodeLimitReached      Code = "limit_reached"      // a quota is used up
	CodeCanceled          Code = "canceled"           // somebody stopped it
	CodeProviderFailed    Code = "provider_failed"    // a model or another service failed
	CodeNeedsComponent    Code = "needs_component"    // an optional program is not installed, or a part of Cairn is not there
	CodeUnavailable       Code = "unavailable"        // starting, stopping, a store is down, the keys of JWTs cannot be fetched
	CodeInternal          Code = "internal"           // a defect of ours
	CodeEmpty             Code = "empty"              // no text in it
	CodeUnsupportedFormat Code = "unsupported_format" // a kind of file we do not read
	CodeEncrypted         Code = "encrypted"          // a document that asks for a password
	CodeCorrupt           Code = "corrupt"            // a document that cannot be parsed
	CodeParseLimit        Code = "parse_limit"        // parsing ran over time, memory or size
	CodePIIFound          Code = "pii_found"          // personal data in a project that refuses it
	CodeConsentMissing    Code = "consent_missing"    // nobody recorded a consent that the project requires
	CodeRejected          Code = "rejected"           // a malware scanner found something in a file
	CodeStepFailed        Code = "step_failed"        // a step that the project requires failed
	CodeStepRejected      Code = "step_rejected"      // a step of the project refused a document or an answer
)

// Known reports whether the code is one of those above.
func (c Code) Known() bool {
	switch c {
	case CodeMalformed, CodeUnauthorized, CodeForbidden, CodeNotFound, CodeMethodNotAllowed, CodeConflict, CodeGone, CodeTooLarge, CodeInvalid,
		CodeRateLimited, CodeLimitReached, CodeCanceled, CodeProviderFailed, CodeNeedsComponent, CodeUnavailable,
		CodeInternal, CodeEmpty, CodeUnsupportedFormat, CodeEncrypted, CodeCorrupt, CodeParseLimit, CodePIIFound,
		CodeConsentMissing, CodeRejected, CodeStepFailed, CodeStepRejected:
		return true
	}
	return false
}

// Field names one wrong field of a request.
type Field struct {
	Location string `json:"location"` // "body.filters[0].type", "query.limit"
	Message  string `json:"message"`
}

// Error is an error whose code and message may be shown to a client. Text that
// came from elsewhere (a provider's words, SQL, a path) stays in the wrapped
// cause, which is logged and never shown.
type Error struct {
	Code       Code
	Message    string
	Fields     []Field
	RetryAfter time.Duration // 0 = not said
	Retryable  bool          // trying again later can help
	Final      bool          // trying again cannot help, whatever the code says
	Waits      bool          // a service of the operator is away: steps wait for it, which counts for no try
	Cause      error
}

// Error implements error. It includes the cause and is for logs only.
func (e *Error) Error() string {
	if e.Cause != nil {
		return fmt.Sprintf("%s: %s: %v", e.Code, e.Message, e.Cause)
	}
	return fmt.Sprintf("%s: %s", e.Code, e.Message)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Errorf returns an Error with a message for clients. A message repeats at most
// maxRepeated characters of a request: string and error arguments are cut there.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: Messagef(format, args...)}
}

// maxRepeated is how many code points of one value of a request a message repeats.
const maxRepeated = 200

// Messagef formats a message for clients as Errorf does.
func Messagef(format string, args ...any) string {
	args = slices.Clone(args)
	for i, arg := range args {
		switch v := arg.(type) {
		case string:
			args[i] = Cut(v, maxRepeated)
		case error:
			args[i] = Cut(v.Error(), maxRepeated)
		}
	}
	return fmt.Sprintf(format, args...)
}

// Cut returns text, or its first code points and an ellipsis where it has more
// than most of them.
func Cut(text string, most int) string {
	for i := range text {
		if most == 0 {
			return text[:i] + "…"
		}
		most--
	}
	return text
}

// WithCause sets the cause, for the log, and returns e.
func (e *Error) WithCause(err error) *Error {
	e.Cause = err
	return e
}

// AsError returns the Error inside err, or one with CodeInternal around it.
func AsError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	return &Error{Code: CodeInternal, Message: "something went wrong on our side", Cause: err}
}

// IsCode reports whether err is, or wraps, an Error with this code.
func IsCode(err error, code Code) bool {
	e, ok := errors.AsType[*Error](err)
	return ok && e.Code == code
}

// NotFound is the error for a thing that does not exist for this principal.
func NotFound(kind, id string) *Error {
	return Errorf(CodeNotFound, "no %s with id %q", kind, id)
}

// Invalid returns the error for one wrong field of a request.
func Invalid(location, format string, args ...any) error {
	return InvalidFields([]Field{{Location: location, Message: Messagef(format, args...)}})
}

// InvalidFields returns the error for several wrong fields, nil if there are none.
func InvalidFields(fields []Field) error {
	if len(fields) == 0 {
		return nil
	}
	first := fields[0]
	return &Error{Code: CodeInvalid, Message: Cut(first.Location, maxRepeated) + " " + first.Message, Fields: fields}
}

// TooLarge returns the error for something that has more bytes than are allowed.
// subject says what it is: "body", "text of the file".
func TooLarge(subject string, limit int64) *Error {
	return Errorf(CodeTooLarge, "the %s is above the limit of %s", subject, bytesText(limit))
}

// bytesText writes a limit in the largest unit that fits, rounded down.
func bytesText(n int64) string {
	for _, unit := range []struct {
		name string
		size int64
	}{{" GB", 1e9}, {" MB", 1e6}, {" KB", 1e3}} {
		if n >= unit.size {
			return strconv.FormatFloat(float64(n/(unit.size/10))/10, 'f', -1, 64) + unit.name
		}
	}
	return strconv.FormatInt(n, 10) + " bytes"
}
