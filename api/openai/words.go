package openai

import "github.com/cairn-rag/cairn/internal/citation"

// plainWords are the words of a run for clients that show text as it is: citations are [n], and
// links to files of the run are signed.
type plainWords struct {
	citation.PlainText

	links Words
}

// Write returns the words that are certain by now.
func (p *plainWords) Write(text string) string { return p.PlainText.Write(p.links.Write(text)) }

// Close returns what was held back.
func (p *plainWords) Close() string {
	rest := p.PlainText.Write(p.links.Close())
	return rest + p.PlainText.Close()
}

// Holds reports whether words are held back.
func (p *plainWords) Holds() bool { return p.PlainText.Holds() || p.links.Holds() }
