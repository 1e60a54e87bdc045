package model

import "strings"

// stops cuts an answer at the first of some texts, which may be cut between its parts: endpoints
// that do not know the parameter, or refuse it, write on.
type stops struct {
	texts []string
	held  string // the end of what was written, which may be the beginning of a text
	met   bool
}

// write returns the words that are before any of the texts. What may be the beginning of one is
// held back.
func (s *stops) write(words string) string {
	if len(s.texts) == 0 || s.met {
		if s.met {
			return ""
		}
		return words
	}
	all := s.held + words
	first := -1
	for _, text := range s.texts {
		if at := strings.Index(all, text); at >= 0 && (first < 0 || at < first) {
			first = at
		}
	}
	if first >= 0 {
		s.held, s.met = "", true
		return all[:first]
	}
	keep := 0
	for _, text := range s.texts {
		for n := min(len(text)-1, len(all)); n > keep; n-- {
			if strings.HasSuffix(all, text[:n]) {
				keep = n
				break
			}
		}
	}
	s.held = all[len(all)-keep:]
	return all[:len(all)-keep]
}

// close returns what was held back of an answer that has ended.
func (s *stops) close() string {
	held := s.held
	s.held = ""
	return held
}

// restart forgets the words so far, which were no part of the answer.
func (s *stops) restart() { s.held, s.met = "", false }

// cut cuts deltas at a stop. met reports that the answer ends behind them.
func (s *stops) cut(deltas []Delta) (kept []Delta, met bool) {
	kept = deltas[:0]
	for _, d := range deltas {
		if d.Restart {
			s.restart()
		}
		if d.Text != "" {
			d.Text = s.write(d.Text)
		}
		if d.Text != "" || d.Reasoning != "" || d.Restart {
			kept = append(kept, d)
		}
		if s.met {
			return kept, true
		}
	}
	return kept, false
}
