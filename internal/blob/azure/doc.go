// Package azure keeps the blobs of a store in a container of Azure Blob Storage.
package azure
