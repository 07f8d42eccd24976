package answers

import (
	"slices"
	"strings"
	"testing"
)

// TestContent compares what is read of files, whole or only their beginning. No value is ever reported.
func TestContent(t *testing.T) {
	const sheet = `FILE lines/user
	text! text
	type! text
FILE health
	HealthData! object
	HealthData/Record! object
	HealthData/Record/unit! text
FILE list
	.! list
	[]! object
	[]/id! text
FILE table
	title! text
	date! text
`
	for _, c := range []struct {
		name, store string
		content     Content
		want        string
	}{
		{"a known line", "lines", Content{Body: []byte(`{"type":"user","text":"x"}`), Whole: true}, ""},
		{"a new member of a line", "lines", Content{Body: []byte(`{"type":"user","text":"x","more":1}`), Whole: true},
			"new_member FILE lines/user more"},
		{"a member less", "lines", Content{Body: []byte(`{"type":"user"}`), Whole: true},
			"absent_member FILE lines/user text"},
		{"a new kind of line", "lines", Content{Body: []byte(`{"type":"mara"}`), Whole: true},
			"new_member FILE lines type/?"},
		{"the beginning of a list", "list", Content{Name: "a.js", Body: []byte(`window.a = [{"id":"1","more":1},{"id":`)},
			"new_member FILE list []/more"},
		{"a list that is damaged", "list", Content{Name: "a.json", Body: []byte(`[{"id":"1","more":1},{"id":`), Whole: true},
			""},
		{"attributes", "health", Content{Name: "a.xml",
			Body: []byte(`<!DOCTYPE x [ <!broken ]><HealthData><Record unit="m" more="1"/><Rec`)},
			"new_member FILE health HealthData/Record/more"},
		{"an attribute less", "health", Content{Name: "a.xml", Body: []byte(`<HealthData><Record more="1"/></HealthData>`),
			Whole: true}, "absent_member FILE health HealthData/Record/unit"},
		{"columns", "table", Content{Name: "a.csv", Body: []byte("Title,\"Date\",Device Type\r\nx,y,z\r\n"), Whole: true},
			"new_member FILE table device_type"},
		{"a table without headings", "table", Content{Name: "a.csv", Body: []byte("Dark,1/2/26\r\n"), Whole: true}, ""},
		{"a page", "table", Content{Name: "a.html", Body: []byte("<html>"), Whole: true}, ""},
	} {
		compared := Compare(sheet)
		compared.Content("s", c.store, c.content)
		var got []string
		if r := compared.Report("s", true); r != nil {
			for _, d := range r.Differences {
				got = append(got, string(d.Kind)+" "+d.Route+" "+d.Member)
			}
		}
		if all := strings.Join(got, ", "); c.want == "" && all != "" || !strings.Contains(all, c.want) ||
			strings.Contains(all, "mara") || strings.Contains(all, "Dark") {
			t.Errorf("%s: %q, want %q", c.name, all, c.want)
		}
	}
	compared := Compare(sheet)
	compared.Element("s", "list", "", []byte(`{"id":7}`))
	if r := compared.Report("s", true); r == nil || len(r.Differences) != 1 || r.Differences[0].Member != "[]/id" {
		t.Errorf("an element of another type: %+v", r)
	}
}

// TestTables compares schemas by names and declared types. A name that could be data is not shown.
func TestTables(t *testing.T) {
	t.Parallel()
	c := Compare("FILE phone\n\tmessage! object\n\tmessage/id! number\n\tmessage/body! text\n\tmessage/raw " +
		"null\nnames call_log\n")
	c.Tables("messages", "phone", map[string]map[string]string{
		"message":          {"id": "VARCHAR(8)", "raw": "BLOB", "colour": "", "+15550100": "TEXT"},
		"call_log":         {"anything": "TEXT"},
		"polls":            {"id": "INTEGER"},
		"chat 15550100199": {"id": "INTEGER"},
	})
	want := []string{
		"absent_member message/body", "new_member ?", "new_member message/?", "new_member message/colour", "new_member polls",
		"other_type message/id",
	}
	var got []string
	for _, d := range c.Report("messages", false).Differences {
		got = append(got, string(d.Kind)+" "+d.Member)
	}
	if slices.Sort(got); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if c.Tables("messages", "other", nil); c.Report("messages", false).Answers != 1 {
		t.Error("a store that the sheet does not have was compared")
	}
}
