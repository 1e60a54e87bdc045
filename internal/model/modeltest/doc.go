// Package modeltest is for tests and benchmarks. It has a stand-in model
// server, which counts identical requests and follows a script (fail, hang,
// send garbage, stop in mid stream, call tools), and the contract that every
// endpoint must keep when it is called through a model.Client.
//
// The server runs in the test's process, so it survives the program under test,
// which may be killed and restarted. No program imports this package.
package modeltest
