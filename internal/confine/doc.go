// Package confine keeps programs that read untrusted bytes from the rest of the machine.
// A program runs in bubblewrap, in namespaces that hold the system's programs and
// libraries, read-only, and one folder, and nothing else: no other files, no processes,
// no network. Where the system refuses namespaces, a process can at least restrict itself
// with Landlock.
//
// Packages sandbox and browser have arguments of bubblewrap of their own, because code of
// a model and Chromium need other things than a parser.
package confine
