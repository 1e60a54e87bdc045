package config

import (
	_ "embed"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
)

// The files with the comments that the reference is made of.
var (
	//go:embed config.go
	source string
	//go:embed secret.go
	secretSource string
	//go:embed sandbox.go
	sandboxSource string
)

const referenceHead = `# Configuration

<!-- Made from internal/config/config.go by: go test ./internal/config -run Reference -update -->

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
	{"egress.allow", "models, buckets or sites have addresses inside your network"},
	{"database.url", "several processes share PostgreSQL"},
	{"vector.url", "the index is in Milvus"},
	{"blob.url", "originals and results are in a bucket"},
}

// Reference is the description of every key as Markdown, as it stands in
// docs/configuration.md.
func Reference() string {
	comments := fieldComments()
	var out strings.Builder
	out.WriteString(referenceHead)
	out.WriteString("\n## Where to begin\n\nMost installations set none, or some of these ten:\n\n| key | when |\n|---|---|\n")
	for _, f := range first {
		fmt.Fprintf(&out, "| [`%s`](#%s) | %s |\n", f.key, anchorOf(sectionOf(f.key)), f.when)
	}
	section := "-"
	var all []field
	for _, f := range fields() {
		if all = append(all, f); isSections(f.kind) || isNamed(f.kind) {
			all = append(all[:len(all)-1], f.sections()...)
		}
	}
	for _, f := range all {
		if name := sectionOf(f.key); name != section {
			section = name
			title := "`" + name + "`"
			if name == "" {
				title = "Top level"
			}
			fmt.Fprintf(&out, "\n## %s\n\n| key | variable | meaning |\n|---|---|---|\n", title)
		}
		fmt.Fprintf(&out, "| `%s` | `%s` | %s |\n", f.key, variableOf(f.key), comments[f.section+"."+f.name])
	}
	return out.String()
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
	for name, text := range map[string]string{"config.go": source, "secret.go": secretSource, "sandbox.go": sandboxSource} {
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
					comments[t.Name.Name+"."+name.Name] = strings.Join(strings.Fields(f.Doc.Text()), " ")
				}
			}
		}
		return false
	})
}
