package localmodel_test

import (
	"bufio"
	"cmp"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/model/localmodel"
)

// TestEmbeddings ranks the Cranfield collection by the vectors alone and checks
// the floor for which the weights in embedding.go were tuned.
func TestEmbeddings(t *testing.T) {
	t.Parallel()
	c := readCranfield(t)
	m := localmodel.New(localmodel.Config{})
	documents, queries := m.Embed(c.documents), m.Embed(c.queries)
	var ndcg, recall float64
	judged := 0
	for i, q := range queries {
		relevant := c.relevant[i+1]
		if len(relevant) == 0 {
			continue
		}
		judged++
		ranking := rank(q, documents)
		ndcg += nDCG(ranking[:10], relevant)
		for _, d := range ranking[:100] {
			if relevant[d] {
				recall += 1 / float64(len(relevant))
			}
		}
	}
	ndcg, recall = ndcg/float64(judged), recall/float64(judged)
	t.Logf("%d queries: nDCG@10 %.4f, recall@100 %.4f", judged, ndcg, recall)
	if ndcg < 0.34 || recall < 0.69 {
		t.Errorf("nDCG@10 %.4f and recall@100 %.4f of the vectors alone, floors .34 and .69", ndcg, recall)
	}
}

// rank returns the numbers (1 = first) of all documents, the nearest first.
func rank(query []float32, documents [][]float32) []int {
	var used []int // a query has few features, so most of its vector is 0
	for j, v := range query {
		if v != 0 {
			used = append(used, j)
		}
	}
	scores := make([]float32, len(documents))
	order := make([]int, len(documents))
	for i, d := range documents {
		for _, j := range used {
			scores[i] += d[j] * query[j]
		}
		order[i] = i + 1
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b-1], scores[a-1]) })
	return order
}

func nDCG(ranking []int, relevant map[int]bool) float64 {
	got, best := 0.0, 0.0
	for i, d := range ranking {
		if relevant[d] {
			got += 1 / math.Log2(float64(i+2))
		}
		if i < len(relevant) {
			best += 1 / math.Log2(float64(i+2))
		}
	}
	return got / best
}

type cranfield struct {
	documents, queries []string
	relevant           map[int]map[int]bool // query and document by number, 1 = first
}

func readCranfield(t *testing.T) cranfield {
	t.Helper()
	dir := filepath.Join("..", "..", "..", "..", "shared", "data", "cranfield")
	if _, err := os.Stat(dir); err != nil {
		const reason = "this test reads the Cranfield collection; put it at ../shared/data/cranfield beside the repository"
		if os.Getenv("CI") != "" {
			t.Fatal(reason)
		}
		t.Skip(reason)
	}
	c := cranfield{relevant: map[int]map[int]bool{}}
	documents := regexp.MustCompile(`(?s)<title>(.*?)</title>.*?<text>(.*?)</text>`)
	for _, m := range documents.FindAllStringSubmatch(read(t, dir, "cran.all.1400.xml"), -1) {
		c.documents = append(c.documents, m[1]+"\n"+m[2])
	}
	queries := regexp.MustCompile(`(?s)<title>(.*?)</title>`)
	for _, m := range queries.FindAllStringSubmatch(read(t, dir, "cran.qry.xml"), -1) {
		c.queries = append(c.queries, m[1])
	}
	lines := bufio.NewScanner(strings.NewReader(read(t, dir, "cranqrel.trec.txt")))
	for lines.Scan() {
		var query, unused, document, grade int
		if _, err := fmt.Sscan(lines.Text(), &query, &unused, &document, &grade); err != nil || grade <= 0 {
			continue
		}
		if c.relevant[query] == nil {
			c.relevant[query] = map[int]bool{}
		}
		c.relevant[query][document] = true
	}
	if len(c.documents) != 1400 || len(c.queries) != 225 {
		t.Fatalf("%d documents and %d queries", len(c.documents), len(c.queries))
	}
	return c
}

func read(t *testing.T, dir, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
