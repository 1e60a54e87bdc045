package store

import (
	"context"
	"reflect"
	"strings"
)

// table is a table as the rows of type T see it, with the statements that need
// nothing but its columns. T names them in the tags of package bun.
type table[T any] struct {
	columns []string // "d.id", …
	fields  [][]int  // of T, in the order of columns

	selects string // SELECT …all columns… FROM …
	inserts string // INSERT INTO … with all columns
	updates string // UPDATE … of all columns by the primary key, which follows them
	keys    []int  // places in columns
}

// The tables of the statements that are prepared once.
var (
	auditTable            = tableOf[auditRow]()
	chunkTable            = tableOf[chunkRow]()
	consentTable          = tableOf[consentRow]()
	conversationTable     = tableOf[conversationRow]()
	deliveryTable         = tableOf[deliveryRow]()
	documentTable         = tableOf[documentRow]()
	evaluatedTable        = tableOf[evaluatedRow]()
	evaluationTable       = tableOf[evaluationRow]()
	grantTable            = tableOf[grantRow]()
	holdTable             = tableOf[holdRow]()
	keyTable              = tableOf[keyRow]()
	memberTable           = tableOf[memberRow]()
	messageTable          = tableOf[messageRow]()
	projectTable          = tableOf[projectRow]()
	provisionedGroupTable = tableOf[provisionedGroupRow]()
	provisionedUserTable  = tableOf[provisionedUserRow]()
	publicationTable      = tableOf[publicationRow]()
	roleTable             = tableOf[roleRow]()
	runTable              = tableOf[runRow]()
	secretTable           = tableOf[secretRow]()
	sessionTable          = tableOf[sessionRow]()
	shareTable            = tableOf[shareRow]()
	signInTable           = tableOf[signInRow]()
	testSetTable          = tableOf[testSetRow]()
	testSetVersionTable   = tableOf[testSetVersionRow]()
	versionTable          = tableOf[versionRow]()
)

func tableOf[T any]() *table[T] {
	t := &table[T]{}
	var name, alias string
	var plain, sets, where []string
	for _, f := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		column, options, _ := strings.Cut(f.Tag.Get("bun"), ",")
		if after, ok := strings.CutPrefix(column, "table:"); ok {
			name, alias = after, strings.TrimPrefix(options, "alias:")
		}
		if column == "" || f.Anonymous || strings.Contains(options, "scanonly") {
			continue
		}
		if strings.Contains(options, "pk") {
			t.keys, where = append(t.keys, len(plain)), append(where, column+" = ?")
		}
		t.columns, t.fields = append(t.columns, alias+"."+column), append(t.fields, f.Index)
		plain, sets = append(plain, column), append(sets, column+" = ?")
	}
	marks := strings.Repeat(", ?", len(plain))[2:]
	t.selects = "SELECT " + t.list() + " FROM " + name + " AS " + alias
	t.inserts = "INSERT INTO " + name + " (" + strings.Join(plain, ", ") + ") VALUES (" + marks + ")"
	t.updates = "UPDATE " + name + " SET " + strings.Join(sets, ", ") + " WHERE " + strings.Join(where, " AND ")
	return t
}

// list are the columns, as a query selects them.
func (t *table[T]) list() string { return strings.Join(t.columns, ", ") }

// targets are where the columns of a row go.
func (t *table[T]) targets(row *T) []any {
	v := reflect.ValueOf(row).Elem()
	list := make([]any, len(t.fields), len(t.fields)+4)
	for i, index := range t.fields {
		list[i] = v.FieldByIndex(index).Addr().Interface()
	}
	return list
}

// values are the columns of a row.
func (t *table[T]) values(row *T) []any {
	v := reflect.ValueOf(row).Elem()
	list := make([]any, len(t.fields), len(t.fields)+len(t.keys))
	for i, index := range t.fields {
		list[i] = v.FieldByIndex(index).Interface()
	}
	return list
}

func (t *table[T]) insert(ctx context.Context, tx transaction, row *T) error {
	_, err := tx.exec(ctx, t.inserts, t.values(row)...)
	return err
}

// update writes all columns of a row, by its primary key.
func (t *table[T]) update(ctx context.Context, tx transaction, row *T) error {
	values := t.values(row)
	for _, key := range t.keys {
		values = append(values, values[key])
	}
	_, err := tx.exec(ctx, t.updates, values...)
	return err
}

// first reads the first row that a condition leaves, which may bring an order. It
// reports whether there is one.
func (t *table[T]) first(ctx context.Context, db querier, row *T, where string, args ...any) (bool, error) {
	return first(ctx, db, t.targets(row), t.selects+" WHERE "+where, args...)
}

// all reads the rows that a condition leaves, which may bring an order.
func (t *table[T]) all(ctx context.Context, db querier, where string, args ...any) ([]T, error) {
	found, err := db.query(ctx, t.selects+" WHERE "+where, args...)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	var list []T
	for found.Next() {
		list = append(list, *new(T))
		if err := found.Scan(t.targets(&list[len(list)-1])...); err != nil {
			return nil, err
		}
	}
	return list, found.Err()
}
