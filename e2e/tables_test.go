package e2e_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"

	"github.com/cairn-rag/cairn/internal/model"
	"github.com/cairn-rag/cairn/internal/model/modeltest"
)

// salesFile returns a CSV file of so many sales, and the sums of 2023 by region in units.
func salesFile(rows int) (content []byte, sums map[string]string) {
	cents := map[string]int64{}
	var b bytes.Buffer
	b.WriteString("Date,Region,Product,Amount\n")
	regions := []string{"North", "South", "East"}
	for i := range rows {
		year, region, amount := 2021+i%4, regions[i%3], int64(i*7919%1_000_000)
		if year == 2023 {
			cents[region] += amount
		}
		fmt.Fprintf(&b, "%d-%02d-%02d,%s,Product %d,%s\n", year, 1+i%12, 1+i%28, region, i%50, big.NewRat(amount, 100).FloatString(2))
	}
	sums = map[string]string{}
	for region, sum := range cents {
		sums[region] = strings.TrimSuffix(strings.TrimRight(big.NewRat(sum, 100).FloatString(2), "0"), ".")
	}
	return b.Bytes(), sums
}

// TestTables kills the server in the middle of the ingestion of 100,000 rows. Afterwards a model
// sums them, and its answer cites the lines of the file.
func TestTables(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL())...)
	s.makesTables(t)
	content, sums := salesFile(100_000)
	d := s.sendFile(t, "sales.csv", content)
	await(t, time.Minute, "the tables are being made", func(context.Context) error {
		found, err := filepath.Glob(filepath.Join(s.folder, "tmp", "cairn-tables-*"))
		if err != nil || len(found) == 0 {
			return errors.Join(err, errors.New("there is no folder for tables"))
		}
		return nil
	})
	s.kill()
	s.restart()
	if _, err := s.Wait(t.Context(), d.RunID, nil); err != nil {
		t.Fatal(err)
	}
	sql := "SELECT region, sum(amount) AS total, min(_row) AS first_row, max(_row) AS last_row FROM sales WHERE date LIKE '2023%' GROUP BY region"
	told, answer := s.asksTable(t, m, "sales.csv", sql)
	for region, sum := range sums {
		if !strings.Contains(told, "| "+region+" | "+sum+" | ") {
			t.Errorf("the model is not told %s of %s: %s", sum, region, told)
		}
	}
	if len(answer.Sources) != 1 || answer.Sources[0].DocumentName != "sales.csv" || !answer.Sources[0].UsedInResponse || answer.Sources[0].Lines != [2]int{4, 100_000} {
		t.Errorf("the sources are %+v", answer.Sources)
	}
}

type tableAnswer struct {
	Answer    string
	ToolCalls []struct{ Name, Status string }
	Sources   []struct {
		DocumentName, Place string
		Lines               [2]int
		UsedInResponse      bool
	}
}

// makesTables switches tables on. Nothing is searched before the model asks.
func (s *server) makesTables(t *testing.T) {
	t.Helper()
	if status := s.call(t, "PATCH", "/workspaces/default/projects/default", map[string]any{"ai": map[string]any{"tables": true, "prompt": "Answer from the tables."}}, nil); status != http.StatusOK {
		t.Fatalf("the project is refused: status %d", status)
	}
}

// asksTable has the model run a query. It returns what the model reads of it, and the answer.
func (s *server) asksTable(t *testing.T, m *modeltest.Server, document, sql string) (told string, answer tableAnswer) {
	t.Helper()
	arguments := fmt.Sprintf(`{"document":%q,"sql":%q}`, document, sql)
	m.ScriptChat(modeltest.Call(model.ToolCall{ID: "sum", Name: "query_table", Arguments: arguments}), modeltest.Text("These are the sums [1]."))
	body := map[string]any{"text": "How much was sold in 2023 by region?", "projectId": "default"}
	if status := s.call(t, "POST", webhooks+"/query", body, &answer); status != http.StatusOK {
		t.Fatalf("status %d", status)
	}
	if len(answer.ToolCalls) != 1 || answer.ToolCalls[0].Status != "completed" {
		t.Fatalf("the answer has the calls %+v", answer.ToolCalls)
	}
	requests := m.Requests()
	for _, message := range requests[len(requests)-1].Messages {
		if message.ToolCallID == "sum" {
			told = string(message.Content)
		}
	}
	return told, answer
}

// TestTablesOfAWorkbook sums cents that the workbook shows rounded, and cites rows of the sheet.
func TestTablesOfAWorkbook(t *testing.T) {
	t.Parallel()
	m := standIn(t, modeltest.Options{})
	s := start(t, at(m.URL())...)
	s.makesTables(t)
	f := excelize.NewFile()
	whole := "#,##0"
	style, err := f.NewStyle(&excelize.Style{CustomNumFmt: &whole})
	err = errors.Join(err, f.SetSheetName("Sheet1", "Sales"), f.SetSheetRow("Sales", "A3", &[]any{"Region", "Amount"}), f.SetCellStyle("Sales", "B4", "B8", style))
	for i, amount := range []float64{1000.40, 2000.40, 3000.40, 4000.40, 5000.40} {
		err = errors.Join(err, f.SetSheetRow("Sales", fmt.Sprintf("A%d", 4+i), &[]any{"North", amount}))
	}
	var content bytes.Buffer
	if err := errors.Join(err, f.Write(&content), f.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Wait(t.Context(), s.sendFile(t, "sales.xlsx", content.Bytes()).RunID, nil); err != nil {
		t.Fatal(err)
	}
	told, answer := s.asksTable(t, m, "sales.xlsx", "SELECT sum(amount) FROM sales WHERE region = 'North'")
	if !strings.Contains(told, "15002") {
		t.Errorf("the model is told %s", told)
	}
	if len(answer.Sources) != 1 || answer.Sources[0].Place != "Sales!A4:B8" {
		t.Errorf("the sources are %+v", answer.Sources)
	}
}
