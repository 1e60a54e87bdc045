// Package azure lists and reads containers of Azure Blob Storage. It writes
// nothing.
package azure
