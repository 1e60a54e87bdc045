package view

import (
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Project is a project as clients see it, with the defaults that hold for it.
type Project struct {
	ID        string                    `json:"id"`
	Name      string                    `json:"name"`
	Slug      string                    `json:"slug"`
	AI        knowledge.AIConfig        `json:"ai"`
	Tools     knowledge.ToolsConfig     `json:"tools"`
	Limits    knowledge.LimitsConfig    `json:"limits"`
	Privacy   knowledge.PrivacyConfig   `json:"privacy,omitzero"`
	Retention knowledge.RetentionConfig `json:"retention,omitzero"`
	CreatedAt time.Time                 `json:"createdAt"`
	UpdatedAt time.Time                 `json:"updatedAt"`
}

// NewProject returns the view of a project, without its webhooks.
func NewProject(p knowledge.Project) Project {
	c := p.Config.WithDefaults()
	return Project{
		ID: p.ID, Name: p.Name, Slug: p.ID, AI: c.AI, Tools: c.Tools, Limits: c.Limits, Privacy: c.Privacy, Retention: c.Retention,
		CreatedAt: p.CreatedAt, UpdatedAt: p.UpdatedAt,
	}
}
