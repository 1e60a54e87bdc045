package answering

import (
	"context"
	"fmt"
	"strings"

	"github.com/cairn-rag/cairn/activities/step"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/record"
)

// steerMessages reads the messages that the person who asked sent while the answer was under
// way.
func steerMessages(ctx context.Context, blobs step.Blobs, steers []record.Steer) ([]record.SteerMessage, error) {
	list := make([]record.SteerMessage, len(steers))
	for i, steer := range steers {
		if err := blobs.GetJSON(ctx, steer.Key, &list[i]); err != nil {
			return nil, fmt.Errorf("read message %d: %w", i+1, err)
		}
	}
	return list, nil
}

// saidBehind returns the words of these messages by the number of turns that come before
// them.
func saidBehind(ctx context.Context, blobs step.Blobs, steers []record.Steer) (map[int]string, error) {
	messages, err := steerMessages(ctx, blobs, steers)
	said := map[int]string{}
	for i, m := range messages {
		said[steers[i].Turns] = joinWords(said[steers[i].Turns], m.Text)
	}
	return said, err
}

// withQuestion adds words of the person who asked to the messages before the turns. Many
// endpoints refuse two messages of a user in a row, so the words follow those of the question.
func withQuestion(opening []model.Message, words string) []model.Message {
	if last := len(opening) - 1; last >= 0 && opening[last].Role == model.RoleUser {
		opening[last].Content = joinWords(opening[last].Content, words)
		return opening
	}
	return append(opening, model.Message{Role: model.RoleUser, Content: words})
}

// joinWords puts a blank line between two texts, unless one is empty.
func joinWords(before, words string) string {
	return strings.TrimPrefix(strings.TrimSuffix(before+"\n\n"+words, "\n\n"), "\n\n")
}
