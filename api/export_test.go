package api

// CleanName lets the fuzz test reach cleanName.
var CleanName = cleanName

// Caller lets tests look into the store for what a caller's key left there.
var Caller = caller
