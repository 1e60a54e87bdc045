package store

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

const (
	maxWord      = 40       // runes of a word by which a conversation is found; the others are cut off
	maxWordBytes = 64 << 10 // of the words of a conversation; further words are not found
	filledAtOnce = 100      // conversations whose words are stored in one transaction
)

// foundWords returns the words of texts, each once, as conversation_words has them.
func foundWords(texts ...string) []string {
	var found []string
	known := map[string]bool{}
	for _, text := range texts {
		folded := strings.ToLower(norm.NFKC.String(text))
		for word := range strings.FieldsFuncSeq(folded, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r) }) {
			if runes := []rune(word); len(runes) > maxWord {
				word = string(runes[:maxWord])
			}
			if !known[word] {
				known[word] = true
				found = append(found, word)
			}
		}
	}
	return found
}

// withWords returns the words of a conversation with the words of further texts. The words
// stand between spaces.
func withWords(words string, texts ...string) string {
	var all strings.Builder
	all.WriteString(words)
	if words == "" {
		all.WriteByte(' ')
	}
	for _, word := range foundWords(texts...) {
		if strings.Contains(words, " "+word+" ") || all.Len()+len(word) >= maxWordBytes {
			continue
		}
		all.WriteString(word)
		all.WriteByte(' ')
	}
	return all.String()
}

// addWords adds the words of a text to the words of a conversation. One that has none yet
// gets them when its owner searches.
func addWords(ctx context.Context, tx transaction, workspace, conversation, text string) error {
	var words string
	there, err := first(ctx, tx, []any{&words}, "SELECT words FROM conversation_words WHERE workspace = ? AND conversation_id = ?", workspace, conversation)
	if err != nil || !there {
		return err
	}
	more := withWords(words, text)
	if more == words {
		return nil
	}
	_, err = tx.exec(ctx, "UPDATE conversation_words SET words = ? WHERE workspace = ? AND conversation_id = ?", more, workspace, conversation)
	return err
}

// dropWords deletes the words of a conversation, some of which it does not have any more. They
// are stored again when its owner searches.
func dropWords(ctx context.Context, tx transaction, workspace, conversation string) error {
	_, err := tx.exec(ctx, "DELETE FROM conversation_words WHERE workspace = ? AND conversation_id = ?", workspace, conversation)
	return err
}

// insertWords stores the words of a conversation that has none.
func insertWords(ctx context.Context, tx transaction, workspace, conversation string, texts ...string) error {
	_, err := tx.exec(ctx, "INSERT INTO conversation_words (workspace, conversation_id, words) VALUES (?, ?, ?) ON CONFLICT (workspace, conversation_id) DO NOTHING",
		workspace, conversation, withWords("", texts...))
	return err
}

// SearchConversations lists those of the principal's conversations, newest first, in whose
// title and messages each of the words begins a word. Without a word it finds none.
func (s *conversationStore) SearchConversations(ctx context.Context, p knowledge.Principal, words string, page Page) ([]Conversation, string, error) {
	if err := requireWorkspace(p); err != nil {
		return nil, "", err
	}
	wanted := foundWords(words)
	if len(wanted) == 0 {
		return []Conversation{}, "", nil
	}
	if err := s.fillWords(ctx, p); err != nil {
		return nil, "", err
	}
	var rows []conversationRow
	q := owned(s.reader.NewSelect().Model(&rows), p).Join("JOIN conversation_words AS w ON w.workspace = c.workspace AND w.conversation_id = c.id")
	for _, word := range wanted {
		q = q.Where("w.words LIKE ?", "% "+word+"%") // letters and digits alone
	}
	return listConversations(ctx, q, &rows, page)
}

// fillWords stores the words of those of the principal's conversations that have none.
func (s *conversationStore) fillWords(ctx context.Context, p knowledge.Principal) error {
	for {
		var rows []conversationRow
		err := owned(s.reader.NewSelect().Model(&rows), p).
			Where("NOT EXISTS (SELECT 1 FROM conversation_words AS w WHERE w.workspace = c.workspace AND w.conversation_id = c.id)").Limit(filledAtOnce).Scan(ctx)
		if err != nil {
			return fmt.Errorf("list conversations without words: %w", failure(err))
		}
		if len(rows) == 0 {
			return nil
		}
		err = s.write(ctx, "store the words of conversations", func(ctx context.Context, tx transaction) error {
			for _, row := range rows {
				if err := fillWordsOf(ctx, tx, row); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
}

// fillWordsOf stores the words of a conversation, while nobody adds a message to it.
func fillWordsOf(ctx context.Context, tx transaction, row conversationRow) error {
	var title string
	if there, err := first(ctx, tx, []any{&title}, "UPDATE conversations SET updated_at = updated_at WHERE workspace = ? AND id = ? RETURNING title", row.Workspace, row.ID); err != nil || !there {
		return err
	}
	var bodies []string
	err := tx.NewSelect().Model((*messageRow)(nil)).Column("m.body").Where("m.workspace = ? AND m.conversation_id = ?", row.Workspace, row.ID).OrderExpr("m.position").Scan(ctx, &bodies)
	if err != nil {
		return err
	}
	return insertWords(ctx, tx, row.Workspace, row.ID, append(bodies, title)...)
}
