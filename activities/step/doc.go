// Package step holds what the activities of all packages share: the decision what is
// worth a retry (errors.go), heartbeats, the end of a run, results that are made once,
// and the ports that several packages use. It is no place for an activity.
package step
