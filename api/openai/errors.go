package openai

import (
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
)

// refusedByModel returns the error for a request that the model's endpoint refused. What
// the endpoint blames on the request is the client's mistake; the endpoint's own words
// are logged only.
func refusedByModel(err error) error {
	code, param, ok := model.Refused(err)
	if !ok {
		return err
	}
	message := "the model's endpoint refused the request"
	if code != "" {
		message += ": " + code
	}
	e := knowledge.Errorf(knowledge.CodeInvalid, "%s; check the fields that are for the model", message).WithCause(err)
	if param != "" {
		e.Fields = []knowledge.Field{{Location: "body." + param, Message: "is wrong: " + message}}
	}
	return e
}
