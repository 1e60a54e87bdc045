package knowledge

import (
	"fmt"
	"time"
)

// RetentionConfig is how long a project keeps what it has. Nothing is removed by its age
// without a rule.
type RetentionConfig struct {
	Documents     []RetentionRule `json:"documents,omitempty" maxItems:"50" doc:"Rules for documents. The age of a document counts from the upload of its newest version. Documents under legal hold stay"`
	Conversations *float64        `json:"conversations,omitempty" minimum:"0" maximum:"36500" doc:"The days after their last message for which conversations are kept, with what is attached to them. Default: without a limit"`
	Runs          *float64        `json:"runs,omitempty" minimum:"0" maximum:"36500" doc:"The days after their end for which the runs of questions are kept, with their events, answers, files and histories. Default: without a limit"`
}

// RetentionRule is how long the documents with a classification or a tag are kept.
type RetentionRule struct {
	Classification string          `json:"classification,omitempty" maxLength:"63" doc:"Documents with this classification. Give this or a tag; with neither the rule is for every document"`
	Tag            string          `json:"tag,omitempty" maxLength:"128" doc:"Documents with this tag"`
	Days           float64         `json:"days" minimum:"0" maximum:"36500"`
	Action         RetentionAction `json:"action" enum:"remove,inactive" doc:"remove: the document is removed. inactive: it is hidden from readers"`
}

// RetentionAction is what happens to a document whose time is over.
type RetentionAction string

// The actions.
const (
	RetentionRemove   RetentionAction = "remove"
	RetentionInactive RetentionAction = "inactive"
)

// maxRetentionDays bounds the days of a rule: a hundred years.
const maxRetentionDays = 36500

// IsZero reports whether everything is kept.
func (c RetentionConfig) IsZero() bool {
	return len(c.Documents) == 0 && c.Conversations == nil && c.Runs == nil
}

// Fields returns what is wrong with the configuration, as found at location.
func (c RetentionConfig) Fields(location string, levels Levels) []Field {
	var wrong []Field
	for i, rule := range c.Documents {
		at := fmt.Sprintf("%s.documents[%d]", location, i)
		if rule.Classification != "" && rule.Tag != "" {
			wrong = append(wrong, Field{at, "must have a classification or a tag, not both"})
		}
		if rule.Action != RetentionRemove && rule.Action != RetentionInactive {
			wrong = append(wrong, Field{at + ".action", "must be remove or inactive"})
		}
		wrong = append(wrong, levels.Fields(at+".classification", rule.Classification)...)
		wrong = append(wrong, daysFields(at+".days", &rule.Days)...)
	}
	wrong = append(wrong, daysFields(location+".conversations", c.Conversations)...)
	return append(wrong, daysFields(location+".runs", c.Runs)...)
}

func daysFields(location string, days *float64) []Field {
	if days != nil && (*days < 0 || *days > maxRetentionDays) {
		return []Field{{location, fmt.Sprintf("must be from 0 to %d days", maxRetentionDays)}}
	}
	return nil
}

// Cutoff returns the time before which a thing of an age of days began.
func Cutoff(now time.Time, days float64) time.Time {
	return now.Add(-time.Duration(days * float64(24*time.Hour)))
}

// RetentionProgress is what a run of retention has done.
type RetentionProgress struct {
	Removed       int `json:"removed" doc:"Documents whose removal it has started"`
	Inactive      int `json:"inactive" doc:"Documents that it has hidden"`
	Conversations int `json:"conversations"`
	Runs          int `json:"runs"`
	KeptByHold    int `json:"kept_by_hold" doc:"Documents that were due, and that a legal hold keeps"`
}
