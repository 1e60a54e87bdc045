package knowledge

import (
	"slices"
	"strconv"
	"strings"
)

// maxDimensions is the greatest length of vectors that every index takes.
const maxDimensions = 8192

// Embeddings selects the model that embeds the documents and questions of a project.
type Embeddings struct {
	Model      string `json:"model,omitempty" maxLength:"200" doc:"A model of the endpoint of models.embedding. Default: the configured model"`
	Dimensions int    `json:"dimensions,omitempty" minimum:"1" maximum:"8192" doc:"Length of the vectors. Default: the setting of the instance for its model, or the default of the model"`
}

// Or completes a selection with the instance's model.
func (e Embeddings) Or(instance Embeddings) Embeddings {
	if e.Model == "" {
		e.Model = instance.Model
	}
	if e.Dimensions == 0 && e.Model == instance.Model {
		e.Dimensions = instance.Dimensions
	}
	return e
}

// Generation returns the name of the vectors of a model in its dimensions. Vectors of
// different generations are never compared.
func (e Embeddings) Generation() string { return e.Model + "/" + strconv.Itoa(e.Dimensions) }

// EmbeddingsOf returns the model and the dimensions that a generation is named after.
func EmbeddingsOf(generation string) Embeddings {
	at := strings.LastIndexByte(generation, '/')
	if at < 0 {
		return Embeddings{Model: generation}
	}
	dimensions, err := strconv.Atoi(generation[at+1:])
	if err != nil {
		return Embeddings{Model: generation}
	}
	return Embeddings{Model: generation[:at], Dimensions: dimensions}
}

// DescribeGeneration names the model of a generation for people, with its dimensions unless
// they are those that the model gives.
func DescribeGeneration(generation string) string {
	of := EmbeddingsOf(generation)
	if of.Dimensions == 0 {
		return of.Model
	}
	return of.Model + " (" + strconv.Itoa(of.Dimensions) + " dimensions)"
}

// revisionMark stands between the name of a model and the number of its revision. No
// provider has it in a name.
const revisionMark = " #"

// RevisedGeneration returns the n-th generation of a model in its dimensions, 1 = base. An
// endpoint whose vectors differ from the vectors of the endpoint before begins the next one.
func RevisedGeneration(base string, n int) string {
	if n <= 1 {
		return base
	}
	of := EmbeddingsOf(base)
	of.Model += revisionMark + strconv.Itoa(n)
	return of.Generation()
}

// BaseGeneration returns the first generation of the model and the dimensions of a
// generation. Endpoints know the model by the name in it.
func BaseGeneration(generation string) string {
	of := EmbeddingsOf(generation)
	at := strings.LastIndex(of.Model, revisionMark)
	if at < 0 {
		return generation
	}
	if n, err := strconv.Atoi(of.Model[at+len(revisionMark):]); err != nil || n < 2 {
		return generation
	}
	of.Model = of.Model[:at]
	return of.Generation()
}

// Fields returns what is wrong with the selection, as found at location.
func (e Embeddings) Fields(location string) []Field {
	var wrong []Field
	if e.Model != Visible(e.Model) || strings.TrimSpace(e.Model) != e.Model {
		wrong = append(wrong, Field{location + ".model", "is the name of an embedding model, without spaces around it"})
	}
	if e.Dimensions < 0 || e.Dimensions > maxDimensions {
		wrong = append(wrong, Field{location + ".dimensions", "must be between 0, for what the model gives, and " + strconv.Itoa(maxDimensions)})
	}
	return wrong
}

// Generations are the generations of a project's vectors.
type Generations struct {
	Serving string // searches read it
	Filling string // a reindex fills it beside the one that serves; "" = none
}

// In reports whether written has all generations that the project has now.
func (g Generations) In(written Generations) bool {
	for _, name := range g.Names() {
		if !slices.Contains(written.Names(), name) {
			return false
		}
	}
	return true
}

// Names returns the names of the generations that a version is written in.
func (g Generations) Names() []string {
	if g.Filling == "" || g.Filling == g.Serving {
		return []string{g.Serving}
	}
	return []string{g.Serving, g.Filling}
}
