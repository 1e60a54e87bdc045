package answering

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/store"
	"github.com/cairn-rag/cairn/internal/tool"
)

// CallingTools holds the activity that runs a tool call.
type CallingTools struct {
	stepLog

	Blobs     step.Blobs
	Workflows Workflows
	tools     *tools
}

// tools finds the tools that a model may call.
type tools struct {
	Sources  []tool.Source
	Tools    tool.Set
	web      *web
	library  *library
	searches *searches
}

// ToolCallInput names one tool call of a turn. Its arguments are in the turn's blob.
type ToolCallInput struct {
	knowledge.RunRef
	Turn int    `json:"turn"`
	Call int    `json:"call"`
	Key  string `json:"key"`
}

// offered returns the tools that the model may call to answer a question. documents
// reports that there are documents that it may search.
func (a *tools) offered(ctx context.Context, r knowledge.Request, documents bool) (tool.Set, error) {
	if r.Kind != knowledge.KindQuery {
		return nil, nil
	}
	var set tool.Set
	sources := a.Sources
	if documents {
		set, sources = tool.Set{tool.NewDocumentsRAG(a.searches.searchForTool)}, append([]tool.Source{a.library.files}, sources...)
	}
	if a.web.Web != nil {
		set = append(set, tool.NewWebSearch(a.web.searchWebForTool))
	}
	set = append(set, a.Tools...).Offered(r)
	for _, source := range sources {
		more, err := source(ctx, r)
		if err != nil {
			return nil, fmt.Errorf("find the tools of the question: %w", err)
		}
		for _, t := range more {
			if _, taken := set.Find(t.Name); !taken {
				set = append(set, t)
			}
		}
	}
	return set, nil
}

// hasDocuments reports whether the tools that read documents could find something for a
// question. It reads nothing where the question has found something already.
func (a *library) hasDocuments(ctx context.Context, r knowledge.Request, found foundWords) (bool, error) {
	if len(found.chunks) > 0 || a.Library == nil || r.Kind != knowledge.KindQuery {
		return true, nil
	}
	reader := r.Principal.Reader()
	projects := r.Projects
	if len(projects) == 0 {
		projects = []string{reader.Project()}
	}
	for _, project := range projects {
		list, _, err := a.Library.Documents(ctx, reader, store.DocumentQuery{Project: project, Page: store.Page{Limit: 1}})
		if err != nil {
			return false, fmt.Errorf("look for a document: %w", err)
		}
		if len(list) > 0 {
			return true, nil
		}
	}
	return false, nil
}

// searchForTool is the search of documents_rag.
func (a *searches) searchForTool(ctx context.Context, c tool.Call, query string) (tool.Output, error) {
	found, err := a.find(ctx, c.SearchKey(c.Turn, c.Number), c.Request, query)
	return tool.Output{Search: found.Key, Found: found.Kept, Chosen: found.Chosen, Usage: found.Usage}, err
}

// CallTool runs one tool call of a turn. It does not repeat a call whose output is
// stored.
func (a *CallingTools) CallTool(ctx context.Context, in ToolCallInput) (record.ToolOutput, error) {
	defer step.Heartbeat(ctx)()
	output, err := a.callTool(ctx, in)
	if err != nil {
		return output, a.fail(ctx, in.RunRef, err)
	}
	return output, nil
}

func (a *CallingTools) callTool(ctx context.Context, in ToolCallInput) (record.ToolOutput, error) {
	called, c, err := a.checkCall(ctx, in)
	if err != nil {
		return record.ToolOutput{}, err
	}
	return a.runTool(ctx, called, c)
}

// checkCall returns a call of a turn with its tool, or the mistake in it, in words for the
// model.
func (a *CallingTools) checkCall(ctx context.Context, in ToolCallInput) (called tool.Tool, c tool.Call, err error) {
	var call record.ModelCall
	if err := a.Blobs.GetJSON(ctx, in.Key, &call); err != nil {
		return called, c, fmt.Errorf("read turn %d: %w", in.Turn, err)
	}
	if in.Call >= len(call.ToolCalls) {
		return called, c, fmt.Errorf("turn %d has %d tool calls", in.Turn, len(call.ToolCalls))
	}
	if in.Call >= MaxCalls {
		return called, c, knowledge.Errorf(knowledge.CodeInvalid,
			"at most %d calls of a turn are run; this one and all after it were not: call again for what is still needed", MaxCalls)
	}
	request, err := record.ReadRequest(ctx, a.Blobs, in.RunRef)
	if err != nil {
		return called, c, err
	}
	given := call.ToolCalls[in.Call]
	offered, err := a.tools.offered(ctx, request, true)
	if err != nil {
		return called, c, err
	}
	called, ok := offered.Find(given.Name)
	if !ok {
		return called, c, knowledge.Errorf(knowledge.CodeInvalid, "there is no such tool; there is %s", strings.Join(offered.Names(), ", "))
	}
	if given.Arguments == longArguments {
		return called, c, knowledge.Errorf(knowledge.CodeInvalid, "the arguments are longer than %d bytes, and were dropped", maxArguments)
	}
	if err := called.CheckArguments(given.Arguments); err != nil {
		return called, c, err
	}
	c = tool.Call{RunRef: in.RunRef, Request: request, Turn: in.Turn, Number: in.Call, Arguments: given.Arguments}
	c.Events = a.toolEvents(ctx, c, given.ID).show
	return called, c, nil
}

// runTool makes a call, unless its words are stored.
func (a *CallingTools) runTool(ctx context.Context, called tool.Tool, c tool.Call) (record.ToolOutput, error) {
	key := c.WordsKey(c.Turn, c.Number)
	var stored record.ToolWords
	err := a.Blobs.GetJSON(ctx, key, &stored)
	if err == nil {
		return stored.Output(key), nil
	}
	if !errors.Is(err, blob.ErrNotFound) {
		return record.ToolOutput{}, fmt.Errorf("read the output of %s: %w", called.Name, err)
	}
	if called.Once {
		if err := a.beginOnce(ctx, called, c); err != nil {
			return record.ToolOutput{}, err
		}
	}
	output, err := runWithin(ctx, called, c)
	if err != nil {
		return record.ToolOutput{}, err
	}
	if output.Search != "" {
		return record.ToolOutput{Search: output.Search, Kept: output.Found, Chosen: output.Chosen, Usage: output.Usage}, nil
	}
	// The effects and the costs of the call are there, so a cancel does not discard it.
	stored = record.ToolWords{Words: tool.CutWords(output.Words), Summary: output.Summary, Failure: output.Failure, Files: output.Files, Usage: output.Usage}
	if _, err := a.Blobs.PutJSON(context.WithoutCancel(ctx), key, stored); err != nil {
		return record.ToolOutput{}, fmt.Errorf("store the output of %s: %w", called.Name, err)
	}
	return stored.Output(key), nil
}

// runWithin makes a call within the limit of the tool. It ends the call a little before
// Temporal would, so that the model is told and the call is not repeated.
func runWithin(ctx context.Context, called tool.Tool, c tool.Call) (tool.Output, error) {
	if called.Limit == 0 {
		return called.Run(ctx, c)
	}
	within, cancel := context.WithTimeout(ctx, called.Limit-called.Limit/20)
	defer cancel()
	output, err := called.Run(within, c)
	if err != nil && within.Err() != nil && ctx.Err() == nil {
		return output, knowledge.Errorf(knowledge.CodeProviderFailed, "the tool took longer than %s, and was stopped", called.Limit)
	}
	return output, err
}

// beginOnce notes that a call which must not be repeated begins. It returns an error
// for the model if an earlier attempt has begun it and stored no output.
func (a *CallingTools) beginOnce(ctx context.Context, called tool.Tool, c tool.Call) error {
	key := c.BegunKey(c.Turn, c.Number)
	begun, err := a.Blobs.Exists(ctx, key)
	if err != nil {
		return fmt.Errorf("read whether %s has begun: %w", called.Name, err)
	}
	if begun {
		return knowledge.Errorf(knowledge.CodeConflict,
			"the call of %s was interrupted: it may have happened or not, and is not repeated by itself; find out before you call again", called.Name)
	}
	if _, err := a.Blobs.PutJSON(ctx, key, c.IdempotencyKey()); err != nil {
		return fmt.Errorf("note that %s begins: %w", called.Name, err)
	}
	return nil
}
