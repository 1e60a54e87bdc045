// Package prompt builds what a chat model is given: the system message with
// the passages that were found, the conversation so far, and the results of
// tools. Passages are data: they are fenced, and nothing in them can close the
// fence.
package prompt
