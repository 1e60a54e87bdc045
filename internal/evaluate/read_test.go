package evaluate_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/evaluate"
	"github.com/google/go-cmp/cmp"
)

func TestRead(t *testing.T) {
	t.Parallel()
	want := []evaluate.Item{
		{ID: "a", Question: "How many, then?", Reference: "Five; not six.", ExpectedDocuments: []string{"x.md", "y.pdf"},
			ExpectedPages: []evaluate.Page{{Number: 3}, {Document: "y.pdf", Number: 4}}, Tags: []string{"one", "two"}, Kind: evaluate.KindFact},
		{ID: "b", Question: "Ü?", Kind: evaluate.KindUnanswerable},
	}
	for name, text := range map[string]string{
		"json": `[{"id":"a","question":"How many, then?","reference":"Five; not six.","expected_documents":["x.md","y.pdf"],
			"expected_pages":[3,{"document":"y.pdf","page":4}],"tags":["one","two"],"kind":"fact"},
			{"id":"b","question":"Ü?","kind":"unanswerable"}]`,
		"an object": `{"name":"n","items":[{"id":"a","question":"How many, then?","reference":"Five; not six.","expected_documents":["x.md","y.pdf"],
			"expected_pages":[3,"y.pdf:4"],"tags":["one","two"],"kind":"fact"},{"id":"b","question":"Ü?","kind":"unanswerable"}],"more":1}`,
		"lines": `{"id":"a","question":"How many, then?","reference":"Five; not six.","expected_documents":["x.md","y.pdf"],"expected_pages":[3,"y.pdf:4"],"tags":["one","two"],"kind":"fact"}` +
			"\r\n\n" + `{"id":"b","question":"Ü?","kind":"unanswerable"}`,
		"csv":        "id,question,reference,expected_documents,expected_pages,tags,kind\na,\"How many, then?\",Five; not six.,x.md; y.pdf,3;y.pdf:4,one;two,fact\nb,Ü?,,,,,unanswerable\n",
		"semicolons": "\ufeffID;Question;Answer;Expected documents;Pages;Tags;Kind\r\na;How many, then?;\"Five; not six.\";\"x.md\ny.pdf\";\"3; y.pdf:4\";\"[\"\"one\"\",\"\"two\"\"]\";Fact\r\n;;;;;;\r\nb;Ü?;;;;;unanswerable\r\n",
		"tabs":       "id\tquestion\treference\tdocuments\tpages\ttags\tkind\na\tHow many, then?\tFive; not six.\tx.md; y.pdf\t3; y.pdf:4\tone; two\tfact\nb\tÜ?\t\t\t\t\tunanswerable",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := evaluate.Read(strings.NewReader(text), evaluate.FormatOf("", []byte(text)))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("items (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadReportsLines(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"id,question\na,One?\na,Two?\n":                          `line 3, item 2, id: "a" is the id of item 1 too`,
		"id,question\na,\n":                                      "line 2, item 1, question: it is missing",
		"id,question,refs\n":                                     `line 1: there is no column "refs"; the columns are id, question, reference, expected_documents, expected_pages, tags, kind, passages`,
		"id\na\n":                                                "line 1: the column question is missing",
		"id,question\n\"a\nb\",One?\nc,Two?,three\n":             "line 4: the row has 3 cells, the header 2",
		"question,pages\nOne?,three\n":                           `line 2, item 1, expected_pages: "three" is no page: write 3 or manual.pdf:3`,
		"id,question\na,\"One?\n":                                `line 2: extraneous or missing " in quoted-field`,
		"question\nfine\n\xff\n":                                 "line 3: the file is not in UTF-8: save it as “CSV UTF-8” or as JSON in UTF-8",
		"[\n{\"question\":\"One?\"},\n{\"qestion\":\"Two?\"}\n]": `line 3: unknown field "qestion"`,
		"[\n{\"question\":\"One?\"},\n\n{\"question\":2}\n]":     "line 4: question is a number, not a string",
		"[\n{\"question\":\"One?\"},":                            "line 2: the file ends too early",
		"{\"question\":\"One?\"}\n{\"question\":\"Two?\"} x\n":   "line 2: something stands behind the item",
		"{\"question\":\"One?\",\"expected_pages\":[0]}\n{}":     "line 1, item 1, expected_pages: 0 is no page: the first is 1\nline 2, item 2, question: it is missing",
		"[]": "there is no item",
		"":   "line 1: the file is empty",
	} {
		_, err := evaluate.Read(strings.NewReader(text), evaluate.FormatOf("", []byte(text)))
		var problems *evaluate.Problems
		if !errors.As(err, &problems) {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if diff := cmp.Diff(want, err.Error()); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func TestLimitsOfItems(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("question\n")
	for i := range evaluate.MaxItems {
		fmt.Fprintf(&b, "Question %d?\n", i)
	}
	items, err := evaluate.Read(strings.NewReader(b.String()), evaluate.FormatCSV)
	if err != nil || len(items) != evaluate.MaxItems {
		t.Fatalf("%d items, error %v", len(items), err)
	}
	_, err = evaluate.Read(strings.NewReader(b.String()+"One more?\n"), evaluate.FormatCSV)
	if err == nil || err.Error() != "there are more than 10000 items" {
		t.Errorf("one more: %v", err)
	}
	long := evaluate.Item{ID: "a", Question: strings.Repeat("ü", evaluate.MaxQuestion), Tags: []string{strings.Repeat("x", evaluate.MaxTag)}}
	if err := evaluate.Check([]evaluate.Item{long}); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	long.Question, long.Tags[0], long.Kind = long.Question+"?", long.Tags[0]+"x", "riddle"
	var problems *evaluate.Problems
	if err := evaluate.Check([]evaluate.Item{long}); !errors.As(err, &problems) || len(problems.List) != 3 {
		t.Errorf("behind the limits: %v", err)
	}
	if err := evaluate.Check(make([]evaluate.Item, 50)); !errors.As(err, &problems) || len(problems.List) != evaluate.MaxProblems || problems.More != 80 {
		t.Errorf("many problems: %v", err)
	}
}

func TestVersions(t *testing.T) {
	t.Parallel()
	items := evaluate.WithIDs([]evaluate.Item{{Question: "One?"}, {Question: "One?"}, {Question: "Two?"}})
	if items[0].ID == items[1].ID || items[0].ID == "" || evaluate.Check(items) != nil {
		t.Errorf("ids: %+v", items)
	}
	again := evaluate.WithIDs([]evaluate.Item{{Question: "One?"}, {Question: "One?"}, {Question: "Two?"}})
	if evaluate.Version(items) != evaluate.Version(again) {
		t.Error("the same items have two versions")
	}
	again[2].Tags = []string{"new"}
	if evaluate.Version(items) == evaluate.Version(again) {
		t.Error("another tag has the same version")
	}
	small, large := evaluate.Sample(items, 1, 7), evaluate.Sample(items, 2, 7)
	if len(small) != 1 || len(large) != 2 || small[0].ID != large[0].ID && small[0].ID != large[1].ID {
		t.Errorf("samples: %v, %v", small, large)
	}
	if all := evaluate.Sample(items, 9, 7); len(all) != 3 {
		t.Errorf("a sample of more than all has %d items", len(all))
	}
}

// FuzzRead reads anything, and reads again what it writes.
func FuzzRead(f *testing.F) {
	f.Add("csv", []byte("id;question;tags\na;\"One?\";x; y\n"))
	f.Add("json", []byte(`[{"question":"One?","expected_pages":["a:1",2]}]`))
	f.Add("jsonl", []byte(`{"question":"One?","expected_documents":["a;b"," c"]}`))
	f.Fuzz(func(t *testing.T, format string, data []byte) {
		items, err := evaluate.Read(bytes.NewReader(data), evaluate.Format(format))
		if err != nil {
			return
		}
		for _, format := range []evaluate.Format{evaluate.FormatJSON, evaluate.FormatJSONLines} {
			var b bytes.Buffer
			if err := evaluate.Write(&b, format, items); err != nil {
				t.Fatal(err)
			}
			again, err := evaluate.Read(&b, format)
			if err != nil {
				t.Fatalf("%s: %v", format, err)
			}
			if evaluate.Version(again) != evaluate.Version(items) {
				t.Errorf("%s changed the items: %s", format, cmp.Diff(items, again))
			}
		}
	})
}

func TestWriteCSV(t *testing.T) {
	t.Parallel()
	items := []evaluate.Item{{
		ID: "a", Question: "One;\ntwo, \"three\"?", Reference: "Ü", ExpectedDocuments: []string{"a; b.md", "[c].md"},
		ExpectedPages: []evaluate.Page{{Document: "a: b.md", Number: 2}, {Number: 1}}, Tags: []string{"x", "y"}, Kind: evaluate.KindTable,
	}}
	var b bytes.Buffer
	if err := evaluate.Write(&b, evaluate.FormatCSV, items); err != nil {
		t.Fatal(err)
	}
	got, err := evaluate.Read(&b, evaluate.FormatCSV)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(items, got); diff != "" {
		t.Errorf("items (-written +read):\n%s", diff)
	}
}
