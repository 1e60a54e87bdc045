package knowledge

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// The places of a pipeline at which a step runs.
const (
	PipelineExtracted       = "extracted"        // a document was read, and is not cut yet
	PipelineBeforeEmbedding = "before_embedding" // its chunks are cut
	PipelineBeforePrompt    = "before_prompt"    // a question has its passages
	PipelineAfterAnswer     = "after_answer"     // the model has answered
)

// PipelinePlaces returns all places, in the order in which they come.
func PipelinePlaces() []string {
	return []string{PipelineExtracted, PipelineBeforeEmbedding, PipelineBeforePrompt, PipelineAfterAnswer}
}

// The languages of the code of a step.
const (
	PipelinePython     = "python"
	PipelineJavaScript = "javascript"
)

// The bounds of a pipeline.
const (
	maxPipelineSteps   = 10
	maxPipelineSource  = 20_000 // code points
	maxPipelineName    = 100    // code points
	maxPipelineTimeout = 60     // seconds
	pipelineTimeout    = 10     // seconds
)

// PipelineStep is a step of the customer at one place of the pipeline of a project. It has
// either Webhook or Code.
type PipelineStep struct {
	Name     string           `json:"name,omitempty" maxLength:"100" doc:"The name of the step in timelines. Default: its place and number"`
	At       string           `json:"at" enum:"extracted,before_embedding,before_prompt,after_answer" doc:"extracted: a document was read. before_embedding: its chunks are cut. before_prompt: a question has its passages. after_answer: the model has answered (docs/pipeline.md)"`
	Webhook  *PipelineWebhook `json:"webhook,omitempty" doc:"The address that does the step. A step has either webhook or code"`
	Code     *PipelineCode    `json:"code,omitempty" doc:"The code that does the step, in the sandbox"`
	Timeout  int              `json:"timeout,omitempty" minimum:"1" maximum:"60" doc:"The largest number of seconds of one attempt. Default: 10"`
	Required bool             `json:"required,omitempty" doc:"The document or the question fails if the step fails. Default: it continues without the step"`
}

// PipelineWebhook is an address that does a step.
type PipelineWebhook struct {
	URL string `json:"url" minLength:"1" maxLength:"2000" doc:"http or https. It is sent JSON, signed with the project's callbackSecret, and answers with JSON"`
}

// PipelineCode is code that does a step.
type PipelineCode struct {
	Language string `json:"language" enum:"python,javascript"`
	Source   string `json:"source" minLength:"1" maxLength:"20000" doc:"A program that reads JSON from its standard input and writes JSON to its standard output"`
}

// Version returns the hash of what the step does. Its name and what happens when it fails do
// not count.
func (s PipelineStep) Version() string {
	encoded, err := json.Marshal(PipelineStep{At: s.At, Webhook: s.Webhook, Code: s.Code})
	if err != nil {
		panic(err) // strings always marshal
	}
	hash := sha256.Sum256(encoded)
	return hex.EncodeToString(hash[:6])
}

// Limit returns the time of one attempt.
func (s PipelineStep) Limit() time.Duration {
	if s.Timeout == 0 {
		return pipelineTimeout * time.Second
	}
	return time.Duration(s.Timeout) * time.Second
}

// Pipeline are the steps of a project, in their order.
type Pipeline []PipelineStep

// At returns the steps at a place.
func (p Pipeline) At(place string) Pipeline {
	var steps Pipeline
	for _, s := range p {
		if s.At == place {
			steps = append(steps, s)
		}
	}
	return steps
}

// OfVersion returns the version of the steps that documents go through, "" for none. A
// document that was made with another one is outdated.
func (p Pipeline) OfVersion() string {
	var versions []string
	for _, s := range append(p.At(PipelineExtracted), p.At(PipelineBeforeEmbedding)...) {
		versions = append(versions, s.Version())
	}
	return strings.Join(versions, ",")
}

// Fields returns what is wrong with the pipeline, as found at location. privacy is that of
// the project, and checkURL refuses an address that no webhook may have.
func (p Pipeline) Fields(location string, privacy PrivacyConfig, checkURL func(string) error) []Field {
	if len(p) > maxPipelineSteps {
		return []Field{{location, fmt.Sprintf("must be at most %d steps", maxPipelineSteps)}}
	}
	var wrong []Field
	for i, s := range p {
		wrong = append(wrong, s.Fields(fmt.Sprintf("%s[%d]", location, i), privacy, checkURL)...)
	}
	return wrong
}

// Fields returns what is wrong with the step, as found at at. The others are as in Pipeline.Fields.
func (s PipelineStep) Fields(at string, privacy PrivacyConfig, checkURL func(string) error) (wrong []Field) {
	if !slices.Contains(PipelinePlaces(), s.At) {
		wrong = append(wrong, Field{at + ".at", "must be one of " + strings.Join(PipelinePlaces(), ", ")})
	}
	if utf8.RuneCountInString(s.Name) > maxPipelineName {
		wrong = append(wrong, Field{at + ".name", fmt.Sprintf("must be at most %d characters", maxPipelineName)})
	}
	if s.Timeout < 0 || s.Timeout > maxPipelineTimeout {
		wrong = append(wrong, Field{at + ".timeout", fmt.Sprintf("must be from 1 to %d seconds", maxPipelineTimeout)})
	}
	switch {
	case (s.Webhook == nil) == (s.Code == nil):
		wrong = append(wrong, Field{at, "must have either webhook or code"})
	case s.Webhook != nil && privacy.RedactsForProviders():
		wrong = append(wrong, Field{at + ".webhook", "must not be with privacy.providers: redact: the address would get personal data that no provider gets; do the step in code, which runs in the sandbox"})
	case s.Webhook != nil:
		if err := checkURL(s.Webhook.URL); err != nil {
			wrong = append(wrong, Field{at + ".webhook.url", AsError(err).Message})
		}
	case s.Code.Language != PipelinePython && s.Code.Language != PipelineJavaScript:
		wrong = append(wrong, Field{at + ".code.language", "must be python or javascript"})
	case strings.TrimSpace(s.Code.Source) == "" || utf8.RuneCountInString(s.Code.Source) > maxPipelineSource:
		wrong = append(wrong, Field{at + ".code.source", fmt.Sprintf("must be a program of at most %d characters", maxPipelineSource)})
	}
	return wrong
}

// StepRun is what became of a step of a pipeline for one document or question.
type StepRun struct {
	Name     string    `json:"name"`
	At       string    `json:"at"`
	Version  string    `json:"version"` // hash of what the step does
	Status   RunStatus `json:"status"`  // completed, failed or rejected
	Changed  bool      `json:"changed,omitempty"`
	Required bool      `json:"required,omitempty"`
	Seconds  float64   `json:"seconds"`
	Message  string    `json:"message,omitempty"` // why it failed or refused
}

// StepRejected is the status of a step that refused a document or an answer.
const StepRejected RunStatus = "rejected"
