package api

// CleanName lets the fuzz test reach cleanName.
var CleanName = cleanName

// Caller lets tests look into the store for what a caller's key left there.
var Caller = caller

// BodyError lets a test ask it for errors that take long to happen.
var BodyError = bodyError
