package config

import (
	_ "embed"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// The files with the comments that the reference is made of.
var (
	//go:embed config.go
	source string
	//go:embed models.go
	modelsSource string
	//go:embed secret.go
	secretSource string
	//go:embed oidc.go
	oidcSource string
	//go:embed sandbox.go
	sandboxSource string
	//go:embed audit.go
	auditSource string
	//go:embed privacy.go
	privacySource string
	//go:embed protection.go
	protectionSource string
)

const referenceHead = `# Configuration

<!-- Made from the comments in internal/config by: go test ./internal/config -run Reference -update -->

Everything has a default, so none of this is needed to start. Values come from a
YAML file (` + "`--config FILE`" + ` or ` + "`CAIRN_CONFIG`" + `), from environment variables, and from
the command line; the later wins over the earlier. In a variable's name, two
underscores separate the levels. An unknown key in the file is an error that names
the nearest known one. An unknown variable that begins with ` + "`CAIRN_`" + ` is only a warning
that names the nearest one, and those that Kubernetes injects for a service named
` + "`cairn`" + ` (` + "`CAIRN_SERVICE_HOST`, `CAIRN_PORT=tcp://…`, …" + `) are ignored. ` + "`cairn config`" + ` prints
the effective configuration as a file whose secrets are masked; write them in again
before you use the file. ` + "`cairn config --explain KEY`" + ` prints the meaning of a key, its
value, and where that came from.

` + "```yaml" + `
listen: 0.0.0.0:8080
models:
  chat:
    base_url: https://llm.example.com/v1
    model: mistral-small
    key_env: LLM_KEY
limits:
  file_bytes: 200MB
` + "```" + `

Sizes are written as 20MB (millions of bytes), 512KiB or a number; times as 90s or
10m. ` + "`OPENAI_API_KEY`" + ` alone switches answers and embeddings to OpenAI.
`

// first are the keys that most installations set, and when.
var first = []struct{ key, when string }{
	{"data", "the data folder is to be on another disk"},
	{"listen", "other machines send requests"},
	{"public_url", "a proxy stands before Cairn, or webhooks and links must reach it"},
	{"models.chat.base_url", "a model of yours answers, with `models.chat.model` and `models.chat.key_env`"},
	{"models.embedding.base_url", "a model of yours embeds, with `models.embedding.model` and `models.embedding.key_env`"},
	{"auth.jwt.issuer", "your users have JWTs; with `auth.jwt.audience` and `auth.jwt.jwks_url`"},
	{"auth.oidc.issuer", "people sign in with an identity provider; with `auth.oidc.client_id` and `auth.oidc.client_secret_env`"},
	{"egress.allow", "models, buckets or sites have addresses inside your network"},
	{"database.url", "several processes share PostgreSQL"},
	{"vector.url", "the index is in Milvus"},
	{"blob.url", "originals and results are in a bucket"},
}

// anyModel stands in a key for the name of a model.
const anyModel = "<model>"

// row is one row of a table of keys.
type row struct {
	key, meaning string
	models       []string // which have the key, where it has anyModel
}

// rows returns the rows of all keys. The keys that mean the same for several models are one
// row. of has the row of each key by its number.
func rows() (all []row, of map[string]int) {
	comments := fieldComments()
	of = map[string]int{}
	for _, f := range leaves() {
		comment := f.commentOf(comments)
		r := row{key: f.key, meaning: comments[comment]}
		if strings.HasPrefix(comment, "Endpoint.") || strings.HasPrefix(comment, "Model.") {
			model := strings.Split(f.key, ".")[1]
			r.key, r.models = strings.Replace(f.key, model, anyModel, 1), []string{model}
		}
		at := slices.IndexFunc(all, func(other row) bool { return other.key == r.key })
		if at < 0 {
			at, all = len(all), append(all, r)
		} else {
			all[at].models = append(all[at].models, r.models...)
		}
		of[f.key] = at
	}
	return all, of
}

// leaves lists the keys, with the keys of the sections in lists and maps.
func leaves() []field {
	var all []field
	for _, f := range fields() {
		if isSections(f.kind) || isNamed(f.kind) {
			all = append(all, f.sections()...)
			continue
		}
		all = append(all, f)
	}
	return all
}

// Reference is the description of every key as Markdown, as it stands in
// docs/configuration.md.
func Reference() string {
	all, of := rows()
	var out strings.Builder
	out.WriteString(referenceHead)
	out.WriteString("\n## Where to begin\n\nMost installations set none, or some of these ten:\n\n| key | when |\n|---|---|\n")
	for _, f := range first {
		fmt.Fprintf(&out, "| [`%s`](#%s) | %s |\n", f.key, anchorOf(sectionOf(all[of[f.key]].key)), f.when)
	}
	section := "-"
	for _, r := range all {
		if name := sectionOf(r.key); name != section {
			section = name
			out.WriteString(titleOf(section))
		}
		meaning := r.meaning
		if r.models != nil {
			meaning = strings.Join(r.models, ", ") + " | " + meaning
		}
		fmt.Fprintf(&out, "| `%s` | `%s` | %s |\n", r.key, variableOf(r.key), meaning)
	}
	return out.String()
}

// sharedIntroduction stands before the keys that several models have.
const sharedIntroduction = "The keys of the models, with the name of a model in the place of `<model>`. The keys that mean\n" +
	"something else for a model, or have another default there, follow in the model's own table.\n\n"

// titleOf returns the title of a section and the head of its table.
func titleOf(section string) string {
	title, introduction, column := "`"+section+"`", "", ""
	switch {
	case section == "":
		title = "Top level"
	case section == "models."+anyModel:
		introduction, column = sharedIntroduction, " models |"
	case strings.Contains(section, anyModel):
		column = " models |"
	}
	rule := "|---|---|---|" + strings.Repeat("---|", min(len(column), 1))
	return fmt.Sprintf("\n## %s\n\n%s| key | variable |%s meaning |\n%s\n", title, introduction, column, rule)
}

// anchorOf returns the name under which a link finds the title of a section.
func anchorOf(section string) string {
	if section == "" {
		return "top-level"
	}
	return strings.NewReplacer(".", "", "<", "", ">", "").Replace(section)
}

func sectionOf(key string) string {
	if i := strings.LastIndex(key, "."); i >= 0 {
		return key[:i]
	}
	return ""
}

// fieldComments returns the comment of each field on one line, by "Struct.Field".
func fieldComments() map[string]string {
	comments := map[string]string{}
	for name, text := range map[string]string{"config.go": source, "models.go": modelsSource, "secret.go": secretSource, "sandbox.go": sandboxSource, "oidc.go": oidcSource, "audit.go": auditSource, "privacy.go": privacySource, "protection.go": protectionSource} {
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments)
		if err != nil {
			continue // the compiler has read the same file
		}
		addComments(comments, file)
	}
	return comments
}

// addComments adds the comments of the structs in a file.
func addComments(comments map[string]string, file *ast.File) {
	ast.Inspect(file, func(n ast.Node) bool {
		t, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if s, ok := t.Type.(*ast.StructType); ok {
			for _, f := range s.Fields.List {
				for _, name := range f.Names {
					addComment(comments, t.Name.Name+"."+name.Name, f.Doc.Text())
				}
			}
		}
		return false
	})
}

// addComment adds the comment of a field, and the items of its list as the meanings of the
// keys that they begin with.
func addComment(comments map[string]string, name, text string) {
	oneLine := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	list := strings.Split(text, "\n  - ")
	comments[name] = oneLine(list[0])
	for _, item := range list[1:] {
		key, meaning, _ := strings.Cut(item, ": ")
		comments[name+"."+key] = oneLine(meaning)
	}
}
