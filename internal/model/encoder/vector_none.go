//go:build !(goexperiment.simd && amd64 && go1.26 && !go1.27)

package encoder

// vectors returns false: this build has no vector instructions, and calls none of the functions below.
func vectors() bool { return false }

func multiplyVector(m *matrix, g int, in *inputs, row int, out []float32) {
	multiplyPortable(m, g, in, row, out)
}

func roundBlockVector(x []float32, values []int32) (scale float32, sum int32) {
	return roundBlock(x, values)
}

func activateVector([]float32) {}

func attendVector(query, turned, scores []float32, rows int, values []float32, width int, mixed []float32) {
	attendPortable(query, turned, scores, rows, values, width, mixed)
}
