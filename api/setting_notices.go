package api

import (
	"fmt"
	"strings"

	"github.com/cairn-rag/cairn/internal/knowledge"
	"github.com/cairn-rag/cairn/internal/prompt"
)

// settingNotice says what a setting that was stored does not do, or what is not known of it.
type settingNotice struct {
	Field   string `json:"field"`
	Code    string `json:"code" enum:"no_context,no_citations,model_not_checked,documents_outdated"`
	Message string `json:"message"`
}

// promptNotices returns what the prompt of a project lacks.
func promptNotices(ai knowledge.AIConfig) []settingNotice {
	var notices []settingNotice
	if !prompt.WantsContext(ai.Prompt) {
		notices = append(notices, settingNotice{
			Field: "ai.prompt", Code: "no_context",
			Message: "the prompt has no ${context}, which is replaced by the passages: nothing is searched before the first call of the model",
		})
	}
	if ai.Prompt != "" && ai.PromptRules == knowledge.PromptRulesOff && !strings.Contains(ai.Prompt, "source_") {
		notices = append(notices, settingNotice{
			Field: "ai.promptRules", Code: "no_citations",
			Message: "the prompt does not ask for marks like <source_1>, and promptRules is off: answers will have no citations",
		})
	}
	return notices
}

// privacyNotices says of a change of privacy that older documents are as they were.
func privacyNotices(change ProjectChange, now knowledge.PrivacyConfig, outdated int) []settingNotice {
	if change.Privacy == nil || outdated == 0 {
		return nil
	}
	kept := fmt.Sprintf("%d documents were processed with other settings and stay as they are", outdated)
	switch now.PII {
	case knowledge.PrivacyRedact:
		kept += ": their passages have their personal data, and their originals are not encrypted under keys of their own"
	case knowledge.PrivacyReject:
		kept += ": those with personal data stay published"
	}
	return []settingNotice{{Field: "privacy", Code: "documents_outdated", Message: kept + ". Reindex the project to process them again"}}
}
