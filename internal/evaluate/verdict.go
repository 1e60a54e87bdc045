package evaluate

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// longestReason bounds a reason that is kept, in code points.
const longestReason = 500

// Take reads the reply of the judging model to one of the requests of a case. A reply that has
// no verdict in it, or one out of range, becomes a Failure.
func (j *Judgement) Take(c Case, part Part, reply string) {
	var err error
	switch part {
	case PartScore:
		j.Score, j.Reason, err = readGrade(reply)
	case PartContext:
		j.Context, j.ContextReason, err = readGrade(reply)
	case PartFaithfulness:
		j.Sentences, err = readSupport(reply, judgedSentences(c))
		j.Faithfulness = faithfulness(j.Sentences)
	default:
		err = fmt.Errorf("there is no part %q", part)
	}
	if err != nil {
		j.Fail(part, err.Error())
	}
}

// Fail notes that a part could not be judged, for example because the model refused.
func (j *Judgement) Fail(part Part, reason string) {
	j.Failures = append(j.Failures, Failure{part, clip(reason, longestReason)})
}

// readGrade reads {"reason": "…", "grade": 0, 1 or 2}.
func readGrade(reply string) (score *float64, reason string, err error) {
	var read struct {
		Reason string          `json:"reason"`
		Grade  json.RawMessage `json:"grade"`
	}
	if err := readObject(reply, "grade", &read); err != nil {
		return nil, "", err
	}
	grade, err := strconv.ParseFloat(strings.Trim(string(read.Grade), `" `), 64)
	if err != nil || grade != math.Trunc(grade) || grade < 0 || grade > 2 {
		return nil, "", fmt.Errorf("the grade is %s, not 0, 1 or 2", clip(string(read.Grade), 40))
	}
	stored, _ := StoredScore(int(grade))
	return &stored, clip(strings.TrimSpace(read.Reason), longestReason), nil
}

// readSupport reads the verdicts on some sentences. Each needs exactly one.
func readSupport(reply string, sentences []said) ([]Sentence, error) {
	var read struct {
		Sentences []struct {
			Number  int    `json:"number"`
			Verdict string `json:"verdict"`
			Reason  string `json:"reason"`
		} `json:"sentences"`
	}
	if err := readObject(reply, "sentences", &read); err != nil {
		return nil, err
	}
	out := make([]Sentence, len(sentences))
	for _, v := range read.Sentences {
		support := Support(strings.ToLower(strings.TrimSpace(v.Verdict)))
		switch {
		case v.Number < 1 || v.Number > len(sentences):
			return nil, fmt.Errorf("there is no sentence %d", v.Number)
		case !slices.Contains([]Support{Supported, Contradicted, NotFound}, support):
			return nil, fmt.Errorf("sentence %d has the verdict %q", v.Number, clip(v.Verdict, 40))
		case out[v.Number-1].Support != "":
			return nil, fmt.Errorf("sentence %d has two verdicts", v.Number)
		}
		s := sentences[v.Number-1]
		out[v.Number-1] = Sentence{Text: s.text, Chunks: s.cites, Support: support, Reason: clip(strings.TrimSpace(v.Reason), longestReason)}
	}
	for i, s := range out {
		if s.Support == "" {
			return nil, fmt.Errorf("sentence %d has no verdict", i+1)
		}
	}
	return out, nil
}

// readObject reads the JSON object of a reply that has a field: the reply as it is, in a fence of
// Markdown, or with prose around it. Of several, the last one counts, because a model that
// thinks aloud ends with its verdict.
func readObject(reply, field string, into any) error {
	for at := strings.LastIndexByte(reply, '{'); at >= 0; at = strings.LastIndexByte(reply[:at], '{') {
		decoder := json.NewDecoder(strings.NewReader(reply[at:]))
		var fields map[string]json.RawMessage
		if decoder.Decode(&fields) != nil || fields[field] == nil {
			continue
		}
		object, err := json.Marshal(fields)
		if err != nil {
			continue
		}
		if err := json.Unmarshal(object, into); err != nil {
			return fmt.Errorf("the reply has fields of another kind: %w", err)
		}
		return nil
	}
	return fmt.Errorf("the reply has no JSON object with %q", field)
}

// ReadScores reads the answer of a program that judges in place of a model:
// {"score": 0|1|1.5|2, "context": 0|1|1.5|2, "faithfulness": 0…1, "reason": "…"}. Missing fields
// are not judged; a field out of range becomes a Failure. It returns an error for what is no
// JSON object.
func ReadScores(body []byte) (Judgement, error) {
	var read map[string]json.RawMessage
	if err := json.Unmarshal(body, &read); err != nil {
		return Judgement{}, fmt.Errorf("read the scores: %w", err)
	}
	if read == nil {
		return Judgement{}, errors.New("read the scores: null is no object")
	}
	var j Judgement
	j.Score = j.taken(PartScore, read["score"], scoreOf)
	j.Context = j.taken(PartContext, read["context"], scoreOf)
	j.Faithfulness = j.taken(PartFaithfulness, read["faithfulness"], func(x float64) (float64, bool) { return x, x >= 0 && x <= 1 })
	for name, reason := range map[string]*string{"reason": &j.Reason, "context_reason": &j.ContextReason} {
		if json.Unmarshal(read[name], reason) == nil { // a reason of another kind is left out
			*reason = clip(*reason, longestReason)
		}
	}
	return j, nil
}

// taken returns the value of a field, nil if it is missing or null, and notes a failure if it is out
// of range.
func (j *Judgement) taken(part Part, field json.RawMessage, check func(float64) (float64, bool)) *float64 {
	if field == nil || string(field) == "null" {
		return nil
	}
	var value float64
	if err := json.Unmarshal(field, &value); err != nil {
		j.Fail(part, fmt.Sprintf("%s is no number", clip(string(field), 40)))
		return nil
	}
	value, ok := check(value)
	if !ok {
		j.Fail(part, fmt.Sprintf("%s is out of range", clip(string(field), 40)))
		return nil
	}
	return &value
}

// scoreOf returns the stored score of a grade, or of a score as it is stored.
func scoreOf(value float64) (float64, bool) {
	if value == ScorePartial {
		return value, true
	}
	if value != math.Trunc(value) || value < 0 || value > 2 {
		return 0, false
	}
	return StoredScore(int(value))
}
