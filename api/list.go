package api

import (
	"context"
	"fmt"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// WorkspacePath is the path of what belongs to a workspace.
type WorkspacePath struct {
	Workspace string `path:"workspaceId" maxLength:"64" doc:"The workspace"`
}

// PageQuery are the parameters of a list.
type PageQuery struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"500" doc:"The largest number of entries. Default: 50"`
	Cursor string `query:"cursor" maxLength:"1000" doc:"next_cursor of the previous page"`
}

// ShortList is the request for a list that is answered whole unless it has a limit.
type ShortList struct {
	WorkspacePath
	Limit  int    `query:"limit" minimum:"1" maximum:"500" doc:"The largest number of entries. Default: all"`
	Cursor string `query:"cursor" maxLength:"1000" doc:"next_cursor of the previous page"`
}

// shortPage returns the part of a list that is asked for.
func shortPage[T any](all []T, in ShortList) (*listOutput[T], error) {
	out := &listOutput[T]{}
	var err error
	out.Body.Data, out.Body.NextCursor, err = pageOf(all, PageQuery{in.Limit, in.Cursor}, len(all))
	return out, err
}

// list is one page of a list.
type list[T any] struct {
	Data       []T     `json:"data"`
	NextCursor *string `json:"next_cursor" doc:"The cursor of the next page; null on the last page"`
}

// listOutput is the output of a list route.
type listOutput[T any] struct {
	Body list[T]
}

func page[T any](items []T, next string) *listOutput[T] {
	out := &listOutput[T]{Body: list[T]{Data: items}}
	if items == nil {
		out.Body.Data = []T{}
	}
	if next != "" {
		out.Body.NextCursor = &next
	}
	return out
}

// convert returns the views of items.
func convert[A, B any](items []A, one func(A) B) []B {
	out := make([]B, 0, len(items))
	for _, item := range items {
		out = append(out, one(item))
	}
	return out
}

// projectID returns the id of the project by which a list is narrowed, which the
// request names by its id or its name; "" = the list is not narrowed.
func projectID(ctx context.Context, tenants Tenants, p knowledge.Principal, idOrName string) (string, error) {
	if idOrName == "" {
		return "", nil
	}
	project, err := tenants.Project(ctx, p, idOrName)
	if err != nil {
		return "", fmt.Errorf("read project %s: %w", idOrName, err)
	}
	return project.ID, nil
}

// orNull returns nil for a zero value, which is null in JSON.
func orNull[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// notNil returns an empty list for nil, which would be null in JSON.
func notNil[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
