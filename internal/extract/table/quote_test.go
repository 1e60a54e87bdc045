package table_test

import (
	"testing"

	"github.com/cairn-rag/cairn/internal/extract/table"
	"github.com/google/go-cmp/cmp"
)

func TestQuotesOfOtherPrograms(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ behaviour, in, want string }{
		{"a backslash before a quote", "id,text\n1,\"He said \\\"hi\\\", then left\"\n2,\"plain\"\n", "| id | text |\n| --- | --- |\n| 1 | He said \"hi\", then left |\n| 2 | plain |"},
		{"a backslash before a quote at the end of a field", "id;text;more\n1;\"a \\\"b; c\\\"\";x\n", "| id | text | more |\n| --- | --- | --- |\n| 1 | a \"b; c\" | x |"},
		{"a backslash before a backslash", "id,text\n1,\"a \\\"b\\\" C:\\\\dir\\\\\"\n2,\"x\"\n", "| id | text |\n| --- | --- |\n| 1 | a \"b\" C:\\dir\\ |\n| 2 | x |"},
		{"folders that end in a backslash are no escapes", "id,folder\n1,\"C:\\dir\\\"\n2,\"D:\\x, y\\\"\n", "| id | folder |\n| --- | --- |\n| 1 | C:\\dir\\ |\n| 2 | D:\\x, y\\ |"},
		{"quotes written twice", "id,text\n1,\"He said \"\"hi\"\", then left\"\n", "| id | text |\n| --- | --- |\n| 1 | He said \"hi\", then left |"},
		{"apostrophes around fields", "id,name,remark\n1,'Smith, John','ok'\n2,'Doe, Jane','late'\n", "| id | name | remark |\n| --- | --- | --- |\n| 1 | Smith, John | ok |\n| 2 | Doe, Jane | late |"},
		{"apostrophes around all fields, with some inside", "'id';'name'\n'1';'O''Neill; Ann'\n'2';'D\\'Arcy'\n'3';'a \"b\"'\n", "| id | name |\n| --- | --- |\n| 1 | O'Neill; Ann |\n| 2 | D'Arcy |\n| 3 | a \"b\" |"},
		{"apostrophes of words", "id,text\n1,'twas the night\n2,rock 'n' roll\n3,'90s\n", "| id | text |\n| --- | --- |\n| 1 | 'twas the night |\n| 2 | rock 'n' roll |\n| 3 | '90s |"},
		{"a line end within apostrophes", "id\tname\n1\t'Ann\nLee'\n2\t'Bob'\n", "| id | name |\n| --- | --- |\n| 1 | Ann Lee |\n| 2 | Bob |"},
	} {
		t.Run(tc.behaviour, func(t *testing.T) {
			t.Parallel()
			blocks := table.Read(tc.in, 0)
			if diff := cmp.Diff(tc.want, blocks[0].Text); diff != "" || len(blocks) != 1 {
				t.Error(diff)
			}
		})
	}
}
