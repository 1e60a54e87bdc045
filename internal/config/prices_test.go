package config_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/config"
)

func TestPrices(t *testing.T) {
	t.Parallel()
	const text = "models: {currency: EUR, prices: [{model: gpt-4.1-mini, input: 0.4, output: 1.6}, {model: org/embed, input: 0.02}]}"
	want := []config.Price{{Model: "gpt-4.1-mini", Input: 0.4, Output: 2}, {Model: "org/embed", Input: 0.02}}
	environ := []string{"CAIRN_MODELS__PRICES__0__OUTPUT=2"}
	c := load(t, config.Options{File: file(t, text), Environ: environ})
	if diff := cmp.Diff(want, c.Models.Prices); diff != "" || c.Models.Currency != "EUR" {
		t.Errorf("in %s, prices (-want +got):\n%s", c.Models.Currency, diff)
	}
	again := load(t, config.Options{File: file(t, c.Masked())})
	if diff := cmp.Diff(want, again.Models.Prices); diff != "" {
		t.Errorf("as printed (-want +got):\n%s", diff)
	}
	if c := load(t, config.Options{}); c.Models.Currency != "USD" || c.Models.Prices != nil {
		t.Errorf("without prices: %s, %v", c.Models.Currency, c.Models.Prices)
	}
	for _, test := range []struct {
		yaml, variable, want string
	}{
		{"models: {prices: [{input: 1}]}", "", "models.prices.0.model"},
		{"models: {prices: [{model: m, input: -1}]}", "", "models.prices.0.input"},
		{"models: {prices: [{model: m, output: .nan}]}", "", "models.prices.0.output"},
		{"models: {prices: [{model: m}, {model: m}]}", "", "models.prices.1.model: m has a price already"},
		{"models: {prices: [{model: m, price: 1}]}", "", `unknown key "models.prices.0.price"`},
		{"models: {currency: Euro}", "", "models.currency"},
		{"", "CAIRN_MODELS__PRICES=1", "CAIRN_MODELS__PRICES__0__MODEL"},
	} {
		_, err := config.Load(config.Options{File: file(t, test.yaml), Environ: []string{test.variable}})
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s%s: error %v does not say %q", test.yaml, test.variable, err, test.want)
		}
	}
}
