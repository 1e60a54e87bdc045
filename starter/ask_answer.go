package main

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/localmodel"
	"github.com/cairn-rag/cairn/starter/terminal"
)

// answerView is how an answer is shown.
type answerView struct {
	output    outputFlags
	project   string // that was asked
	continued bool   // an earlier answer of the conversation was shown
}

// showAnswer prints the run of a question: the answer as it streams and what belongs
// under it, or the finished answer as JSON.
func (n *narrator) showAnswer(events iter.Seq2[client.Event, error], view answerView) error {
	a := n.app
	last, err := n.follow(events)
	if n.answer != nil {
		err = errors.Join(err, n.answer.Close())
	}
	switch {
	case err != nil:
		return err
	case view.output.forPrograms():
		return view.output.write(a, last.Data)
	}
	var answer client.Answer
	if err := last.Decode(&answer); err != nil {
		return err
	}
	return view.under(a.stdout, answer)
}

// offlineModel is the name of the model that answers without configuration.
const offlineModel = localmodel.ChatModel

// under writes the lines below an answer: its sources, the model, and how to continue the
// conversation.
func (v answerView) under(out io.Writer, answer client.Answer) error {
	fmt.Fprintln(out) // a failure shows with the next line
	if err := terminal.Sources(out, answer.Sources, false); err != nil {
		return err
	}
	lines := []string{""}
	if why := stoppedEarly(answer.FinishReason); why != "" {
		lines = append(lines, terminal.Wrapped(out, why))
	}
	switch {
	case answer.Model == offlineModel && !v.continued:
		lines = append(lines, terminal.Wrapped(out, offlineModel+`: extracts sentences, does not reason; see README "Your own models"`))
	case answer.Model != "":
		lines = append(lines, "model: "+terminal.Clean(answer.Model))
	}
	if id := answer.ConversationID; id != "" {
		more := "go on: cairn ask -c " + terminal.Clean(id)
		if v.project != "" && v.project != "default" {
			more += " -p " + terminal.Clean(v.project)
		}
		lines = append(lines, more)
	}
	if len(answer.Suggestions) > 0 {
		lines = append(lines, "", "You may also ask")
		for _, question := range answer.Suggestions {
			lines = append(lines, terminal.Wrapped(out, "  "+terminal.Clean(question)))
		}
	}
	if len(lines) == 1 {
		return nil
	}
	_, err := fmt.Fprintln(out, strings.Join(lines, "\n"))
	return err
}

// stoppedEarly returns what a finish reason means, "" for the reason of a whole answer.
func stoppedEarly(reason string) string {
	switch reason {
	case "":
		return ""
	case model.FinishLength:
		return "The answer is cut off: it reached the longest length that ai.maxTokens or the model allows."
	case model.FinishFiltered:
		return "The answer is cut off: the model's content filter ended it."
	default:
		return "The answer is cut off: " + terminal.Clean(reason) + "."
	}
}
