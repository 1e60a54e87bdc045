package knowledge

import (
	"fmt"
	"strings"
	"time"
)

// MaxSubjects bounds the people whom a document names as its subjects.
const MaxSubjects = 64

// Consent is the agreement of a person to be named in documents, for a purpose.
type Consent struct {
	ID          string
	Subject     string // the person, as documents name it in their subjects
	Purpose     string
	Evidence    string // where the agreement is kept, such as the id of a signed form
	CreatedBy   string // as the owner of a run
	CreatedAt   time.Time
	WithdrawnBy string    // "" = nobody
	WithdrawnAt time.Time // zero = it holds
}

// HeldDocument is a document that a legal hold kept from removal.
type HeldDocument struct {
	Document string `json:"document_id"`
	Holds    string `json:"holds" doc:"The names and ids of the holds; at most three"`
}

// SubjectFields returns what is wrong with the subjects of a document, as found at location.
func SubjectFields(location string, subjects []string) []Field {
	if len(subjects) > MaxSubjects {
		return []Field{{location, fmt.Sprintf("must have at most %d people", MaxSubjects)}}
	}
	var wrong []Field
	for i, subject := range subjects {
		wrong = append(wrong, UserFields(fmt.Sprintf("%s[%d]", location, i), subject)...)
	}
	return wrong
}

// ConsentMissing is the error of a document about people whose consent its project requires
// and nobody has recorded.
func ConsentMissing(people []string) *Error {
	return Errorf(CodeConsentMissing, "there is no consent of %s, which the project requires: record it (consents) and retry the document", strings.Join(people, ", "))
}
