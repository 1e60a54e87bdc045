package origin

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net/url"
	"slices"
	"strconv"
)

// Conversations implements System.
func (d *Dify) Conversations(ctx context.Context) iter.Seq2[Conversation, error] {
	return func(yield func(Conversation, error) bool) {
		if d.app == nil || len(d.users) == 0 {
			yield(Conversation{}, errors.New("the conversations of Dify need the key of an app and the names of its users"))
			return
		}
		for _, user := range d.users {
			for c, err := range d.conversationsOf(ctx, user) {
				if !yield(c, err) {
					return
				}
			}
		}
	}
}

// conversationsOf returns the conversations of a user of the app.
func (d *Dify) conversationsOf(ctx context.Context, user string) iter.Seq2[Conversation, error] {
	type conversation struct {
		ID        string `json:"id"`
		Name      string `json:"name"`
		CreatedAt moment `json:"created_at"`
	}
	return func(yield func(Conversation, error) bool) {
		last := ""
		for {
			var p struct {
				Data    []conversation `json:"data"`
				HasMore bool           `json:"has_more"`
			}
			query := url.Values{"user": {user}, "limit": {strconv.Itoa(pageLimit)}, "sort_by": {"created_at"}}
			if last != "" {
				query.Set("last_id", last)
			}
			if err := d.app.get(ctx, "/v1/conversations", query, &p); err != nil {
				yield(Conversation{}, fmt.Errorf("list the conversations of %q: %w", user, err))
				return
			}
			for _, one := range p.Data {
				c := Conversation{ID: "dify/" + one.ID, Title: one.Name, Owner: user, CreatedAt: one.CreatedAt.time()}
				err := d.messages(ctx, &c, user, one.ID)
				if err != nil {
					err = fmt.Errorf("read the conversation %q: %w", one.Name, err)
				}
				if !yield(c, err) {
					return
				}
				last = one.ID
			}
			if !p.HasMore || len(p.Data) == 0 {
				return
			}
		}
	}
}

// difyTurn is a question and its answer.
type difyTurn struct {
	ID        string `json:"id"`
	Query     string `json:"query"`
	Answer    string `json:"answer"`
	CreatedAt moment `json:"created_at"`
	Resources []struct {
		DocumentName string `json:"document_name"`
	} `json:"retriever_resources"`
}

// messages adds the messages of a conversation. The first page has the newest ones, and each
// page has the oldest of its own first.
func (d *Dify) messages(ctx context.Context, c *Conversation, user, id string) error {
	var turns []difyTurn // newest first
	for {
		var p struct {
			Data    []difyTurn `json:"data"`
			HasMore bool       `json:"has_more"`
		}
		query := url.Values{"user": {user}, "conversation_id": {id}, "limit": {strconv.Itoa(pageLimit)}}
		if len(turns) > 0 {
			query.Set("first_id", turns[len(turns)-1].ID)
		}
		if err := d.app.get(ctx, "/v1/messages", query, &p); err != nil {
			return err
		}
		for _, turn := range slices.Backward(p.Data) {
			turns = append(turns, turn)
		}
		if !p.HasMore || len(p.Data) == 0 {
			break
		}
	}
	for _, turn := range slices.Backward(turns) {
		var names []string
		for _, r := range turn.Resources {
			names = append(names, r.DocumentName)
		}
		c.add("user", turn.Query, turn.CreatedAt.time())
		c.add("assistant", turn.Answer, turn.CreatedAt.time(), names...)
	}
	return nil
}
