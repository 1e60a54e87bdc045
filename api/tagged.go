package api

import (
	"github.com/danielgtaylor/huma/v2"

	"github.com/cairn-rag/cairn/api/edge"
)

// tagged returns a function that returns routes of a tag, with the id of their operation.
func tagged(tag string) func(id, method, path, summary, description string) edge.Route {
	return func(id, method, path, summary, description string) edge.Route {
		return edge.Route{Operation: huma.Operation{
			OperationID: id, Method: method, Path: path, Summary: summary, Description: description, Tags: []string{tag},
		}}
	}
}

// taggedWithStatus is tagged with the status of an answer without an error, 0 = 200, or 204 if it
// has no body.
func taggedWithStatus(tag string) func(id, method, path, summary, description string, status int) edge.Route {
	route := tagged(tag)
	return func(id, method, path, summary, description string, status int) edge.Route {
		rt := route(id, method, path, summary, description)
		rt.DefaultStatus = status
		return rt
	}
}
