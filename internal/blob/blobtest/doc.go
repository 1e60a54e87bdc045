// Package blobtest is the contract that every blob store keeps, as tests.
package blobtest
