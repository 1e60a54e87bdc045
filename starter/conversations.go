package main

import (
	"context"

	"github.com/cairn-rag/cairn/internal/client"
)

type conversationsCmd struct {
	List conversationsListCmd `cmd:"" help:"List your conversations, newest first, or find some by their words."`
}

// Help returns an example of the commands.
func (conversationsCmd) Help() string {
	return "Example:\n\n    cairn conversations list --search calibrat"
}

type conversationsListCmd struct {
	listFlags
	Search string `placeholder:"WORDS" help:"Only conversations in whose title, questions and answers each of these words begins a word."`
	Limit  atMost `default:"50" help:"The largest number to list; 0 lists all."`
}

// Help returns the command's example.
func (conversationsListCmd) Help() string {
	return "Example:\n\n    cairn conversations list --search \"pump calibrat\""
}

// Run lists conversations.
func (l conversationsListCmd) Run(ctx context.Context, a *app) error {
	c, err := l.connect()
	if err != nil {
		return err
	}
	found, err := pages(int(l.Limit), func(cursor string, limit int) (client.List[client.Conversation], error) {
		return c.Conversations(ctx, client.ConversationQuery{Words: l.Search, Cursor: cursor, Limit: limit})
	})
	if err != nil {
		return err
	}
	if l.forPrograms() {
		return l.write(a, client.List[client.Conversation]{Data: found})
	}
	rows := make([][]string, 0, len(found))
	for _, one := range found {
		rows = append(rows, []string{one.ID, l.when(a, one.CreatedAt), one.Title})
	}
	none := "no conversations; cairn ask starts one"
	if l.Search != "" {
		none = "no conversation matches"
	}
	return l.table(a, listing{none: none, header: []string{"ID", "STARTED", "TITLE"}, rows: rows, spare: []string{"STARTED"}})
}
