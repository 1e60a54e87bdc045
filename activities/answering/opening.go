package answering

import (
	"cmp"
	"context"

	"github.com/cairn-rag/cairn/internal/citation"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/prompt"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/tool"
)

// opening returns the messages before the turns of the tool loop: the prompt with its
// passages, the conversation, and the question with the pictures that were found; or those
// that a webhook gave in their place. inOrder returns what a search found.
func (a *CallingModels) opening(ctx context.Context, in ModelCallInput, r knowledge.Request, found foundWords, offered tool.Set, inOrder func(search string) []citation.Context) ([]model.Message, error) {
	var given []knowledge.Message
	if len(r.Webhooks) > 0 {
		answers, err := record.ReadWebhooks(ctx, a.Blobs, in.RunRef)
		if err != nil {
			return nil, err
		}
		if answers != nil {
			given = answers.Prompt
		}
	}
	words, err := record.ReadStepWords(ctx, a.Blobs, in.Loop.Stepped)
	if err != nil {
		return nil, err
	}
	r.Question = cmp.Or(words.Question, r.Question)
	template := record.PromptTemplate(r)
	var passages []citation.Context
	switch {
	case in.Loop.Given != "":
		passages, template = found.by[in.Loop.Given], prompt.WithContext(template)
	case given != nil || record.SearchFirst(r):
		passages = inOrder(firstSearch(in.Loop))
	}
	if given != nil {
		messages := givenMessages(given, r, passages)
		if words.Instructions != "" {
			messages = append([]model.Message{{Role: model.RoleSystem, Content: words.Instructions}}, messages...)
		}
		return messages, nil
	}
	if _, searches := offered.Find(tool.DocumentsRAG); !searches {
		template = prompt.WithoutSearch(template)
	}
	if r.Config.AI.Prompt != "" && r.Config.AI.PromptRules != knowledge.PromptRulesOff {
		template = prompt.WithRules(template)
	}
	system := joinWords(prompt.System(template, passages, r.Date), words.Instructions)
	question := model.Message{Role: model.RoleUser, Content: r.Question}
	if len(in.Loop.Attachments) > 0 {
		if system, question.Pictures, err = a.attachments.withAttachments(ctx, r, in.Loop.Attachments, system); err != nil {
			return nil, err
		}
	}
	switch {
	case r.Form.IsJSON():
		system = prompt.WithJSON(system)
	case r.Config.AI.Reflection:
		system = prompt.WithReflection(system)
	}
	messages := []model.Message{{Role: model.RoleSystem, Content: system}}
	for _, m := range r.History {
		messages = append(messages, model.Message{Role: m.Role, Content: m.Content})
	}
	if r.Config.AI.Multimodal {
		pictures, err := a.picturesOf(ctx, found.chunks)
		if err != nil {
			return nil, err
		}
		question.Pictures = append(question.Pictures, pictures...)
	}
	return append(messages, question), nil
}

// givenMessages returns the messages of a webhook, with their variables filled in.
func givenMessages(given []knowledge.Message, r knowledge.Request, passages []citation.Context) []model.Message {
	var messages []model.Message
	for _, m := range given {
		content := m.Content
		if content != "" { // which would stand for the default prompt
			content = prompt.System(content, passages, r.Date)
		}
		messages = append(messages, model.Message{Role: m.Role, Content: content})
	}
	return messages
}
