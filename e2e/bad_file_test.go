package e2e_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

func badFiles(t *testing.T, s *server) {
	t.Run("that is empty is refused", func(t *testing.T) {
		for name, content := range map[string]string{"empty.txt": "", "blank.md": " \n\t\r\n", "nothing.pdf": "", "mark.txt": "\xef\xbb\xbf"} {
			s.refusesFile(t, file{name, []byte(content)}, http.StatusUnprocessableEntity, knowledge.CodeEmpty)
		}
		s.refuses(t, "POST", webhooks+"/document?projectId=default", map[string]any{"name": "a", "content": map[string]any{"text": ""}},
			http.StatusUnprocessableEntity, knowledge.CodeEmpty)
	})
	t.Run("of text that is not UTF-8 says so", func(t *testing.T) {
		for _, d := range s.sendFiles(t, nil,
			file{"broken.json", []byte("{\"a\": \"\xc3\x28 \xff\"}")},
			file{"broken.md", []byte(strings.Repeat("This line has \xc3\x28 and \xff\xfe\xfd in it.\n", 300))},
			file{"late.txt", []byte(strings.Repeat("A good line.\n", 5000) + "a bad one: \xc3\x28\n")},
		) {
			s.wantFailed(t, d, knowledge.StageExtract, knowledge.CodeMalformed)
		}
		s.refuses(t, "POST", webhooks+"/document?projectId=default", "{\"name\": \"a\", \"content\": {\"text\": \"\xc3\x28\"}}", http.StatusBadRequest, knowledge.CodeMalformed)
	})
	t.Run("of text in another character set names the one that was assumed", func(t *testing.T) {
		for _, d := range s.sendFiles(t, nil, file{"latin.txt", []byte("Das B\xfcro \xf6ffnet um neun Uhr, und die T\xfcr ist gr\xfcn.")}) {
			if d = s.ended(t, d); d.Status != knowledge.StatusPublished || d.Metadata["assumed_charset"] != "windows-1252" {
				t.Errorf("the document is %s, %v, with the metadata %v", d.Status, d.Error, d.Metadata)
			}
		}
	})
	t.Run("with 50 MB of text is refused", func(t *testing.T) {
		long := strings.Repeat("The keeper of the light writes into the book. ", 50<<20/46)
		s.refuses(t, "POST", webhooks+"/document?projectId=default", map[string]any{"name": "long", "content": map[string]any{"text": long}},
			http.StatusRequestEntityTooLarge, knowledge.CodeTooLarge)
		s.refusesFile(t, file{"long.txt", []byte(long)}, http.StatusRequestEntityTooLarge, knowledge.CodeTooLarge)
	})
	t.Run("that is nested deep or has numbers beyond all limits ends as stated", func(t *testing.T) {
		stated := []knowledge.Code{knowledge.CodeParseLimit, knowledge.CodeParseLimit, "", "", ""}
		for i, d := range s.sendFiles(t, nil,
			file{"deep.json", []byte(strings.Repeat("[", 1_000_000) + strings.Repeat("]", 1_000_000))},
			file{"deep.html", []byte("<html><body>" + strings.Repeat("<div>", 200_000) + "deep words" + strings.Repeat("</div>", 200_000))},
			file{"deep.md", []byte(strings.Repeat("> ", 50_000) + "deep words\n" + strings.Repeat("[", 50_000))},
			file{"numbers.json", []byte(`{"huge": 1e999999, "long": ` + strings.Repeat("9", 100_000) + `, "word": "numbers"}`)},
			file{"wide.csv", []byte("a,b\n" + strings.Repeat(",", 1_000_000) + "\n\"never closed")},
		) {
			if stated[i] != "" {
				s.wantFailed(t, d, knowledge.StageExtract, stated[i])
			} else if end := s.ended(t, d); end.Status != knowledge.StatusPublished {
				t.Errorf("%s is %s, %+v", d.Name, end.Status, end.Error)
			}
		}
	})
}
