package api

import (
	"io"
	"net/http"
)

// CleanName lets the fuzz test reach cleanName.
var CleanName = cleanName

// Caller lets tests look into the store for what a caller's key left there.
var Caller = caller

// BodyError lets a test ask it for errors that take long to happen.
var BodyError = bodyError

// Steady lets a test look at the deadlines that are set while a body comes.
func Steady(w http.ResponseWriter, r *http.Request, limit int64) io.Reader {
	return newSteady(w, r, limit)
}
