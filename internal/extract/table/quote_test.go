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
		{"a backslash before a delimiter", "id,text,n\n1,Smith\\, John,4\n2,a\\\\b,5\n3,\\N,6\n", "| id | text | n |\n| --- | --- | --- |\n| 1 | Smith, John | 4 |\n| 2 | a\\b | 5 |\n| 3 |  | 6 |"},
		{"a backslash before a tab and a line end", "id\ttext\n1\tone\\\ttwo\n2\tfirst\\\nsecond\n", "| id | text |\n| --- | --- |\n| 1 | one two |\n| 2 | first second |"},
		{"folders before a delimiter are no escapes", "folder,size\nC:\\dir\\,4\nD:\\x\\,5\n", "| folder | size |\n| --- | --- |\n| C:\\dir\\ | 4 |\n| D:\\x\\ | 5 |"},
		{"spaces before quotes", "id, text, n\n1, \"a, b\", 2\n2, \"c, \"\"d\"\"\", 3\n", "| id | text | n |\n| --- | --- | --- |\n| 1 | a, b | 2 |\n| 2 | c, \"d\" | 3 |"},
		{"spaces within quotes stay", "id,text\n1,\"x, \"\"y\"\", z\"\n2,\"a; \"\"b\"\"\"\n", "| id | text |\n| --- | --- |\n| 1 | x, \"y\", z |\n| 2 | a; \"b\" |"},
		{"a quote without an end", "id,text\n1,\"open quote\n2,b\n3,c\n", "| id | text |\n| --- | --- |\n| 1 | open quote |\n| 2 | b |\n| 3 | c |"},
		{"a quote without an end below others", "id;text\n1;\"a; b\nc\"\n2;\"c\n3;d\n", "| id | text |\n| --- | --- |\n| 1 | a; b c |\n| 2 | c |\n| 3 | d |"},
		{"texts as formulas", "part,zip\nA,=\"01067\"\nB,=\"00123\"\nC,=B2\n", "| part | zip |\n| --- | --- |\n| A | 01067 |\n| B | 00123 |\n| C | =B2 |"},
		{"names and values", "Pressure;42 bar\nSpeed;1500 rpm\nWeight;12 kg\n", "| Pressure | 42 bar |\n| Speed | 1500 rpm |\n| Weight | 12 kg |"},
		{"a unit above numbers", "Plan;5 users\nPrice;10\nFee;12\n", "| Plan | 5 users |\n| --- | --- |\n| Price | 10 |\n| Fee | 12 |"},
		{"inches", "part,size\nA1,3/4\"\nB2,1/2\"\nC3,1\"\n", "| part | size |\n| --- | --- |\n| A1 | 3/4\" |\n| B2 | 1/2\" |\n| C3 | 1\" |"},
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
