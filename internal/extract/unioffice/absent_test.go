//go:build !unioffice

package unioffice_test

import (
	"strings"
	"testing"

	"github.com/cairn-rag/cairn/internal/extract/unioffice"
)

func TestABuildWithoutTheTagSaysHowToBuildWithIt(t *testing.T) {
	t.Parallel()
	if err := unioffice.SetLicense("any"); err == nil || !strings.Contains(err.Error(), "-tags unioffice") {
		t.Errorf("error %v", err)
	}
}
