package record

import (
	"time"

	"github.com/cairn-rag/cairn/internal/knowledge"
)

// Step is an activity of a run's workflow, as the history of the workflow has it.
type Step struct {
	Name     string    // what it does, such as "model call 1"
	Activity string    // the name of the activity
	Began    time.Time // when the workflow asked for it
	Started  time.Time // when its last attempt began; zero = it waits
	Ended    time.Time // zero = it is under way
	Status   knowledge.RunStatus
	Attempts int
	Cause    knowledge.Code  // why its last failed attempt failed; "" = none failed
	Next     time.Time       // when a step that waits is attempted again; zero = it does not wait
	Usage    knowledge.Usage // of models, of a completed step
}
