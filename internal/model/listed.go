package model

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"
)

const (
	// listPatience bounds the wait for the list of an endpoint's models: a person waits for it.
	listPatience = 5 * time.Second
	// maxAlike is the number of names that are shown for one that is not in the list.
	maxAlike = 5
)

// Unlisted is the name of a model that no endpoint has.
type Unlisted struct {
	Name  string
	Alike []string // names in the list of the endpoint, the most similar first, at most 5
}

// Unlisted returns which of the names are neither the model of an endpoint nor in the list of
// the first endpoint, which has all other names. Its error means that the endpoint did not say:
// it does not answer within 5 seconds, or has no list of names that a request may have.
func (c *Chats) Unlisted(ctx context.Context, names []string) ([]Unlisted, error) {
	asked := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return slices.ContainsFunc(c.clients, func(client *Client) bool { return client.Endpoint().Model == name })
	})
	if len(asked) == 0 {
		return nil, nil
	}
	first := c.clients[0]
	if first.endpoint.Azure {
		return nil, errors.New("the endpoint lists its models, not its deployments")
	}
	ctx, cancel := context.WithTimeout(ctx, listPatience)
	defer cancel()
	listed, err := first.Models(ctx)
	if err != nil {
		return nil, err
	}
	if len(listed) == 0 {
		return nil, errors.New("the endpoint lists no models")
	}
	var unlisted []Unlisted
	for _, name := range asked {
		if !slices.ContainsFunc(listed, func(entry string) bool { return lists(entry, name) }) {
			unlisted = append(unlisted, Unlisted{name, alike(listed, name)})
		}
	}
	return unlisted, nil
}

// listedPrefix stands before the names in the lists of Gemini, and not in requests.
const listedPrefix = "models/"

// lists reports whether an entry of a list stands for the name of a model in a request.
func lists(entry, name string) bool {
	entry, name = strings.TrimPrefix(entry, listedPrefix), strings.TrimPrefix(name, listedPrefix)
	base, _, variant := strings.Cut(name, ":")
	all, pattern := strings.CutSuffix(entry, "*")
	switch {
	case entry == name, entry == name+":latest": // Ollama
		return true
	case pattern: // LiteLLM: openai/*
		return strings.HasPrefix(name, all)
	}
	return variant && entry == base // OpenRouter: a model with :online
}

// alike returns the entries of a list that begin most like a name.
func alike(listed []string, name string) []string {
	entries := slices.Clone(listed)
	for i, entry := range entries {
		entries[i] = strings.TrimPrefix(entry, listedPrefix)
	}
	slices.SortStableFunc(entries, func(a, b string) int { return cmp.Compare(common(b, name), common(a, name)) })
	return entries[:min(len(entries), maxAlike)]
}

// common returns the length of the beginning that two names share, in bytes.
func common(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}
