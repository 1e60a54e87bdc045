package model

import (
	"cmp"
	"context"
	"errors"
	"slices"
)

// At is what calls the models of an endpoint.
type At interface {
	// Endpoint returns the endpoint with its model.
	Endpoint() Endpoint
}

// Candidate is a model that may answer a call.
type Candidate[C At] struct {
	Client C
	Name   string // of the model at the endpoint; "" = the endpoint's own
}

// Model returns the name of the model.
func (c Candidate[C]) Model() string { return cmp.Or(c.Name, c.Client.Endpoint().Model) }

// Candidates returns the models that may answer a call, in the order in which they are
// asked: the model of a name, "" = the model of the first endpoint, and then the models of
// failover. An empty failover is every other endpoint. A name is the model of an endpoint,
// or else another model of the first endpoint.
func Candidates[C At](endpoints []C, name string, failover []string) []Candidate[C] {
	list := []Candidate[C]{named(endpoints, name)}
	add := func(next Candidate[C]) {
		if !slices.ContainsFunc(list, func(c Candidate[C]) bool {
			return c.Model() == next.Model() && c.Client.Endpoint() == next.Client.Endpoint()
		}) {
			list = append(list, next)
		}
	}
	for _, other := range failover {
		add(named(endpoints, other))
	}
	if len(failover) > 0 {
		return list
	}
	for _, client := range endpoints {
		if client.Endpoint() != list[0].Client.Endpoint() {
			add(Candidate[C]{Client: client})
		}
	}
	return list
}

// named returns the model of a name.
func named[C At](endpoints []C, name string) Candidate[C] {
	for _, client := range endpoints {
		if name == "" || client.Endpoint().Model == name {
			return Candidate[C]{Client: client}
		}
	}
	return Candidate[C]{endpoints[0], name}
}

// Failed is a candidate that failed.
type Failed struct {
	Model string
	Next  string // the model that is asked now, "" = none is left
	Err   *Error
}

// First makes a call at the candidates, in their order, until one answers. It tells failed
// of each that does not; of an only one, if a retry can help. An error that is not an *Error
// ends it, and so does the end of ctx. If all fail, the error is one that a retry can help, if there is
// one: the one whose wait is the shortest.
func First[C At, T any](ctx context.Context, candidates []Candidate[C], failed func(Failed), call func(Candidate[C]) (T, error)) (result T, err error) {
	var best *Error
	for i, c := range candidates {
		result, err = call(c)
		e, ok := errors.AsType[*Error](err)
		if !ok || ctx.Err() != nil || len(candidates) == 1 && !e.Retryable {
			return result, err
		}
		if best == nil || e.Retryable && (!best.Retryable || e.RetryAfter < best.RetryAfter) {
			best = e
		}
		next := ""
		if i+1 < len(candidates) {
			next = candidates[i+1].Model()
		}
		failed(Failed{Model: c.Model(), Next: next, Err: e})
	}
	return result, best
}
