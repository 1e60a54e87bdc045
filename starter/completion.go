package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"The shell: bash, zsh or fish."`
}

// Help returns the command's details and an example.
func (completionCmd) Help() string {
	return "The script completes commands, flags and their values.\n\nExample:\n\n" +
		"    cairn completion bash > /etc/bash_completion.d/cairn\n" +
		"    cairn completion zsh > \"${fpath[1]}/_cairn\"\n" +
		"    cairn completion fish > ~/.config/fish/completions/cairn.fish"
}

// Run prints the script.
func (c completionCmd) Run(a *app, parsed *kong.Context) error {
	words := completions(parsed.Model.Node)
	script := map[string]string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}[c.Shell]
	format := "      '%s') words='%s' ;;\n"
	if c.Shell == "fish" {
		format = "      case '%s'\n        set words %s\n"
	}
	var cases strings.Builder
	for _, before := range slices.Sorted(maps.Keys(words)) {
		fmt.Fprintf(&cases, format, before, strings.Join(words[before], " "))
	}
	_, err := fmt.Fprint(a.stdout, strings.Replace(script, "CASES\n", cases.String(), 1))
	return err
}

// completions returns the words that may follow: after the words of a command, its
// commands and flags; after these and a flag that has fixed values, the values.
func completions(node *kong.Node) map[string][]string {
	words := map[string][]string{}
	_ = kong.Visit(node, func(visited kong.Visitable, next kong.Next) error { // the visitor never fails
		n, ok := visited.(*kong.Node)
		if !ok || n.Hidden {
			return nil
		}
		before := strings.Join(commandWords(n), " ")
		for _, child := range n.Children {
			if !child.Hidden {
				words[before] = append(words[before], child.Name)
			}
		}
		for _, positional := range n.Positional {
			words[before] = append(words[before], values(positional)...)
		}
		for _, flags := range n.AllFlags(true) {
			for _, flag := range flags {
				words[before] = append(words[before], "--"+flag.Name)
				if of := values(flag.Value); len(of) > 0 {
					words[strings.TrimSpace(before+" --"+flag.Name)] = of
				}
			}
		}
		return next(nil)
	})
	return words
}

// values returns the values that an argument or a flag may have, if they are fixed.
func values(v *kong.Value) []string {
	return slices.DeleteFunc(v.EnumSlice(), func(value string) bool { return value == "" })
}

// commandWords returns the words that select a command.
func commandWords(leaf *kong.Node) []string {
	var words []string
	for n := leaf; n != nil && n.Type == kong.CommandNode; n = n.Parent {
		words = append([]string{n.Name}, words...)
	}
	return words
}

// The scripts keep the words of the command before the cursor, without flags, and look up
// what may follow. Other arguments, such as the text of a question, are not commands, so
// that nothing follows after them but flags and files.
const (
	bashCompletion = `# bash completion for cairn
_cairn() {
  local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD-1]}" command='' word words
  local i
  _cairn_words() {
    words=''
    case "$1" in
CASES
    esac
  }
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="${COMP_WORDS[i]}"
    _cairn_words "$command"
    [[ "$word" != -* && " $words " == *" $word "* ]] && command="${command:+$command }$word"
  done
  _cairn_words "${command:+$command }$previous"
  [[ "$previous" == --* && -n "$words" ]] || _cairn_words "$command"
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  [[ ${#COMPREPLY[@]} -gt 0 || "$current" == -* ]] || COMPREPLY=($(compgen -f -- "$current"))
}
complete -o filenames -F _cairn cairn
`
	zshCompletion = `#compdef cairn
_cairn_words() {
  words_after=''
  local words
  case "$1" in
CASES
  esac
  words_after="$words"
}
_cairn() {
  local command='' word words_after i
  for ((i = 2; i < CURRENT; i++)); do
    word="${words[i]}"
    _cairn_words "$command"
    [[ "$word" != -* && " $words_after " == *" $word "* ]] && command="${command:+$command }$word"
  done
  _cairn_words "${command:+$command }${words[CURRENT-1]}"
  [[ "${words[CURRENT-1]}" == --* && -n "$words_after" ]] || _cairn_words "$command"
  compadd -- ${=words_after}
  _files
}
if [[ "$funcstack[1]" == _cairn ]]; then
  _cairn "$@"
else
  compdef _cairn cairn
fi
`
	fishCompletion = `# fish completion for cairn
function __cairn_words
    set -l words
    switch "$argv[1]"
CASES
    end
    string join \n -- $words
end
function __cairn_complete
    set -l before (commandline -opc)
    set -l command ''
    for word in $before[2..-1]
        if not string match -q -- '-*' $word; and contains -- $word (__cairn_words "$command")
            set command (string trim -- "$command $word")
        end
    end
    if string match -q -- '--*' $before[-1]
        set -l values (__cairn_words (string trim -- "$command $before[-1]"))
        if test -n "$values"
            string join \n -- $values
            return
        end
    end
    __cairn_words "$command"
end
complete -c cairn -a '(__cairn_complete)'
`
)
