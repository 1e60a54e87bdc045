package api

// CleanName lets the fuzz test reach cleanName.
var CleanName = cleanName
