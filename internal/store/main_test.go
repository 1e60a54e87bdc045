package store_test

import (
	"os"
	"testing"

	"github.com/cairn-rag/cairn/internal/store/postgrestest"
)

func TestMain(m *testing.M) { os.Exit(postgrestest.Main(m)) }
