package protocol

import (
	"encoding/json"
	"errors"
	"net/http"
)

// Error is an error of the protocol.
type Error struct {
	Status  int
	Message string
	Param   string // the field at fault, "" = none
	Code    string // "" = none
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

func invalid(param, message string) *Error {
	return &Error{Status: http.StatusBadRequest, Param: param, Message: message}
}

// UnknownModel returns the error for a model that the server does not have.
func UnknownModel(name string) *Error {
	return &Error{
		Status: http.StatusNotFound, Param: "model", Code: "model_not_found",
		Message: "the model '" + name + "' does not exist here; GET /v1/models lists those that do",
	}
}

// WriteError writes err. An error that is not an *Error becomes status 500.
func WriteError(w http.ResponseWriter, err error) {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		e = &Error{Status: http.StatusInternalServerError, Message: "the server failed"}
	}
	kind := "invalid_request_error"
	switch {
	case e.Status == http.StatusTooManyRequests:
		kind = "rate_limit_error"
	case e.Status >= http.StatusInternalServerError:
		kind = "server_error"
	}
	text := func(s string) *string {
		if s == "" {
			return nil
		}
		return &s
	}
	var body struct {
		Error struct {
			Message string  `json:"message"`
			Type    string  `json:"type"`
			Param   *string `json:"param"`
			Code    *string `json:"code"`
		} `json:"error"`
	}
	body.Error.Message, body.Error.Type = e.Message, kind
	body.Error.Param, body.Error.Code = text(e.Param), text(e.Code)
	b, err := json.Marshal(body)
	if err != nil {
		b = []byte(`{"error":{"message":"the server failed","type":"server_error","param":null,"code":null}}`)
	}
	// The client may have disconnected; nobody else needs the error.
	_ = writeJSON(w, e.Status, append(b, '\n'))
}
