package model

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
	"strconv"
	"strings"
)

// report is an error as an endpoint reports it, in any of the forms that servers of the OpenAI
// protocol use. Fields are "" where the endpoint leaves them out.
type report struct {
	Type, Code, Param, Message string
}

// wireReport has the fields of all forms: the object of OpenAI below error, its fields at the
// top (Mistral, vLLM), a text as error (Ollama, llama.cpp), and the detail of FastAPI.
type wireReport struct {
	Error   json.RawMessage `json:"error"`
	Detail  json.RawMessage `json:"detail"`
	Object  anyText         `json:"object"`
	Message json.RawMessage `json:"message"`
	Type    anyText         `json:"type"`
	Code    anyText         `json:"code"`
	Status  anyText         `json:"status"`
	Param   anyText         `json:"param"`
}

// readReport returns the error that a body or an event holds, ok if it holds one.
func readReport(data []byte) (r report, ok bool) {
	data = bytes.TrimSpace(data)
	if bytes.HasPrefix(data, []byte("[")) { // Gemini
		var list []json.RawMessage
		if json.Unmarshal(data, &list) != nil || len(list) == 0 {
			return r, false
		}
		return readReport(list[0])
	}
	var w wireReport
	if json.Unmarshal(data, &w) != nil {
		return r, false
	}
	return w.report()
}

// report returns the error that the fields hold, ok if they hold one.
func (w wireReport) report() (r report, ok bool) {
	var text string
	switch {
	case isSet(w.Error) && json.Unmarshal(w.Error, &text) == nil:
		return report{Type: string(w.Type), Code: string(w.Code), Message: text}, true
	case isSet(w.Error):
		var inner wireReport
		if json.Unmarshal(w.Error, &inner) != nil {
			return report{Message: string(w.Error)}, true
		}
		inner.Error, inner.Object = nil, "error"
		return inner.report()
	case isSet(w.Detail):
		return detailReport(w.Detail), true
	case w.Object == "error" || isSet(w.Message):
		r = report{Type: string(w.Type), Code: string(w.Code), Param: string(w.Param)}
		if json.Unmarshal(w.Message, &r.Message) != nil {
			r.Message = string(w.Message)
			if detail := detailReport(w.Message); detail.Param != "" { // Mistral has a list there too
				r.Param, r.Message = detail.Param, detail.Message
			}
		}
		if _, err := strconv.Atoi(r.Code); w.Status != "" && (r.Code == "" || err == nil) { // Google's name of the code
			r.Type = string(w.Status)
		}
		return r, true
	}
	return r, false
}

// detailReport reads the detail of FastAPI: a text, or a list of what is wrong with fields.
func detailReport(data json.RawMessage) report {
	var text string
	if json.Unmarshal(data, &text) == nil {
		return report{Message: text}
	}
	var nested struct {
		Detail json.RawMessage `json:"detail"`
	}
	if json.Unmarshal(data, &nested) == nil && isSet(nested.Detail) {
		return detailReport(nested.Detail)
	}
	var list []struct {
		Location []anyText `json:"loc"`
		Message  anyText   `json:"msg"`
		Type     anyText   `json:"type"`
	}
	if json.Unmarshal(data, &list) != nil || len(list) == 0 {
		return report{Message: string(data)}
	}
	r := report{Type: string(list[0].Type), Message: string(list[0].Message)}
	for _, part := range list[0].Location {
		if part != "body" {
			r.Param = strings.TrimPrefix(r.Param+"."+string(part), ".")
		}
	}
	return r
}

// isSet reports whether a field is there and says something.
func isSet(data json.RawMessage) bool {
	switch string(bytes.TrimSpace(data)) {
	case "", "null", `""`, "false", "{}", "[]":
		return false
	}
	return true
}

// statusNames are the names by which endpoints tell the kind of an error inside a stream, whose
// status is 200. Google's names are in capitals.
var statusNames = map[string]int{
	"rate_limit_error": 429, "rate_limit_exceeded": 429, "rate_limited": 429, "too_many_requests": 429, "RESOURCE_EXHAUSTED": 429, spentQuota: 429,
	"invalid_request_error": 400, "BadRequestError": 400, "bad_request": 400, "INVALID_ARGUMENT": 400, "FAILED_PRECONDITION": 400, "unsupported_parameter": 400,
	"authentication_error": 401, "invalid_api_key": 401, "UNAUTHENTICATED": 401, "permission_error": 403, "PERMISSION_DENIED": 403,
	"not_found_error": 404, "model_not_found": 404, "NOT_FOUND": 404, "request_too_large": 413,
	"timeout_error": 504, "DEADLINE_EXCEEDED": 504,
}

// status returns the HTTP status that the report stands for, 0 if it does not say.
func (r report) status() int {
	if status, err := strconv.Atoi(r.Code); err == nil && status >= 400 && status < 600 {
		return status
	}
	for _, name := range []string{r.Code, r.Type} {
		if status := statusNames[name]; status != 0 {
			return status
		}
	}
	return 0
}

// filterNames are the codes of a refusal of the words or the picture of a request.
var filterNames = map[string]bool{
	FinishFiltered: true, "content_policy_violation": true, "moderation_blocked": true, "ResponsibleAIPolicyViolation": true, "content_filtered": true,
	"image_generation_user_error": true, "safety": true, "data_inspection_failed": true,
}

// filtered reports whether a content filter refused the request.
func (r report) filtered() bool { return filterNames[r.Code] }

// spent reports whether the account has no credit.
func (r report) spent() bool { return r.Code == spentQuota || r.Type == spentQuota }

var (
	contextNames = regexp.MustCompile(`^(?i:context_length_exceeded|exceed_context_size_error|ContextWindowExceededError|context_window_exceeded|model_max_prompt_tokens_exceeded)$`)
	// contextWords are how endpoints without such a name say it.
	contextWords = regexp.MustCompile(`(?i)maximum context length|context[ _-]?(?:length|window|size)\b.{0,40}exceed|exceed.{0,60}context|context[ _-]?(?:length|window) (?:of|is)|` +
		`prompt is too long|input (?:is|was) too long|too many (?:input )?tokens|exceeds the maximum number of (?:input )?tokens|input token count|max_new_tokens|longer than the model|` +
		`maximum (?:input|prompt) (?:length|tokens)|prompt (?:contains|has) .{0,40}tokens|too large for model with .{0,20}maximum context|ContextWindowExceeded|n_ctx|larger than the context`)
	contextLimit = regexp.MustCompile(`(?i)(?:maximum|max|limit|at most|only|window|n_ctx|available context size|<=)[^0-9.;]{0,80}?(\d[\d,]{2,9})`)
)

// tooLong reports whether the request has more tokens than the model reads, and how many it
// reads if the endpoint says so (else 0).
func (r report) tooLong() (limit int, ok bool) {
	if !contextNames.MatchString(r.Code) && !contextNames.MatchString(r.Type) && !contextWords.MatchString(r.Message) {
		return 0, false
	}
	if m := contextLimit.FindStringSubmatch(r.Message); m != nil {
		limit, _ = strconv.Atoi(strings.ReplaceAll(m[1], ",", "")) // digits: one that does not fit is 0
	}
	return limit, true
}

// classify sets what the report says on an error with the code of its status.
func (r report) classify(e *Error) {
	if limit, ok := r.tooLong(); ok && !e.Retryable || ok && e.Status == http.StatusInternalServerError {
		e.Code, e.Retryable, e.ContextTokens = CodeContext, false, limit
	}
	if r.filtered() {
		e.Code, e.Retryable = CodeFiltered, false
	}
	e.Spent = e.Code == CodeRateLimited && r.spent()
}
