package model_test

import (
	"math"
	"testing"

	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// TestPrices compares the cost of calls with that of the tokens that the endpoint has counted.
func TestPrices(t *testing.T) {
	t.Parallel()
	server := modeltest.New(modeltest.Options{})
	t.Cleanup(server.Close)
	const input, output = 3, 15
	prices := &model.Prices{Currency: "EUR", Models: map[string]model.Price{modeltest.ModelName: {Input: input, Output: output}, "another": {Input: 2 * input}}}
	endpoint := server.Endpoint()
	endpoint.Model, endpoint.Prices = modeltest.ModelName, prices
	client := model.New(endpoint, nil)
	want := func(what string, used model.Usage, input, output float64, currency string) {
		t.Helper()
		cost := (input*float64(used.PromptTokens) + output*float64(used.CompletionTokens)) / 1e6
		if used.PromptTokens == 0 || math.Abs(used.Cost-cost) > 1e-12 || used.Currency != currency {
			t.Errorf("%s: %+v, want a cost of %v %s", what, used, cost, currency)
		}
	}
	for name, price := range map[string]struct {
		input, output float64
		currency      string
	}{"": {input, output, "EUR"}, "another": {2 * input, 0, "EUR"}, "unknown": {0, 0, ""}} {
		var used model.Usage
		for delta, err := range client.Chat(t.Context(), model.ChatRequest{Model: name, Messages: []model.Message{{Role: model.RoleUser, Content: "What is on the pier?"}}}) {
			if err != nil {
				t.Fatal(err)
			}
			if delta.Done != nil {
				used = delta.Done.Usage
			}
		}
		want("an answer of "+name, used, price.input, price.output, price.currency)
	}
	_, used, err := client.Embed(t.Context(), []string{"A lighthouse."})
	if err != nil {
		t.Fatal(err)
	}
	want("vectors", used, input, 0, "EUR")
	_, used, err = client.As("another", 0).Embed(t.Context(), []string{"A lighthouse."})
	if err != nil {
		t.Fatal(err)
	}
	want("vectors of another model", used, 2*input, 0, "EUR")
}
