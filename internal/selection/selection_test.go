package selection_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/selection"
	"github.com/cairn-rag/cairn/internal/source"
	"github.com/cairn-rag/cairn/internal/store"
)

func TestIncludes(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		include, exclude []string
		yes, no          string
	}{
		{nil, nil, "a.txt b/c.pdf", ""},
		{[]string{"*.md"}, nil, "a.md", "b/a.md a.txt"},
		{[]string{"**/*.md"}, nil, "a.md b/a.md b/c/a.md", "a.txt"},
		{[]string{"docs/**"}, []string{"docs/old/**"}, "docs/a docs/b/c", "docs/old/a other/a"},
		{nil, []string{"**/*.{png,jpg}"}, "a.txt", "a.png b/c.jpg"},
		{[]string{"https://example.org/docs/**"}, nil, "https://example.org/docs/a", "https://example.org/blog/a"},
	} {
		s := selection.New(store.ImportRequest{Include: test.include, Exclude: test.exclude})
		for key := range strings.FieldsSeq(test.yes) {
			if !s.Includes(key) {
				t.Errorf("%v without %v leaves out %s", test.include, test.exclude, key)
			}
		}
		for key := range strings.FieldsSeq(test.no) {
			if s.Includes(key) {
				t.Errorf("%v without %v includes %s", test.include, test.exclude, key)
			}
		}
	}
}

func TestAttributes(t *testing.T) {
	t.Parallel()
	s := selection.New(store.ImportRequest{
		Tags: []string{"all"}, Metadata: map[string]any{"a": 1, "b": 1},
		Rules: []store.ImportRule{
			{Match: "legal/**", Tags: []string{"legal", "all"}, Metadata: map[string]any{"b": 2, "c": 2}},
			{Match: "**/*.pdf", Tags: []string{"pdf"}},
		},
	})
	description, err := selection.ParseDescription([]byte(`{"name":"The Contract.pdf","tags":["signed"],"metadata":{"c":3},"author":"x"}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		key  string
		d    *selection.Description
		want selection.Attributes
	}{
		{"a.txt", nil, selection.Attributes{Name: "a.txt", Tags: []string{"all"}, Metadata: map[string]any{"a": 1, "b": 1}}},
		{"legal/x/a.pdf", nil, selection.Attributes{Name: "legal/x/a.pdf", Tags: []string{"all", "legal", "pdf"}, Metadata: map[string]any{"a": 1, "b": 2, "c": 2}}},
		{"legal/a.pdf", description, selection.Attributes{
			Name: "The Contract.pdf", Tags: []string{"all", "legal", "pdf", "signed"}, Metadata: map[string]any{"a": 1, "b": 2, "c": 3.0},
		}},
	} {
		if diff := cmp.Diff(test.want, s.Attributes(test.key, test.d)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.key, diff)
		}
	}
}

func TestName(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{
		"a/b.txt": "a/b.txt", "/a//b.txt": "a/b.txt", "../../etc/passwd": "etc/passwd", "a\x00\u202eb.txt": "ab.txt", "": "untitled", "/": "untitled",
		"https://example.org/docs//a\x00.html": "https://example.org/docs/a.html",
		`C:\docs\a.txt`:                        "a.txt", strings.Repeat("x", 600) + "/y.txt": strings.Repeat("x", 506) + "/y.txt",
	} {
		if got := selection.Name(key); got != want {
			t.Errorf("the name of %q is %q, want %q", key, got, want)
		}
	}
}

func TestDescribed(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{"a.pdf.meta.json": "a.pdf", "x/a.meta.json": "x/a", ".meta.json": "", "x/.meta.json": "", "a.json": ""} {
		if got, ok := selection.Described(key); ok != (want != "") || ok && got != want {
			t.Errorf("%s describes %q, %t", key, got, ok)
		}
	}
	if _, err := selection.ParseDescription([]byte("[]")); !knowledge.IsCode(err, knowledge.CodeInvalid) {
		t.Errorf("a list is a description: %v", err)
	}
}

func TestExternalID(t *testing.T) {
	t.Parallel()
	minio := source.Spec{Type: source.TypeS3, URI: "s3://b/docs", Options: source.Options{Endpoint: "http://minio:9000/"}}
	for _, test := range []struct {
		spec source.Spec
		o    source.Object
		want string
	}{
		{source.Spec{Type: source.TypeS3, URI: "s3://b/docs"}, source.Object{Key: "a.txt", Address: "s3://b/docs/a.txt"}, "s3://b/docs/a.txt"},
		{minio, source.Object{Key: "a.txt", Address: "s3://b/docs/a.txt"}, "http://minio:9000/s3:b/docs/a.txt"},
		{source.Spec{Type: source.TypeZip, URI: "manual.zip"}, source.Object{Key: "ch1/a.txt"}, "manual.zip/ch1/a.txt"},
		{source.Spec{Type: source.TypeZip, URI: "https://example.org/x/manual.zip?v=1"}, source.Object{Key: "a.txt"}, "https://example.org/x/manual.zip/a.txt"},
	} {
		if got := selection.ExternalID(test.spec, test.o); got != test.want {
			t.Errorf("got %s, want %s", got, test.want)
		}
	}
	long := selection.ExternalID(minio, source.Object{Address: "s3://b/" + strings.Repeat("x", 1024)})
	if len(knowledge.ExternalIDFields("id", long)) > 0 || !strings.HasPrefix(long, "object:") {
		t.Errorf("a long address has the id %q", long)
	}
}

func TestFingerprint(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, change := range []func(p *selection.Pipeline, a *selection.Attributes, description *string){
		func(*selection.Pipeline, *selection.Attributes, *string) {},
		func(p *selection.Pipeline, _ *selection.Attributes, _ *string) { p.Version = 2 },
		func(p *selection.Pipeline, _ *selection.Attributes, _ *string) { p.Splitter.ChunkSize = 600 },
		func(p *selection.Pipeline, _ *selection.Attributes, _ *string) { p.Enrichment.Summary = true },
		func(p *selection.Pipeline, _ *selection.Attributes, _ *string) {
			p.Access = &knowledge.Access{Groups: []string{"g"}}
		},
		func(_ *selection.Pipeline, a *selection.Attributes, _ *string) { a.Tags = []string{"y"} },
		func(_ *selection.Pipeline, _ *selection.Attributes, description *string) { *description = "etag" },
	} {
		p := selection.Pipeline{Version: 1, Splitter: knowledge.Splitter{ChunkSize: 500}}
		a, description := selection.Attributes{Name: "a", Tags: []string{"x"}}, ""
		change(&p, &a, &description)
		seen[selection.Fingerprint(p, a, description)] = true
	}
	if len(seen) != 7 {
		t.Errorf("seven different documents have %d fingerprints", len(seen))
	}
}

func TestFields(t *testing.T) {
	t.Parallel()
	wrong := selection.Fields(store.ImportRequest{
		Include: []string{"[", "ok"}, Exclude: []string{""}, Rules: []store.ImportRule{{Match: "{a", Tags: []string{""}}}, Tags: []string{"\x01"},
	})
	var locations []string
	for _, f := range wrong {
		locations = append(locations, f.Location)
	}
	want := []string{"body.tags[0]", "body.rules[0].tags[0]", "body.include[0]", "body.exclude[0]", "body.rules[0].match"}
	if diff := cmp.Diff(want, locations); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
}
