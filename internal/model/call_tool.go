package model

import (
	"context"
	"errors"
)

// ToolRequest asks a model to answer by calling one tool. Description and Parameters
// describe the tool.
type ToolRequest struct {
	Model  string // "" = the endpoint's
	System string
	User   string
	Tool   Tool
}

// CallTool returns the arguments with which the model calls the tool. A model that does
// not call it is an *Error with CodeBadResponse. It also returns the errors of Chat.
func (c *Client) CallTool(ctx context.Context, r ToolRequest) (arguments string, usage Usage, err error) {
	zero, done := 0.0, Completion{}
	request := ChatRequest{
		Model: r.Model, Messages: []Message{{Role: RoleSystem, Content: r.System}, {Role: RoleUser, Content: r.User}},
		Tools: []Tool{r.Tool}, ToolChoice: r.Tool.Name, Temperature: &zero,
	}
	for delta, err := range c.Chat(ctx, request) {
		if err != nil {
			return "", Usage{}, err
		}
		if delta.Done != nil {
			done = *delta.Done
		}
	}
	for _, called := range done.ToolCalls {
		if called.Name == r.Tool.Name {
			return called.Arguments, done.Usage, nil
		}
	}
	return "", done.Usage, &Error{
		Code: CodeBadResponse, Provider: c.endpoint.Provider, Retryable: true, Cause: errors.New("the model did not call the tool"),
	}
}
