package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/cairn-rag/cairn/internal/client"
	"github.com/cairn-rag/cairn/starter/terminal"
)

// phaseOf is the data of a tool_update event. Updates that only number what was found have
// no phase.
type phaseOf struct {
	Phase, Status string
	Data          struct {
		Results *int `json:"results_count"`
		Pages   *int `json:"url_count"`
		Read    *int `json:"scraped_count"`
	}
}

// text returns the phase in words, "" = there is none.
func (p phaseOf) text() string {
	if p.Phase == "" {
		return ""
	}
	text := strings.ToLower(strings.ReplaceAll(p.Phase, "_", " ")) + " " + p.Status
	switch d := p.Data; {
	case d.Results != nil:
		return text + ": " + count(*d.Results, "page")
	case d.Pages != nil:
		return text + ": " + count(*d.Pages, "page")
	case d.Read != nil:
		return fmt.Sprintf("%s: %s read", text, count(*d.Read, "page"))
	}
	return text
}

// answers reports whether the words of the answer follow, without those that came before.
func (p phaseOf) answers() bool {
	return p.Status == "started" && (p.Phase == "COMPILING_RESULTS" || p.Phase == "GENERATION")
}

// phase shows a phase of a tool's own run. The answer begins again when its phase starts
// a second time.
func (n *narrator) phase(e client.Event) error {
	var update phaseOf
	if err := e.Decode(&update); err != nil {
		return err
	}
	if n.answer != nil && update.answers() {
		n.answer.Reset("retry")
	}
	if text := update.text(); text != "" {
		n.say("%s", text)
	}
	return nil
}

// calledTool is the data of a toolCall event.
type calledTool struct {
	ID, Name, Status, Summary string
	Arguments                 json.RawMessage
	Files                     []struct{ Name, URL string }
}

// toolCall shows a call of a tool that has ended, with the files that it produced, or that
// waits for a person. A terminal shows in its last line which one runs.
func (n *narrator) toolCall(e client.Event) error {
	var call calledTool
	if err := e.Decode(&call); err != nil {
		return err
	}
	switch call.Status {
	case "started":
		n.tool(call.ID, call.Name)
		n.mark("… " + call.Name)
	case "waiting":
		n.waiting(fmt.Sprintf("%s with %s", call.Name, call.Arguments), n.run, call.ID)
	default:
		n.say("%s: %s", call.Name, firstOf(call.Summary, call.Status))
		for _, file := range call.Files {
			address := file.URL
			if strings.HasPrefix(address, "/") { // the server has no public_url
				address = n.server + address
			}
			n.say("  %s %s", file.Name, address)
		}
	}
	return nil
}

// waiting shows a call of a tool that waits for a person, and how to decide about it.
func (n *narrator) waiting(call, run, id string) {
	n.say("%s waits for a person:", call)
	n.say("  cairn runs approve %s %s", run, id)
	n.say("  cairn runs refuse %s %s --reason \"…\"", run, id)
}

// tool notes the name of the tool of a call, which its events do not have.
func (n *narrator) tool(id, name string) {
	if n.tools == nil {
		n.tools = map[string]string{}
	}
	n.tools[id] = name
}

// toolEvent shows a phase of a search of the web as a line. A terminal shows the other
// events of tools in its last line.
func (n *narrator) toolEvent(e client.Event) error {
	var shown struct {
		ToolCallID, Event string
		Data              json.RawMessage
	}
	if err := e.Decode(&shown); err != nil {
		return err
	}
	name := firstOf(n.tools[shown.ToolCallID], "tool")
	if shown.Event == client.EventToolUpdate {
		var update phaseOf
		if err := json.Unmarshal(shown.Data, &update); err != nil {
			return fmt.Errorf("decode event %d (%s): %w", e.ID, e.Name, err)
		}
		if text := update.text(); text != "" {
			n.say("%s: %s", name, text)
		}
		return nil
	}
	var data struct{ RunID, ID, Name, Status, Message string }
	_ = json.Unmarshal(shown.Data, &data)                                // a tool may show anything
	if shown.Event == client.EventToolCall && data.Status == "waiting" { // of an agent
		n.waiting(name+": "+data.Name, data.RunID, data.ID)
		return nil
	}
	n.mark(strings.Join(strings.Fields("… "+name+": "+firstOf(data.Message, data.Name+" "+data.Status, shown.Event)), " "))
	return nil
}

// toolEnd is the data of a tool_end event: the sources of a search of documents, or of the
// web.
type toolEnd struct {
	Contexts []struct {
		Rank    int
		ChunkID string `json:"chunk_id"`
		Preview string `json:"text_preview"`
		Used    bool   `json:"used_in_response"`
	}
	Sources []struct {
		Rank       int
		Title, URL string
		Used       bool `json:"used_in_response"`
	}
}

// underTool writes the sources of a tool's own run.
func underTool(out io.Writer, e client.Event) error {
	var end toolEnd
	if err := e.Decode(&end); err != nil {
		return err
	}
	var sources []client.Source
	for _, c := range end.Contexts {
		sources = append(sources, client.Source{Rank: c.Rank, ChunkID: c.ChunkID, Text: c.Preview, UsedInResponse: c.Used})
	}
	for _, s := range end.Sources {
		sources = append(sources, client.Source{Rank: s.Rank, DocumentName: s.Title, URL: s.URL, UsedInResponse: s.Used})
	}
	if len(sources) == 0 {
		return nil
	}
	fmt.Fprintln(out) // a failure shows with the next line
	if err := terminal.Sources(out, sources, false); err != nil {
		return err
	}
	_, err := fmt.Fprintln(out)
	return err
}
