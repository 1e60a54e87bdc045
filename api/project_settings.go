package api

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/cairn-rag/cairn/internal/intake"
	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/tool"
	"github.com/cairn-rag/cairn/internal/webhook"
	"github.com/cairn-rag/cairn/internal/websearch"
)

// projectSettings lays changes over the configurations of projects, and refuses what the
// instance does not have.
type projectSettings struct {
	projects     Tenants
	addresses    Addresses
	namedSecrets NamedSecrets
	sealer       intake.Secrets
	models       ModelNames // nil: names of chat models are not checked
	has          knowledge.InstanceFeatures
	levels       knowledge.Levels // of classification
}

// apply lays what is given over the project's configuration and its webhooks.
func (ps *projectSettings) apply(ctx context.Context, c ProjectChange, project *knowledge.Project, renew bool) (made map[string]string, err error) {
	if made, err = ps.setWebhooks(project, c.Webhooks, renew); err != nil {
		return nil, err
	}
	if len(c.CallbackSecret) > 0 {
		if made, err = ps.setCallbackSecret(project, c.CallbackSecret, made); err != nil {
			return nil, err
		}
	}
	c.Name, c.Webhooks, c.CallbackSecret = nil, nil, nil // the rest is of the configuration
	change, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("encode change: %w", err)
	}
	before := project.Config
	changed, err := project.Config.With(change)
	if err != nil {
		return nil, fmt.Errorf("configure project %s: %w", project.ID, err)
	}
	project.Config = changed
	if err := changed.Tools.ComponentError(before.Tools, ps.has.Components); err != nil {
		return nil, err
	}
	wrong := append(changed.AI.Fields("body.ai"), changed.Tools.MissingFields("body.tools", before.Tools, ps.has.Tools)...)
	wrong = append(wrong, changed.Privacy.Fields("body.privacy", ps.has.Analyzer)...)
	steps, made, err := ps.checkPipeline(before, project, made)
	if err != nil {
		return nil, err
	}
	wrong = append(wrong, steps...)
	wrong = append(wrong, changed.Retention.Fields("body.retention", ps.levels)...)
	wrong = append(wrong, tool.ApprovalFields("body.tools.approval", before.Tools, changed.Tools)...)
	wrong = append(wrong, websearch.SettingFields("body.tools.web_search", before.Tools.WebSearch, changed.Tools.WebSearch, ps.has.WebProvider)...)
	custom, err := ps.customFields(ctx, before, *project)
	if err != nil {
		return nil, err
	}
	wrong = append(wrong, custom...)
	wrong = append(wrong, websearch.SourceFields("body.ai.retrieval.web", before.AI.Retrieval.Web, changed.AI.Retrieval.Web, ps.has.WebProvider)...)
	if changed.AI.Retrieval.Reranker != before.AI.Retrieval.Reranker {
		wrong = append(wrong, changed.AI.Retrieval.RerankerFields("body.ai.retrieval.reranker", ps.has.Reranker)...)
	}
	wrong = append(wrong, changed.AI.ModelFields("body.ai", before.AI, ps.has.ChatModels)...)
	if wrong == nil {
		wrong = ps.embeddingsFields(changed.AI.Embeddings)
	}
	return made, knowledge.InvalidFields(wrong)
}

// checkPipeline returns what is wrong with the steps of a project, unless they are as before. It
// makes the secret that signs what their addresses are sent, if the project has none, and adds
// it to made.
func (ps *projectSettings) checkPipeline(before knowledge.ProjectConfig, project *knowledge.Project, made map[string]string) ([]knowledge.Field, map[string]string, error) {
	now := project.Config
	if reflect.DeepEqual(now.Pipeline, before.Pipeline) && now.Privacy.RedactsForProviders() == before.Privacy.RedactsForProviders() {
		return nil, made, nil
	}
	wrong := now.Pipeline.Fields("body.pipeline", now.Privacy, ps.addresses.CheckURL)
	if wrong != nil || project.CallbackSecret != "" || !slices.ContainsFunc(now.Pipeline, func(s knowledge.PipelineStep) bool { return s.Webhook != nil }) {
		return wrong, made, nil
	}
	made, err := ps.setCallbackSecret(project, changeOf[string]("null"), made)
	return nil, made, err
}

// customFields returns what is wrong with the custom tools of a project, unless they are as
// before.
func (ps *projectSettings) customFields(ctx context.Context, before knowledge.ProjectConfig, project knowledge.Project) ([]knowledge.Field, error) {
	custom := project.Config.Tools.Custom
	if reflect.DeepEqual(custom, before.Tools.Custom) {
		return nil, nil
	}
	var failed error
	wrongSecret := func(name, host string) string {
		need := knowledge.SecretNeed{Workspace: project.Workspace, Project: project.ID, Use: knowledge.SecretInHeader, Host: host}
		usable, err := ps.namedSecrets.Usable(ctx, name, need)
		if err != nil {
			failed = err
		}
		if usable {
			return ""
		}
		return knowledge.NoSecret(need)
	}
	wrong := tool.CustomFields("body.tools.custom", custom, wrongSecret, ps.addresses.CheckURL)
	return wrong, failed
}

// setCallbackSecret seals the secret of a change into the project. It adds one that it
// makes to made.
func (ps *projectSettings) setCallbackSecret(project *knowledge.Project, change changeOf[string], made map[string]string) (map[string]string, error) {
	var given *string
	err := json.Unmarshal(change, &given)
	if err != nil {
		return nil, fmt.Errorf("read the secret of callbacks: %w", err)
	}
	secret := ""
	if given == nil {
		secret = webhook.NewSecret()
		made = maps.Clone(made)
		if made == nil {
			made = map[string]string{}
		}
		made[madeCallback] = secret
	} else if secret, err = webhook.CheckSecret(*given, "body.callbackSecret"); err != nil {
		return nil, err
	}
	if project.CallbackSecret, err = ps.sealer.Seal(secret, webhook.CallbackContext(project.Workspace)); err != nil {
		return nil, fmt.Errorf("seal the secret of callbacks: %w", err)
	}
	return made, nil
}

// embeddingsFields returns what an instance without an endpoint for embeddings cannot do.
func (ps *projectSettings) embeddingsFields(e knowledge.Embeddings) []knowledge.Field {
	const location = "body.ai.embeddings"
	switch offline := ps.has.Offline; {
	case offline.Model == "":
		return nil
	case e.Model != "" && e.Model != offline.Model:
		return []knowledge.Field{{Location: location + ".model", Message: "must be " + offline.Model + ": this instance has no endpoint for embeddings; set models.embedding"}}
	case e.Dimensions > offline.Dimensions:
		return []knowledge.Field{{Location: location + ".dimensions", Message: fmt.Sprintf("must be at most %d, which the offline model has", offline.Dimensions)}}
	}
	return nil
}
