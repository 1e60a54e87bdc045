package main

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// ignoreFile is the name of the files that say which others of their folder and
// of the folders below are left out. Their syntax is the one that .gitignore files have.
const ignoreFile = ".cairnignore"

// ignoreRule is a line of an ignore file.
type ignoreRule struct {
	pattern string // for doublestar, below the folder of the file
	folders bool   // matches folders only
	include bool   // brings back what an earlier rule left out
}

// ignoreRules are the rules of a folder and of the folders above, by the folder of
// their file: "." for the top.
type ignoreRules map[string][]ignoreRule

// load adds the rules of a folder, which may have none. inside is its path below
// the top.
func (r ignoreRules) load(folder, inside string) error {
	file, err := os.Open(filepath.Join(folder, ignoreFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close()
	var rules []ignoreRule
	lines := bufio.NewScanner(file)
	for number := 1; lines.Scan(); number++ {
		rule, ok := parseIgnoreRule(strings.TrimPrefix(lines.Text(), "\ufeff"))
		if !ok {
			continue
		}
		if !doublestar.ValidatePattern(rule.pattern) {
			return fmt.Errorf("line %d of %s is no pattern", number, ignoreFile)
		}
		rules = append(rules, rule)
	}
	r[inside] = rules
	return lines.Err()
}

// parseIgnoreRule returns the rule of a line. It reports false for a line without
// one: a comment, or an empty line.
func parseIgnoreRule(line string) (rule ignoreRule, ok bool) {
	line = trimSpaces(strings.TrimSuffix(line, "\r"))
	if line == "" || strings.HasPrefix(line, "#") {
		return rule, false
	}
	line, rule.include = strings.CutPrefix(line, "!")
	line, rule.folders = strings.CutSuffix(line, "/")
	if !strings.Contains(line, "/") { // a name, in any folder
		line = "**/" + line
	}
	line = strings.TrimPrefix(line, "/")
	if strings.HasSuffix(line, "/**") { // what is in the folder, but not the folder
		line += "/*"
	}
	// .gitignore has no alternatives, and a bracket may be the first in a class.
	rule.pattern = strings.NewReplacer("{", `\{`, "}", `\}`, "[]", `[\]`, "[!]", `[!\]`, "[^]", `[^\]`).Replace(line)
	return rule, line != ""
}

// trimSpaces removes the spaces at the end, except one behind a backslash.
func trimSpaces(line string) string {
	trimmed := strings.TrimRight(line, " ")
	if strings.HasSuffix(trimmed, `\`) && len(trimmed) < len(line) {
		trimmed += " "
	}
	return trimmed
}

// ignores reports whether a path below the top is left out. The last rule that
// matches decides; the rules of a deeper folder come later. The caller does not ask
// for what is inside a folder that is left out.
func (r ignoreRules) ignores(inside string, isFolder bool) bool {
	for folder := path.Dir(inside); ; folder = path.Dir(folder) {
		rules := r[folder]
		for i := len(rules) - 1; i >= 0; i-- {
			if rules[i].matches(below(folder, inside), isFolder) {
				return !rules[i].include
			}
		}
		if folder == "." {
			return false
		}
	}
}

func (rule ignoreRule) matches(name string, isFolder bool) bool {
	return (isFolder || !rule.folders) && doublestar.MatchUnvalidated(rule.pattern, name)
}

// below returns a path relative to a folder above it.
func below(folder, inside string) string {
	if folder == "." {
		return inside
	}
	return strings.TrimPrefix(inside, folder+"/")
}
