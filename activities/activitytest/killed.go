package activitytest

import "errors"

// ErrKilled stands for the death of the process.
var ErrKilled = errors.New("killed here")

// Dies calls f, unless it is nil.
func Dies(f func() error) error {
	if f == nil {
		return nil
	}
	return f()
}
