package ingestion_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tiktoken-go/tokenizer"

	"github.com/cairn-rag/cairn/activities/activitytest"
	"github.com/cairn-rag/cairn/activities/ingestion"
	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/blob"
	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
	"github.com/cairn-rag/cairn/internal/store"
)

// cutBy sets the splitter of an upload.
func cutBy(s knowledge.Splitter) func(*store.NewVersion) {
	return func(nv *store.NewVersion) { nv.Splitter = s }
}

// manySentences is a text of one paragraph whose sentences all differ.
func manySentences(n int) string {
	var text strings.Builder
	for i := range n {
		fmt.Fprintf(&text, "Sentence %d is about the subject %d and its neighbours. ", i, i/9)
	}
	return text.String()
}

func TestSemanticCut(t *testing.T) {
	t.Parallel()
	semantic := cutBy(knowledge.Splitter{Strategy: knowledge.SplitSemantic, ChunkSize: 400})

	t.Run("sentences are embedded in batches, each once although one fails", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.Upload("long.txt", manySentences(200), semantic)
		prepared, err := do(f, f.Ingestion.PrepareDocument, ingestion.PrepareInput{StepInput: in})
		f.Must(err)
		if !prepared.Semantic || prepared.Chunked || f.Server.Totals().Embeddings.Asked != 0 {
			t.Errorf("a local activity waited for the model: %+v", prepared)
		}
		f.Server.ScriptEmbeddings(modeltest.Fail(http.StatusServiceUnavailable))
		_, err = do(f, f.Ingestion.ExtractDocument, ingestion.ExtractInput{StepInput: in})
		f.FailedWith(err, knowledge.CodeProviderFailed, true)
		if stage := step.Describe(err, knowledge.Failure{}).Stage; stage != knowledge.StageChunk {
			t.Errorf("failed at stage %s", stage)
		}
		extracted, err := do(f, f.Ingestion.ExtractDocument, ingestion.ExtractInput{StepInput: in})
		f.Must(err)
		if asked := f.Server.Totals().Embeddings.Asked; extracted.Chunks < 30 || asked != 4+1 { // 200 groups of one sentence
			t.Errorf("%d chunks, %d requests", extracted.Chunks, asked)
		}
		if keys := f.Keys(blob.StepKey(in.VersionRef, "sentence-vectors/")); len(keys) != 0 {
			t.Errorf("%d blobs are left", len(keys))
		}
		_, err = do(f, f.Ingestion.ExtractDocument, ingestion.ExtractInput{StepInput: in}) // the result of the step was lost
		f.Must(err)
		if asked := f.Server.Totals().Embeddings.Asked; asked != 4+1 {
			t.Errorf("%d requests after the chunks were stored", asked)
		}
	})

	t.Run("a batch that is too large for the endpoint is halved", func(t *testing.T) {
		t.Parallel()
		f := newFixture(t)
		in := f.Upload("long.txt", manySentences(60), semantic)
		f.Server.ScriptEmbeddings(modeltest.Fail(http.StatusRequestEntityTooLarge))
		if count := f.Prepare(in); count < 9 || f.Server.Totals().Embeddings.Asked != 3 {
			t.Errorf("%d chunks, %d requests", count, f.Server.Totals().Embeddings.Asked)
		}
	})
}

func TestTheModelReadsTheParentOfAChunk(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	paragraphs := []string{
		"Pears ripen late in the year, and they keep for weeks in a cool cellar that is dry.",
		"Of apples there are nine kinds in the orchard behind the old house, all of them old.",
		"Plums have to be eaten at once, or else be made into jam on the day of the harvest.",
		"Quinces smell well and are hard, so nobody eats them before they have been cooked.",
	}
	in := f.Upload("fruit.txt", strings.Join(paragraphs, "\n\n"), cutBy(knowledge.Splitter{Strategy: knowledge.SplitHierarchical, ChunkSize: 400}))
	f.Publish(in)
	chunks := f.Chunks(in)
	if len(chunks) != 4 || chunks[1].Parent != (knowledge.Span{End: chunks[3].Span.End}) {
		t.Fatalf("chunks %+v", chunks)
	}
	ask := f.Asked(func(r *knowledge.Request) {
		r.Config.AI.Retrieval = knowledge.RetrievalConfig{Strategy: knowledge.StrategyBM25}
	})
	f.Server.ScriptChat(modeltest.Text("Nine. <source_1>"))
	result, err := do(f, f.Answering.CallModel, ask)
	f.Must(err)
	want := "<source_1 document=\"fruit.txt\">\n" + strings.Join(paragraphs, "\n\n") + "\n"
	if sent := f.Sent(); !strings.Contains(sent, want) || strings.Contains(sent, "<source_2 ") {
		t.Errorf("the model was sent %s", sent)
	}
	f.WantAnswer(result, `Nine. <citation id="`+chunks[1].ID+`">[1]</citation>`, 0)
}

func TestChunksKeepToTheTokensOfTheModel(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	endpoint := f.Server.Endpoint()
	endpoint.MaxTokens = 128
	f.IngestWith(func(d *ingestion.Dependencies) { d.Embedder = model.New(endpoint, nil) })
	in := f.Upload("日報.txt", manySentences(30)+strings.Repeat("日本語の文章です。", 60))
	f.Embed(in, f.Prepare(in))
	codec, err := tokenizer.Get(tokenizer.Cl100kBase)
	f.Must(err)
	for i, text := range f.embeddingTexts(in) {
		if n, err := codec.Count(text); err != nil || n > 128 {
			t.Errorf("chunk %d is embedded with %d tokens, %v", i, n, err)
		}
	}
}

func TestChunksHaveTheirLanguage(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	english := strings.Repeat("The employees of the company may take thirty days of leave in every calendar year. ", 20)
	german := strings.Repeat("Die Beschäftigten der Firma haben in jedem Kalenderjahr Anspruch auf dreißig Tage Urlaub. ", 10)
	in := f.Upload("both.txt", english+"\n\n"+german)
	f.Prepare(in)
	languages := map[string]bool{}
	for _, c := range f.Chunks(in) {
		languages[c.Language+" "+c.Text[:3]] = true
	}
	if diff := cmp.Diff(map[string]bool{"eng The": true, "deu Die": true}, languages); diff != "" {
		t.Error(diff)
	}
	f.Publish(in)
	for language, word := range map[string]string{"eng": "calendar", "deu": "kalenderjahr"} {
		for searched, found := range map[string]bool{"eng": language == "eng", "deu": language == "deu"} {
			filter := knowledge.Filter{{Field: knowledge.FieldLanguage, Type: knowledge.OpEq, Value: searched}}
			hits, err := f.Index.BM25(f.Ctx, index.Query{Principal: activitytest.Member(), Filter: filter, Limit: 10}, word)
			if f.Must(err); len(hits) > 0 != found {
				t.Errorf("%s in %s: %d hits", word, searched, len(hits))
			}
		}
	}
}
