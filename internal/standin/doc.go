// Package standin starts the programs that stand in for the services of buckets in tests.
// .ci/stand-ins installs them.
package standin
