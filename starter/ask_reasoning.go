package main

import (
	"fmt"
	"strings"

	"github.com/cairn-rag/cairn/internal/client"
)

// thought is the reasoning of a model, as it comes.
type thought struct {
	shown bool // its lines are written; else only that there is some
	words int
	line  string // that has not ended
}

// think takes the next part of the reasoning.
func (n *narrator) think(e client.Event) error {
	var part client.Reasoning
	if err := e.Decode(&part); err != nil {
		return err
	}
	n.thought.words += len(strings.Fields(part.Delta))
	if !n.thought.shown {
		n.mark(fmt.Sprintf("… the model is thinking, %d words so far", n.thought.words))
		return nil
	}
	if part.Reset {
		n.sayThought()
		n.say("(the reasoning above is void: the model was asked again)")
	}
	lines := strings.Split(n.thought.line+part.Delta, "\n")
	n.thought.line = lines[len(lines)-1]
	for _, line := range lines[:len(lines)-1] {
		n.say("| %s", line)
	}
	return nil
}

// sayThought writes the line of the reasoning that has not ended.
func (n *narrator) sayThought() {
	if n.thought.line != "" {
		n.say("| %s", n.thought.line)
		n.thought.line = ""
	}
}
