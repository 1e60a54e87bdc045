package audit

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// fileLine is a line of an exported audit: an entry, or a checkpoint behind the entries.
type fileLine struct {
	Entry
	Checkpoint *Checkpoint `json:"checkpoint"`
}

// maxLine bounds a line of an exported audit, in bytes.
const maxLine = 16 << 20

// VerifyFile checks an exported audit: a line for each entry, and behind them lines with the
// checkpoints. publicKey must have signed the checkpoints, in the file and beside it.
func VerifyFile(entries io.Reader, publicKey string, beside []Checkpoint) (Report, error) {
	var list []Entry
	checkpoints := append([]Checkpoint(nil), beside...)
	scanner := bufio.NewScanner(entries)
	scanner.Buffer(nil, maxLine)
	for n := 1; scanner.Scan(); n++ {
		var l fileLine
		if err := json.Unmarshal(scanner.Bytes(), &l); err != nil {
			return Report{}, fmt.Errorf("line %d is no entry of an audit: %w", n, err)
		}
		if l.Checkpoint != nil {
			checkpoints = append(checkpoints, *l.Checkpoint)
			continue
		}
		list = append(list, l.Entry)
	}
	if err := scanner.Err(); err != nil {
		return Report{}, err
	}
	start := Start{}
	for _, c := range checkpoints {
		if start.Workspace != "" && c.Workspace != start.Workspace {
			return Report{}, errors.New("the checkpoints are of several workspaces")
		}
		start.Workspace = c.Workspace
	}
	start.Part = len(list) > 0 && list[0].Seq > 1 && !startsAtCut(list[0], checkpoints)
	v := NewVerifier(start, publicKey, checkpoints)
	for _, e := range list {
		if !v.Next(e) {
			break
		}
	}
	return v.Report(), nil
}

// startsAtCut reports whether an entry follows what the retention removed.
func startsAtCut(e Entry, checkpoints []Checkpoint) bool {
	for _, c := range checkpoints {
		if c.Kind == KindCut && c.Seq+1 == e.Seq {
			return true
		}
	}
	return false
}
