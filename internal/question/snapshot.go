package question

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/cairn-rag/cairn/internal/citation"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/prompt"
	"github.com/cairn-rag/cairn/internal/quota"
	"github.com/cairn-rag/cairn/internal/record"
	"github.com/cairn-rag/cairn/internal/tool"
	"github.com/cairn-rag/cairn/internal/websearch"
)

// Project returns the project that a request names by its id or its name.
// Without a name it is the one that the principal is held to, or, for a
// principal of all projects, a project without an id that has the defaults.
func (s *Starter) Project(ctx context.Context, p knowledge.Principal, idOrName string) (knowledge.Project, error) {
	if idOrName == "" {
		idOrName = p.Project()
	}
	if idOrName == "" {
		return knowledge.Project{Workspace: p.Workspace()}, nil
	}
	project, err := s.deps.Store.Project(ctx, p, idOrName)
	if err != nil {
		return project, fmt.Errorf("read project %s: %w", idOrName, err)
	}
	return project, quota.Count(ctx, p, project.ID)
}

// preferences are what a user chose.
type preferences struct {
	RAG struct {
		Model    string   `json:"model"`
		Reranker string   `json:"reranker"`
		Tags     []string `json:"tags"`
	} `json:"rag"`
}

func (s *Starter) preferences(ctx context.Context, p knowledge.Principal) (preferred preferences, err error) {
	stored, err := s.deps.Store.Preferences(ctx, p)
	if err != nil {
		return preferred, fmt.Errorf("read preferences: %w", err)
	}
	if err := json.Unmarshal(stored, &preferred); err != nil {
		return preferred, fmt.Errorf("decode preferences: %w", err)
	}
	return preferred, nil
}

// configuration returns the project's configuration, with the user's preferences
// laid over it and the question's override over both.
func (s *Starter) configuration(project knowledge.Project, preferred preferences, override json.RawMessage) (knowledge.ProjectConfig, error) {
	config := project.Config
	if preferred.RAG.Model != "" {
		config.AI.Model = preferred.RAG.Model
	}
	if preferred.RAG.Reranker != "" {
		config.AI.Retrieval.Reranker = preferred.RAG.Reranker
	}
	saved, tools := config.AI, config.Tools
	config, err := config.With(override)
	if err != nil {
		return config, fmt.Errorf("override the configuration: %w", err)
	}
	if err := config.Tools.ComponentError(tools, s.cfg.Components); err != nil {
		return config, err
	}
	const location = "body.projectConfigOverride.ai"
	wrong := append(changedTags(project.Config.AI, config.AI, location), config.AI.Fields(location)...)
	wrong = append(wrong, websearch.SourceFields(location+".retrieval.web", saved.Retrieval.Web, config.AI.Retrieval.Web, s.cfg.WebProvider)...)
	if r := config.AI.Retrieval; r.Reranker != saved.Retrieval.Reranker { // one that was saved and is no longer configured is left out by the search
		wrong = append(wrong, r.RerankerFields(location+".retrieval.reranker", s.cfg.Reranker)...)
	}
	wrong = append(wrong, lockedFields(project.Config, config)...)
	wrong = append(wrong, config.AI.ModelFields(location, saved, s.cfg.ChatModels)...)
	wrong = append(wrong, tool.ApprovalFields("body.projectConfigOverride.tools.approval", tools, config.Tools)...)
	wrong = append(wrong, config.Tools.LockedFields("body.projectConfigOverride.tools", tools)...)
	wrong = append(wrong, config.Tools.MissingFields("body.projectConfigOverride.tools", tools, s.cfg.Tools)...)
	wrong = append(wrong, websearch.SettingFields("body.projectConfigOverride.tools.web_search", tools.WebSearch, config.Tools.WebSearch, s.cfg.WebProvider)...)
	config = config.WithDefaults()
	config.AI.Retrieval.Reranker = config.AI.Retrieval.RerankedBy(s.cfg.Reranker) // so that the workflow knows that the search asks one
	return config, knowledge.InvalidFields(wrong)
}

// lockedFields returns the settings of a project that the configuration of one question
// changes, and that hold for all of its questions and documents.
func lockedFields(project, config knowledge.ProjectConfig) []knowledge.Field {
	var wrong []knowledge.Field
	if config.Limits != project.Limits {
		wrong = append(wrong, knowledge.Field{Location: "body.projectConfigOverride.limits", Message: "cannot be changed for one question; change the limits of the project"})
	}
	if config.AI.Embeddings != project.AI.Embeddings {
		wrong = append(wrong, knowledge.Field{Location: "body.projectConfigOverride.ai.embeddings", Message: "cannot be changed for one question, which is compared with vectors that are stored; change the model of the project and start a reindex"})
	}
	if !reflect.DeepEqual(config.Pipeline, project.Pipeline) {
		wrong = append(wrong, knowledge.Field{Location: "body.projectConfigOverride.pipeline", Message: "cannot be changed for one question; change the pipeline of the project"})
	}
	if config.Privacy.Loosens(project.Privacy) {
		wrong = append(wrong, knowledge.Field{Location: "body.projectConfigOverride.privacy", Message: "can only set answers and providers to redact for one question; change the privacy of the project"})
	}
	return wrong
}

// checkDocuments refuses a question about a document that the principal cannot
// read, or that has no text to search.
func (s *Starter) checkDocuments(ctx context.Context, p knowledge.Principal, ids, projects []string) error {
	if len(ids) == 0 {
		return nil
	}
	missing, err := s.deps.Store.UnreachedDocuments(ctx, p, ids)
	if err != nil {
		return fmt.Errorf("check documents: %w", err)
	}
	if len(missing) > 0 {
		return knowledge.NotFound("document", missing[0])
	}
	silent, err := s.deps.Store.UnsearchableDocuments(ctx, p, ids, projects)
	if err != nil {
		return fmt.Errorf("check documents: %w", err)
	}
	if len(silent) > 0 {
		return unsearchable(silent[0], projects)
	}
	return nil
}

// unsearchable returns the error of a question about a document that has no text to search.
func unsearchable(d knowledge.Document, projects []string) error {
	switch {
	case len(projects) > 0 && !slices.Contains(projects, d.Project):
		return knowledge.Errorf(knowledge.CodeNotFound, "document %q is not in this project, but in %s: ask that one", d.ID, d.Project)
	case d.Status == knowledge.StatusInactive:
		return knowledge.Errorf(knowledge.CodeConflict, "document %q has no text to search, because it is inactive: set its status to published again, or leave it out", d.ID)
	case d.Status == knowledge.StatusPending:
		return knowledge.Errorf(knowledge.CodeConflict, "document %q has no text to search yet, because it is being ingested: wait until it is published, or leave it out", d.ID)
	default:
		return knowledge.Errorf(knowledge.CodeConflict, "document %q has no text to search, because its ingest failed: correct the cause and retry it, or leave it out", d.ID)
	}
}

// MessageID returns the id of the message that answers a run's question.
func MessageID(run string) string { return knowledge.DerivedID("message", run) }

// conversationID returns the id of the conversation that a run begins.
func conversationID(run string) string { return knowledge.DerivedID("conversation", run) }

// snapshot gathers what the run needs to know. The ids of a conversation are
// derived from the run's, so that a run which is started again has no second
// conversation.
func (s *Starter) snapshot(ctx context.Context, p knowledge.Principal, id string, r Request, setup Setup) (knowledge.Request, error) {
	snapshot := knowledge.Request{
		Principal: p, Kind: r.Kind, Web: r.Web, Door: r.Door, Question: r.Text, Documents: r.Documents, Projects: setup.Projects, Filter: setup.Filter, Scope: setup.Scope, Config: setup.Config,
		Passed: r.Passed, Webhooks: setup.Webhooks, ToolChoice: r.ToolChoice, Form: r.Form, ExecutionID: "call_" + strings.ReplaceAll(knowledge.NewID(), "-", ""), Date: s.deps.Now(),
		AgentDepth: knowledge.AgentDepth,
	}
	if r.Conversation == "" {
		snapshot.History = callersHistory(r.History, setup.Config.AI.History)
	}
	if !r.Converse {
		if r.Kind == knowledge.KindTool && p.ConversationID() != "" && setup.Config.AI.Enhances(true) { // the question may not stand alone
			history, err := s.History(ctx, p, p.ConversationID(), setup.Config.AI.History)
			snapshot.History = history
			return snapshot, err
		}
		return snapshot, nil
	}
	snapshot.QuestionID, snapshot.MessageID = knowledge.DerivedID("question", id), MessageID(id)
	if r.Conversation == "" {
		snapshot.ConversationID = conversationID(id)
		return snapshot, nil
	}
	snapshot.ConversationID = r.Conversation
	var err error
	snapshot.History, snapshot.Overlong, err = record.History(ctx, s.deps.Store, p, r.Conversation, setup.Config.AI.History)
	return snapshot, err
}

// History returns the messages of a conversation that the model is shown.
func (s *Starter) History(ctx context.Context, p knowledge.Principal, conversation string, limits knowledge.HistoryConfig) ([]knowledge.Message, error) {
	history, _, err := record.History(ctx, s.deps.Store, p, conversation, limits)
	return history, err
}

// callersHistory returns the messages of a caller's own history that the model is shown:
// its instructions, and the newest messages within the limits.
func callersHistory(messages []knowledge.Message, limits knowledge.HistoryConfig) []knowledge.Message {
	var instructions, history []knowledge.Message
	for _, m := range messages {
		switch {
		case m.Content == "":
		case m.Role == "system":
			instructions = append(instructions, m)
		default:
			history = append(history, knowledge.Message{Role: m.Role, Content: prompt.WithoutReflection(citation.Strip(m.Content))})
		}
	}
	history = history[max(0, len(history)-*limits.Messages):]
	return append(instructions, prompt.History(history, limits.Tokens)...)
}
