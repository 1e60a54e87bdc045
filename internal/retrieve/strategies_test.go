package retrieve_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cairn-rag/cairn/internal/index"
	"github.com/cairn-rag/cairn/internal/index/milvus"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model/localmodel"
	"github.com/cairn-rag/cairn/internal/retrieve"
	"github.com/cairn-rag/cairn/internal/service"
)

// strategy is a way of searching that is measured.
type strategy struct {
	name    string
	of      *collection // whose questions are asked
	config  knowledge.RetrievalConfig
	models  retrieve.Models
	without string // the strategy that it has to be better than, because its model is right
}

// strategies returns the ways of searching, those that ask a model with one that is right.
// So they show what a stage makes of a good answer, and not how good a model is.
func (c *collection) strategies() []strategy {
	judge := retrieve.Models{RerankerName: "judge of the collection", Reranker: scriptedReranker(c.judge)}
	pairs, split := c.pairs()
	held, passage := c.withHeldDocument()
	return []strategy{
		{name: "default", of: c},
		{name: "dense", of: c, config: knowledge.RetrievalConfig{Strategy: knowledge.StrategyDense}},
		{name: "bm25", of: c, config: knowledge.RetrievalConfig{Strategy: knowledge.StrategyBM25}},
		{name: "rrf", of: c, config: knowledge.RetrievalConfig{Fusion: knowledge.FusionRRF}},
		{name: "multi_stage", of: c, config: knowledge.RetrievalConfig{Strategy: knowledge.StrategyMultiStage}},
		{name: "route", of: c, config: knowledge.RetrievalConfig{Route: true}, models: retrieve.Models{Chat: &scriptedChat{reply: splitAtMarks}}},
		{name: "entities", of: c, config: knowledge.RetrievalConfig{Entities: true}, models: retrieve.Models{Facets: c.entities()}},
		{name: "reranked", of: c, config: knowledge.RetrievalConfig{Reranker: judge.RerankerName}, models: judge, without: "default"},
		{name: "multi_stage, reranked", of: c, config: knowledge.RetrievalConfig{Strategy: knowledge.StrategyMultiStage}, models: judge, without: "multi_stage"},
		{
			name: "compress", of: c, config: knowledge.RetrievalConfig{Compress: true}, without: "default",
			models: retrieve.Models{Chat: &scriptedChat{reply: c.keepSentences}, Passages: &families{PassageReader: shown{chunks: c.chunks}}},
		},
		{name: "held", of: held},
		{name: "held, hyde", of: held, config: knowledge.RetrievalConfig{HyDE: true}, models: retrieve.Models{Chat: &scriptedChat{reply: passage}}, without: "held"},
		{name: "pairs", of: pairs},
		{name: "pairs, decompose", of: pairs, config: knowledge.RetrievalConfig{Decompose: new(true)}, models: retrieve.Models{Chat: &scriptedChat{reply: split}}, without: "pairs"},
	}
}

// TestStrategies measures each strategy on the Cranfield collection, with the vectors of
// the offline model and of MiniLM, in the embedded index and in Milvus's C++ core. The
// results are in testdata/strategies, one file for each, with the first hits of some
// questions, whose titles -v shows and a failure too. Their least values are in testdata/strategies/floors.txt, which -update does
// not write.
func TestStrategies(t *testing.T) {
	t.Parallel()
	floors := readFloors(t)
	for model, embed := range map[string]func(testing.TB) textEmbedder{
		"offline": func(testing.TB) textEmbedder { return embedder{localmodel.New(localmodel.Config{})} },
		"minilm":  func(t testing.TB) textEmbedder { return readMiniLM(t) },
	} {
		for place, open := range map[string]func(testing.TB) index.Index{
			"embedded": func(t testing.TB) index.Index { return openEmbedded(t) }, "milvus": openMilvusCore,
		} {
			t.Run(model+"_"+place, func(t *testing.T) {
				t.Parallel()
				c := readCranfield(t)
				model := embed(t)
				x := open(t)
				c.write(t, x, model)
				found, report := c.measureAll(t, retrieve.New(newLegs(x), c, model))
				checkStrategies(t, c.strategies(), found, floors)
				path := filepath.Join("testdata", "strategies", filepath.Base(t.Name())+".golden")
				if place == "milvus" && !*update {
					report = withinRounding(t, path, report)
				}
				t.Logf("\n%s", c.withTitles(report))
				goldenShownAs(t, path, report, c.withTitles)
			})
		}
	}
}

// measureAll returns the quality of each strategy by name, and the report of all of them.
func (c *collection) measureAll(t *testing.T, r *retrieve.Retriever) (map[string]quality, string) {
	t.Helper()
	var report strings.Builder
	fmt.Fprintf(&report, "%-22s %8s %10s\n", "strategy", "nDCG@10", "recall@10")
	found := map[string]quality{}
	for _, s := range c.strategies() {
		q := s.of.measure(t, r.Using(s.models), s.config)
		found[s.name] = q
		fmt.Fprintf(&report, "%-22s %8.4f %10.4f\n", s.name, q.ndcg10, q.recall10)
	}
	fmt.Fprint(&report, "\nThe first documents of every eleventh question, by the default. A relevant one has a star.\n")
	for i := 0; i < len(c.questions); i += 11 {
		result, err := r.Retrieve(t.Context(), retrieve.Request{Principal: asker, Query: c.questions[i]})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&report, "%3d:", i+1)
		for _, context := range result.Contexts {
			star := ""
			if c.relevant[i+1][context.DocumentID] {
				star = "*"
			}
			fmt.Fprintf(&report, " %s%s", context.DocumentID, star)
		}
		fmt.Fprintln(&report)
	}
	return found, report.String()
}

var firstHits = regexp.MustCompile(`(?m)^ *(\d+):((?: \d{4}\*?)+)$`)

// withTitles returns a report in which a question stands beside its number, and below it
// each document with its title, so that a person can read the ranking and what changed in
// it. The golden files have the numbers alone: the texts of the collection are not ours.
func (c *collection) withTitles(report string) string {
	onOneLine := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	return firstHits.ReplaceAllStringFunc(report, func(row string) string {
		parts := firstHits.FindStringSubmatch(row)
		question, _ := strconv.Atoi(parts[1]) // as the expression has digits
		lines := []string{fmt.Sprintf("%3d: %s", question, onOneLine(c.questions[question-1]))}
		for id := range strings.FieldsSeq(parts[2]) {
			document, _ := strconv.Atoi(strings.TrimSuffix(id, "*"))
			lines = append(lines, fmt.Sprintf("     %-5s %s", id, onOneLine(c.titles[document-1])))
		}
		return strings.Join(lines, "\n")
	})
}

var measures = regexp.MustCompile(`\b0\.\d{4}\b`)

// withinRounding returns a report with the measures of the golden file where they differ by
// a few of their last digits. Milvus's C++ core adds the products of two vectors in the order
// that suits the vector instructions of the processor, so a sum differs in its last bits
// between processors, and two hits of almost one score may change places.
func withinRounding(t *testing.T, path, report string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	want := measures.FindAllString(string(data), -1)
	return measures.ReplaceAllStringFunc(report, func(number string) string {
		if len(want) == 0 {
			return number
		}
		other := want[0]
		want = want[1:]
		a, _ := strconv.ParseFloat(number, 64) // both match the expression
		b, _ := strconv.ParseFloat(other, 64)
		if math.Abs(a-b) <= .001 {
			return other
		}
		return number
	})
}

func checkStrategies(t *testing.T, list []strategy, found map[string]quality, floors map[string]float64) {
	t.Helper()
	for _, s := range list {
		name := filepath.Base(t.Name()) + " " + s.name
		floor, ok := floors[name]
		if got := found[s.name].ndcg10; !ok || got < floor {
			t.Errorf("nDCG@10 of %s is %.4f, its floor %.4f (there is one: %v)", name, got, floor, ok)
		}
		if s.without != "" && found[s.name].ndcg10 <= found[s.without].ndcg10 {
			t.Errorf("nDCG@10 of %s with a model that is right is %.4f, without it %.4f", name, found[s.name].ndcg10, found[s.without].ndcg10)
		}
	}
	if best := math.Max(found["dense"].ndcg10, found["bm25"].ndcg10); found["default"].ndcg10 < best-.005 {
		t.Errorf("nDCG@10 of the default is %.4f, of its best leg %.4f", found["default"].ndcg10, best)
	}
}

// readFloors returns the least nDCG@10 by the names of a test and a strategy.
func readFloors(t *testing.T) map[string]float64 {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "strategies", "floors.txt"))
	if err != nil {
		t.Fatal(err)
	}
	floors := map[string]float64{}
	for line := range strings.Lines(string(data)) {
		var floor float64
		number, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		if _, err := fmt.Sscan(number, &floor); err != nil {
			t.Fatalf("floor %q: %v", line, err)
		}
		floors[strings.TrimSpace(name)] = floor
	}
	return floors
}

// textEmbedder embeds documents and questions.
type textEmbedder interface {
	Embed(ctx context.Context, texts []string) ([][]float32, error)
}

// write writes the collection into an index, with the entities of each document.
func (c *collection) write(t *testing.T, x index.Index, model textEmbedder) {
	t.Helper()
	vectors, err := model.Embed(t.Context(), c.documents)
	if err != nil {
		t.Fatal(err)
	}
	entries := c.entries(vectors)
	for i, names := range c.entitiesOf() {
		if len(names) > 0 {
			entries[i].Metadata = map[string]any{knowledge.EntitiesKey: names}
		}
	}
	if err := x.Upsert(t.Context(), entries); err != nil {
		t.Fatal(err)
	}
}

// openMilvusCore starts Milvus's C++ core and returns an index in it, which compares every
// vector. The test is skipped if it is not installed, but fails in CI.
func openMilvusCore(t testing.TB) index.Index {
	t.Helper()
	server, err := service.MilvusCore(filepath.Join("..", "..", "bin", "tools"))
	if errors.Is(err, service.ErrMissing) && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	if err == nil {
		err = server.Start(context.WithoutCancel(t.Context()))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	x, err := milvus.Open(t.Context(), milvus.Config{Address: server.Address, IndexType: "FLAT", WithoutPartitionKey: true, ListEvery: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.Close() })
	return x
}
