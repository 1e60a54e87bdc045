// Package advice has the words by which Cairn tells a person what to do about what went
// wrong: cairn doctor, the other commands and the console show the same ones. It does not
// find out what is wrong.
package advice
