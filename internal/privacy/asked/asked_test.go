package asked_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/privacy"
	"github.com/cairn-rag/cairn/internal/privacy/asked"
)

// chat answers each call with the same arguments.
type chat struct {
	arguments string
	err       error
	users     []string
}

func (c *chat) CallTool(_ context.Context, system, user string, tool asked.Tool) (string, error) {
	if !strings.Contains(system, "PERSON, LOCATION") || tool.Name == "" || !strings.Contains(string(tool.Parameters), `"PERSON"`) {
		return "", errors.New("the model is not told what to look for")
	}
	c.users = append(c.users, user)
	return c.arguments, c.err
}

func TestModelThatNamesPersonalData(t *testing.T) {
	t.Parallel()
	c := &chat{arguments: `{"values": [{"entity": "PERSON", "text": " Zoë "}, {"entity": "LOCATION", "text": "Köln", "score": 0.4}, {"entity": "PERSON", "text": "Nobody"}, {"entity": "DATE_TIME", "text": "May"}, {"entity": "PERSON", "text": ""}]}`}
	texts := []string{"Zoë and Zoës from Köln, in May.", "Of Zoë."}
	got, err := asked.New(c).Recognise(t.Context(), texts, []string{"PERSON", "LOCATION"})
	if err != nil {
		t.Fatal(err)
	}
	finding := func(entity string, start, end int, score float64) privacy.Finding {
		return privacy.Finding{Entity: entity, Span: knowledge.Span{Start: start, End: end}, Score: score, Recogniser: "model"}
	}
	want := [][]privacy.Finding{{finding("PERSON", 0, 3, .85), finding("LOCATION", 18, 22, .4)}, {finding("PERSON", 3, 6, .85)}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{strings.Join(texts, "\n\n")}, c.users); diff != "" {
		t.Errorf("the model is asked:\n%s", diff)
	}
}

func TestModelThatDoesNotName(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]*chat{"fails": {err: errors.New("refused")}, "writes no JSON": {arguments: "none"}} {
		if _, err := asked.New(c).Recognise(t.Context(), []string{"Zoë"}, []string{"PERSON", "LOCATION"}); !errors.Is(err, privacy.ErrNoAnswer) {
			t.Errorf("a model that %s: %v", name, err)
		}
	}
}
