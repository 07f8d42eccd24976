package grantview

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pdpp-go/pdpp/internal/judge/evidence"
	"github.com/pdpp-go/pdpp/internal/judge/health"
	"github.com/pdpp-go/pdpp/internal/judge/verdict"
	"github.com/pdpp-go/pdpp/manifest"
)

// modulePath is the prefix of the packages of this module.
const modulePath = "github.com/pdpp-go/pdpp"

// Nothing that knows a diagnosis is among the packages that this one needs.
func TestDiagnosticsAreNotEvenLinked(t *testing.T) {
	t.Attr("spec", "CH-06.2")
	t.Attr("spec", "CH-19.3")
	t.Attr("spec", "CH-27.4")
	out, err := exec.Command("go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatalf("list the packages: %v", err)
	}
	deps := strings.Fields(string(out))
	if !slices.Contains(deps, modulePath+"/internal/share/readapi/grantview") {
		t.Fatalf("the list does not hold the package itself: %d entries", len(deps))
	}
	for _, d := range deps {
		own, isOwn := strings.CutPrefix(d, modulePath+"/")
		if isOwn && !slices.Contains([]string{"internal/share/readapi/grantview", "manifest", "protocol"}, own) {
			t.Errorf("needs %s", d)
		}
	}
}

// exported is every type that a response can be made of.
var exported = map[string]reflect.Type{
	"FreshnessStatus": reflect.TypeFor[FreshnessStatus](), "Freshness": reflect.TypeFor[Freshness](),
	"Stream": reflect.TypeFor[Stream](), "StreamList": reflect.TypeFor[StreamList](),
	"StreamSchema": reflect.TypeFor[StreamSchema](),
	"Blob":         reflect.TypeFor[Blob](), "Record": reflect.TypeFor[Record](),
	"RecordPage": reflect.TypeFor[RecordPage](),
	"Change":     reflect.TypeFor[Change](), "ChangePage": reflect.TypeFor[ChangePage](),
	"SchemaList": reflect.TypeFor[SchemaList](), "Connector": reflect.TypeFor[Connector](),
	"ConnectorList": reflect.TypeFor[ConnectorList](),
	"RangeFilter":   reflect.TypeFor[RangeFilter](), "Aggregations": reflect.TypeFor[Aggregations](),
	"Aggregation":     reflect.TypeFor[Aggregation](),
	"AggregationList": reflect.TypeFor[AggregationList](), "Group": reflect.TypeFor[Group](),
	"Whole": reflect.TypeFor[Whole](), "Completeness": reflect.TypeFor[Completeness](),
	"Completed": reflect.TypeFor[Completed](), "Span": reflect.TypeFor[Span](), "Expansion": reflect.TypeFor[Expansion](),
	"Related": reflect.TypeFor[Related](), "Expandable": reflect.TypeFor[Expandable](),
	"RecordAnswer": reflect.TypeFor[RecordAnswer](),
}

// allowed are the members that a client may read. A new one is added here on
// purpose or not at all.
var allowed = []string{
	"object", "data", "name", "record_count", "last_updated", "freshness", "status", "captured_at", "description",
	"schema",
	"primary_key", "cursor_field", "stream", "id", "emitted_at", "deleted", "has_more", "next_cursor",
	"next_changes_since",
	"connection_id", // distinguishes two accounts at one source
	"filter_fields", "range_filters", "field", "operators", "aggregations", "count", "count_distinct", "group_by",
	"group_by_time", "sum", "min", "max",
	"groups", "key", "value", "truncated",
	"completeness", "as_of", "range", "whole", "covered", "from", "to", // how fresh, and in which range of time
	"expanded", "expandable", "many", "default_limit", "max_limit", // what belongs to a record
	"connector_name", "searchable", // for sentences about completeness, and what a search looks at
	"blobs", "sha256", "bytes", "mime", // the files of a record
}

// harmless are members of the owner's types with names that mean something else in a client's type, such as a
// record's id, the status of freshness and a stream's name.
var harmless = []string{"id", "status", "stream", "captured_at", "name", "freshness", "count"}

// No type has a member that the owner's diagnostics have.
func TestNoMemberIsADiagnosis(t *testing.T) {
	t.Attr("spec", "CH-06.2")
	t.Attr("spec", "CH-19.3")
	t.Attr("spec", "CH-27.4")
	owners := map[string]bool{}
	for _, owner := range []reflect.Type{
		reflect.TypeFor[verdict.Verdict](), reflect.TypeFor[health.Snapshot](), reflect.TypeFor[health.LocalProgress](),
		reflect.TypeFor[evidence.Credential](), reflect.TypeFor[evidence.Failure](), reflect.TypeFor[evidence.Gaps](),
	} {
		collect(owner, owners)
	}
	for _, member := range []string{"detail", "trace", "conditions", "detail_gap_backlog", "outbox_counts", "dead_letter",
		"pending", "rejection_reason", "reason_code"} {
		if !owners[member] {
			t.Fatalf("the owner's types have no %q: the search does not see what it is for", member)
		}
	}
	for name, typ := range exported {
		members := map[string]bool{}
		collect(typ, members)
		for member := range members {
			if owners[member] && !slices.Contains(harmless, member) {
				t.Errorf("%s has %q, which is the owner's", name, member)
			}
			if !slices.Contains(allowed, member) {
				t.Errorf("%s has %q, which nobody has allowed", name, member)
			}
		}
	}
}

// collect gathers the JSON names of a type and of all that it holds. A member
// that could hold anything but a record's own data or schema is an error.
func collect(t reflect.Type, into map[string]bool) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Array:
		collect(t.Elem(), into)
	case reflect.Map, reflect.Interface:
		into["holds anything: "+t.String()] = true
	case reflect.Struct:
		if t == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range t.NumField() {
			f := t.Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.Anonymous && name == "" {
				collect(f.Type, into)
				continue
			}
			into[name] = true
			collect(f.Type, into)
		}
	}
}

// The list above is complete.
func TestEveryTypeIsHeldToTheRule(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, source, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.TypeSpec); ok && s.Name.IsExported() {
				found++
				if exported[s.Name.Name] == nil {
					t.Errorf("%s is not among the types that are checked", s.Name.Name)
				}
			}
			return true
		})
	}
	if found != len(exported) {
		t.Errorf("%d types declared, %d checked", found, len(exported))
	}
}

func TestShapes(t *testing.T) {
	at := time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC)
	n := int64(0)
	no := false
	tests := map[string]struct {
		value any
		want  string
	}{
		"nothing granted": {NewStreamList(nil, nil), `{"object":"list","data":[],"completeness":[]}`},
		"counted and not": {NewStreamList([]Stream{{ConnectionID: "c1", Name: "trees", Records: &n, LastUpdated: &at,
			Freshness: Freshness{FreshnessCurrent, &at}}, {ConnectionID: "c2", Name: "pears"}}, nil),
			`{"object":"list","data":[{"object":"stream","connection_id":"c1","name":"trees","record_count":0,` +
				`"last_updated":"2026-03-01T08:00:00Z","freshness":{"status":"current","captured_at":"2026-03-01T08:00:00Z"}},` +
				`{"object":"stream","connection_id":"c2","name":"pears","record_count":null,"last_updated":null,` +
				`"freshness":{"status":"unknown"}}],"completeness":[]}`},
		"records": {NewRecordPage([]Record{{ConnectionID: "c1", Stream: "trees", ID: "t1",
			Data: json.RawMessage(`{"kind":"pear"}`), EmittedAt: at}}, "c2",
			[]Completeness{{ConnectionID: "c1", Stream: "trees", AsOf: &at, Freshness: FreshnessStale, Whole: WholeYes,
				Covered: []Span{{To: &at}}}}),
			`{"object":"list","data":[{"object":"record","connection_id":"c1","stream":"trees","id":"t1",` +
				`"data":{"kind":"pear"},"emitted_at":"2026-03-01T08:00:00Z"}],"has_more":true,"next_cursor":"c2",` +
				`"completeness":[{"connection_id":"c1","stream":"trees","as_of":"2026-03-01T08:00:00Z","freshness":"stale",` +
				`"range":{},"whole":"yes","covered":[{"to":"2026-03-01T08:00:00Z"}]}]}`},
		"a deletion": {NewChangePage([]Change{{ConnectionID: "c1", Stream: "trees", ID: "t1", Deleted: true,
			Data: json.RawMessage(`{"kind":"pear"}`), EmittedAt: at}}, "s9", false, nil),
			`{"object":"list","data":[{"object":"change","connection_id":"c1","stream":"trees","id":"t1","deleted":true,` +
				`"emitted_at":"2026-03-01T08:00:00Z"}],"has_more":false,"next_changes_since":"s9","completeness":[]}`},
		"connectors": {NewConnectorList([]Connector{{ID: "orchard", Name: "Orchard"}}),
			`{"object":"list","data":[{"object":"connector","id":"orchard","name":"Orchard"}]}`},
		"no schemas": {NewSchemaList(nil), `{"object":"list","data":[]}`},
		"a schema": {SchemaOf("c1", &manifest.Stream{
			Name: "trees", Schema: json.RawMessage(`{"type":"object"}`), PrimaryKey: manifest.PrimaryKey{"id"},
			Required: &no, CoveragePolicy: "unsupported", CoverageStrategy: "detail_gap",
		}), `{"object":"stream","connection_id":"c1","name":"trees","schema":{"type":"object"},"primary_key":["id"]}`},
	}
	for name, tt := range tests {
		got, err := json.Marshal(tt.value)
		if err != nil || string(got) != tt.want {
			t.Errorf("%s: %s (%v)\nwant %s", name, got, err, tt.want)
		}
	}
}
