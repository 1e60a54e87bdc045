// Package e2e_test tests the built binary from outside: through its command
// line, its HTTP interface and Temporal's own client, with a stand-in for the
// model's endpoint, and with SIGKILL at bad moments. It imports nothing that
// runs inside the server, so that it sees what a user sees.
//
// Every test starts servers of its own (server_test.go), at most two at a time.
// CAIRN_TEST_BINARY names a binary to test; otherwise one is built. go test
// -short skips all of them.
package e2e_test
