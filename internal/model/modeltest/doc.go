// Package modeltest is for tests and benches: a stand-in model server that
// counts every request by what was asked and does what a script says (fails,
// hangs, sends garbage, stops in mid stream, calls tools), and the contract that
// every endpoint must keep when it is called through a model.Client.
//
// The server belongs to the test's process and survives the program under test,
// which may be killed and started again. No program imports this package.
package modeltest
