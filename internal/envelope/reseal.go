package envelope

import "time"

// Reseal is how far the blobs of an instance are encrypted with its newest data key.
type Reseal struct {
	DataKey   string // the newest data key when it began
	Seen      int64  // blobs that were looked at
	Sealed    int64  // of these, encrypted anew
	Upto      string // the last key of a bucket that was done
	BeganAt   time.Time
	UpdatedAt time.Time
	EndedAt   time.Time // zero = it has not ended
}
