// Package activitytest runs activities in tests: on the embedded store, index and blobs,
// with a stand-in model server.
package activitytest
