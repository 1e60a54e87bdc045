package modeltest

import (
	"math"
	"strings"
	"testing"
)

func embed(t *testing.T, c Clients, texts ...string) [][]float32 {
	t.Helper()
	vectors, usage, err := c.Embedding.Embed(t.Context(), texts)
	if err != nil {
		t.Fatal(err)
	}
	if len(vectors) != len(texts) || usage.PromptTokens == 0 {
		t.Fatalf("%d vectors for %d texts, usage %+v", len(vectors), len(texts), usage)
	}
	return vectors
}

func embedOrders(t *testing.T, c Clients) {
	texts := []string{"alpha particles", "the price of bread", "a kite in the wind"}
	together := embed(t, c, texts...)
	for i, text := range texts {
		if alone := embed(t, c, text)[0]; cosine(alone, together[i]) < 0.999 {
			t.Errorf("vector %d is not the vector of %q", i, text)
		}
	}
}

func embedRepeats(t *testing.T, c Clients) {
	a := embed(t, c, "the same text", "another one")
	b := embed(t, c, "a third", "the same text")
	if cosine(a[0], b[1]) < 0.999 {
		t.Error("the same text has two vectors")
	}
}

func embedMeasures(t *testing.T, c Clients) {
	for i, v := range embed(t, c, "a", "---", "Über 12 naïve Ångström", "日本語の文章", strings.Repeat("long ", 5000)) {
		norm := math.Sqrt(dot(v, v))
		if d := c.Embedding.Endpoint().Dimensions; len(v) != d || math.IsNaN(norm) || norm < 0.1 {
			t.Errorf("vector %d has %d dimensions instead of %d and the length %v", i, len(v), d, norm)
		}
	}
}

func embedCompares(t *testing.T, c Clients) {
	v := embed(t, c, "How do I reset my password?", "Resetting a password", "The orbit of Mars around the sun")
	if like, other := cosine(v[0], v[1]), cosine(v[0], v[2]); like < other+0.1 {
		t.Errorf("similarity %.2f to its like, %.2f to another", like, other)
	}
}

func embedNothing(t *testing.T, c Clients) {
	vectors, _, err := c.Embedding.Embed(t.Context(), nil)
	if err != nil || len(vectors) != 0 {
		t.Errorf("%d vectors, %v", len(vectors), err)
	}
}

func dot(a, b []float32) float64 {
	sum := 0.0
	for i := range a {
		sum += float64(a[i]) * float64(b[i])
	}
	return sum
}

func cosine(a, b []float32) float64 { return dot(a, b) / math.Sqrt(dot(a, a)*dot(b, b)) }
