package evaluate

import (
	"strings"
)

// Drop is why a question that a model wrote is not kept.
type Drop string

// The reasons for which questions are not kept.
const (
	DropGone       Drop = "gone"        // its passages are no longer there, or not for the reader
	DropRefused    Drop = "refused"     // the model refused a request
	DropUnreadable Drop = "unreadable"  // the model's reply has no question in it
	DropUngrounded Drop = "ungrounded"  // the passages have neither its quotation nor its answer
	DropKnown      Drop = "known"       // it is answered rightly without a passage
	DropNotFound   Drop = "not_found"   // a search by the question does not find its passages
	DropDisagrees  Drop = "disagrees"   // the answer from its passages is another one
	DropOnePassage Drop = "one_passage" // one passage of several answers it alone
	DropAnswerable Drop = "answerable"  // what a search finds answers it, though nothing should
	DropDuplicate  Drop = "duplicate"   // another question asks nearly the same
)

// PartAnswer is the part of a Request that answers a question.
const PartAnswer Part = "answer"

// unknown is the reply of a model that has no answer.
const unknown = "UNKNOWN"

// AnswerRequest returns what a model is asked to answer a question from passages, and without any
// from what it knows.
func AnswerRequest(question string, passages []Passage) Request {
	if len(passages) == 0 {
		return Request{PartAnswer, promptOf("answer_closed"), tagged("question", question)}
	}
	return Request{PartAnswer, promptOf("answer_open"), numbered(passages) + tagged("question", question)}
}

// ReadAnswer returns the reply to an AnswerRequest. ok is false if the model has no answer.
func ReadAnswer(question, reply string) (answer string, ok bool) {
	answer = strings.TrimSpace(reply)
	word := strings.ToUpper(strings.Trim(answer, " .!*_\"'`"))
	if answer == "" || word == unknown || isRefusal(question, answer) {
		return "", false
	}
	return answer, true
}

// ScoreRequest returns what a model is asked to compare an answer with the reference of an item.
// needed is false if words and numbers alone show that the answer is right.
func ScoreRequest(item Item, answer string) (r Request, needed bool) {
	c := Case{Item: item, Answer: answer}
	if j := Judge(c); j.Score != nil && *j.Score == ScoreRight {
		return r, false
	}
	for _, r := range Requests(c) {
		if r.Part == PartScore {
			return r, true
		}
	}
	return r, false
}
