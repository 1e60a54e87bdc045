package extract

import (
	"path"
	"strings"
)

// typeByName returns the media type that a file name implies, "" if it implies
// none or one whose content can be told from other texts.
func typeByName(name string) string {
	base := strings.ToLower(path.Base(strings.ReplaceAll(name, `\`, "/")))
	switch base {
	case "makefile", "gnumakefile":
		return "text/x-makefile"
	case "dockerfile", "containerfile":
		return "text/x-dockerfile"
	}
	ext := extension(base)
	if ext == "" {
		return ""
	}
	for _, kind := range []string{TypeText, TypeMarkdown, TypeAsciiDoc, TypeLaTeX, TypeHTML, TypeCSV, TypeTSV, TypeJSON, TypeNDJSON} {
		if extensionIn(ext, "", kind) != "" {
			return kind
		}
	}
	if language := languageOf(ext); language != "" {
		return "text/x-" + language
	}
	return ""
}

// languageOf returns the programming language whose source files have the
// extension ext, "" if there is none.
func languageOf(ext string) string {
	for line := range strings.Lines(sourceExtensions) {
		fields := strings.Fields(line)
		for _, e := range fields[1:] {
			if e == ext {
				return fields[0]
			}
		}
	}
	return ""
}

// sourceExtensions lists on each line a language and the extensions of its
// files.
const sourceExtensions = `ada adb ads
assembly s asm
batch bat cmd
c c h
clojure clj cljs cljc edn
cmake cmake
cpp cc cpp cxx hh hpp hxx ino
csharp cs csx
css css scss sass less
cuda cu cuh
dart dart
diff diff patch
elixir ex exs
elm elm
erlang erl hrl
fortran f f90 f95 for
fsharp fs fsi fsx
go go
graphql graphql gql
groovy groovy gradle
haskell hs lhs
hcl tf hcl tfvars
ini ini cfg conf properties env
java java
javascript js mjs cjs jsx
json5 json5 jsonc
julia jl
kotlin kt kts
lisp lisp el lsp scm rkt
lua lua
matlab mlx
nim nim
nix nix
objectivec m mm
ocaml ml mli
pascal pas pp dpr
perl pl pm
php php phtml
powershell ps1 psm1 psd1
proto proto
python py pyi pyw
r r
ruby rb rake gemspec
rust rs
scala scala sc sbt
shell sh bash zsh fish ksh
solidity sol
sql sql ddl
svelte svelte
swift swift
tex sty cls bib
toml toml
typescript ts tsx mts cts
verilog v sv svh
vhdl vhd vhdl
vim vim
vue vue
yaml yaml yml
zig zig
`
