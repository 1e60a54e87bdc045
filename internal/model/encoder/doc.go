// Package encoder turns texts into vectors with a sentence encoder such as
// multilingual-e5-small: a SentencePiece tokenizer and a BERT encoder whose weights have four
// bits. Open reads the weights from one file, Embed makes the vectors, and Handler serves them
// in the OpenAI protocol.
//
// The products of matrices are sums of integers: the weights have four bits, and each input is
// rounded to eight. On amd64 with AVX2 a program that was built with GOEXPERIMENT=simd computes
// them with vector instructions; every other program computes the same sums one by one.
//
// The package does not fetch weights; that is package library's.
package encoder
