package runner

import (
	"bytes"
	"context"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"

	"github.com/pdpp-go/pdpp/internal/collect/childprocess"
	"github.com/pdpp-go/pdpp/manifest"
	"github.com/pdpp-go/pdpp/protocol"
)

// document is the text of all pages in docs/extend/protocol, divided into the parts that the tests check.
type document struct {
	text     string
	fenced   map[string][]string // lines of the fenced blocks, by the block's language
	sections map[protocol.MessageType]*section
}

// section is the document's description of one message type.
type section struct {
	examples []string
	members  map[string]string // path to what the column "required" says
}

var (
	messageHeading = regexp.MustCompile(`^## [A-Z_]+$`)
	memberRow      = regexp.MustCompile("^\\| (`[^|]+`) \\| ([^|]+) \\|")
	quotedSpan     = regexp.MustCompile("`([^`]+)`")
)

func readDocument(t testing.TB) *document {
	t.Helper()
	pages, err := filepath.Glob("../../../docs/extend/protocol/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	var text strings.Builder
	for _, page := range pages {
		b, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		text.Write(b)
	}
	d := &document{text: text.String(), fenced: map[string][]string{}, sections: map[protocol.MessageType]*section{}}
	var in string
	var at *section
	for line := range strings.Lines(d.text) {
		line = strings.TrimRight(line, "\n")
		switch {
		case in != "" && line == "```":
			in = ""
		case in != "":
			d.fenced[in] = append(d.fenced[in], line)
			if at != nil && in == "jsonl" {
				at.examples = append(at.examples, line)
			}
		case strings.HasPrefix(line, "```"):
			in = strings.TrimPrefix(line, "```")
		case messageHeading.MatchString(line):
			at = &section{members: map[string]string{}}
			d.sections[protocol.MessageType(line[3:])] = at
		case strings.HasPrefix(line, "# "), strings.HasPrefix(line, "## "):
			at = nil
		default:
			if row := memberRow.FindStringSubmatch(line); row != nil && at != nil && strings.Count(line, "|") == 4 {
				for _, name := range quotedSpan.FindAllStringSubmatch(row[1], -1) {
					at.members[name[1]] = row[2]
				}
			}
		}
	}
	return d
}

// says reports whether the document contains the word in code quotes.
func (d *document) says(word string) bool { return strings.Contains(d.text, "`"+word+"`") }

// The document describes every message with exactly its members, marks the required ones correctly, and shows each in
// an example that the decoder accepts.
func TestProtocolDocument(t *testing.T) {
	d := readDocument(t)
	types := slices.Concat(protocol.ConnectorTypes, protocol.RunnerTypes)
	for name := range d.sections {
		if !slices.Contains(types, name) {
			t.Errorf("## %s is no message", name)
		}
	}
	for _, name := range types {
		s := d.sections[name]
		if s == nil || len(s.examples) == 0 {
			t.Errorf("%s has no section with an example", name)
			continue
		}
		known := membersOf(t, name)
		shown := map[string]bool{}
		for _, line := range s.examples {
			m := decodeExample(t, name, line)
			if m == nil {
				continue
			}
			gather(shown, "", parseJSON(t, line))
		}
		for _, path := range known {
			if _, reported := s.members[path]; !reported {
				t.Errorf("%s: the member %s is not told", name, path)
			}
			if !shown[path] {
				t.Errorf("%s: no example shows %s", name, path)
			}
		}
		for path, required := range s.members {
			if !slices.Contains(known, path) {
				t.Errorf("%s: %s is no member", name, path)
			}
			holdRequired(t, name, s.examples, path, required)
		}
	}
}

func decodeExample(t *testing.T, name protocol.MessageType, line string) protocol.Message {
	t.Helper()
	m, err := protocol.NewDecoder(directionOf(name)).Decode([]byte(line))
	if err != nil {
		t.Errorf("%s: the example %s: %v", name, line, err)
		return nil
	}
	if m.Type() != name {
		t.Errorf("an example of %s stands under %s", m.Type(), name)
	}
	return m
}

func directionOf(name protocol.MessageType) protocol.Direction {
	if slices.Contains(protocol.RunnerTypes, name) {
		return protocol.ToConnector
	}
	return protocol.FromConnector
}

// holdRequired takes the member out of the first example that has it: "yes" means
// that the decoder refuses the rest, "no" that it does not.
func holdRequired(t *testing.T, name protocol.MessageType, examples []string, path, required string) {
	t.Helper()
	if required != "yes" && required != "no" {
		return // required under a condition, which the table describes
	}
	for _, line := range examples {
		tree := parseJSON(t, line)
		if !remove(tree, path) {
			continue
		}
		rest, err := json.Marshal(tree)
		if err != nil {
			t.Fatal(err)
		}
		_, err = protocol.NewDecoder(directionOf(name)).Decode(rest)
		if refused := err != nil; refused != (required == "yes") {
			t.Errorf("%s: %s is said to be required: %s; without it the decoder says %v", name, path, required, err)
		}
		return
	}
}

func parseJSON(t *testing.T, line string) map[string]any {
	t.Helper()
	var tree map[string]any
	if err := json.Unmarshal([]byte(line), &tree); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return tree
}

// gather lists the paths of a tree's members.
func gather(into map[string]bool, prefix string, tree map[string]any) {
	for name, v := range tree {
		into[prefix+name] = true
		switch v := v.(type) {
		case map[string]any:
			gather(into, prefix+name+".", v)
		case []any:
			for _, e := range v {
				if object, ok := e.(map[string]any); ok {
					gather(into, prefix+name+"[].", object)
				}
			}
		}
	}
}

func remove(tree map[string]any, path string) bool {
	head, rest, nested := strings.Cut(path, ".")
	if !nested {
		_, has := tree[head]
		delete(tree, head)
		return has
	}
	name, list := strings.CutSuffix(head, "[]")
	v := tree[name]
	if list {
		entries, _ := v.([]any)
		if len(entries) == 0 {
			return false
		}
		v = entries[0]
	}
	object, ok := v.(map[string]any)
	return ok && remove(object, rest)
}

// membersOf lists the paths of all members of a message, by its Go type.
func membersOf(t *testing.T, name protocol.MessageType) []string {
	t.Helper()
	if name == protocol.TypeRecord { // its members have no tags: the encoder knows them
		line, err := protocol.AppendLine(nil, &protocol.Record{Stream: "s", Key: "k", Op: protocol.OpDelete, Data: object(),
			EmittedAt: "2026-01-02",
			Blobs:     []protocol.Blob{{Field: "f", Path: "p", MIME: "m", Name: "n"}}, File: "e"})
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		members := map[string]bool{}
		gather(members, "", parseJSON(t, string(line)))
		for member := range members {
			if member != "type" {
				out = append(out, member)
			}
		}
		return out
	}
	return fieldPaths("", messageOf(t, name))
}

// messageOf is the Go type of a message: what the decoder makes of a line of this type.
func messageOf(t *testing.T, name protocol.MessageType) reflect.Type {
	t.Helper()
	for _, line := range readDocument(t).sections[name].examples {
		if m, err := protocol.NewDecoder(directionOf(name)).Decode([]byte(line)); err == nil {
			return reflect.TypeOf(m).Elem()
		}
	}
	t.Fatalf("%s: no example decodes", name)
	return nil
}

func fieldPaths(prefix string, typ reflect.Type) (out []string) {
	for i := range typ.NumField() {
		f := typ.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if strings.Contains(options, "embed") {
			if f.Type.Kind() == reflect.Struct {
				out = append(out, fieldPaths(prefix, f.Type)...)
			}
			continue
		}
		out = append(out, prefix+name)
		inner, mark := f.Type, "."
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		if inner.Kind() == reflect.Slice {
			inner, mark = inner.Elem(), "[]."
		}
		if inner.Kind() == reflect.Struct && inner != reflect.TypeFor[protocol.Count]() {
			out = append(out, fieldPaths(prefix+name+mark, inner)...)
		}
	}
	return out
}

// The document contains every word of the protocol and the runner: types, vocabularies, reasons, rules, and outcomes.
func TestProtocolDocumentHasEveryWord(t *testing.T) {
	d := readDocument(t)
	words := map[string][]string{
		"protocol": wordsOf(t, "../../../protocol", "MessageType", "Op", "CollectionMode", "CursorMode", "DoneStatus",
			"InteractionKind",
			"ResponseStatus", "RecoveryAction", "ProgressPosture", "OwnerAction", "Sensitivity", "AttachmentKind",
			"AssistanceOutcome",
			"CircuitState", "CircuitReason", "CircuitTrigger", "RateBackoffReason", "WaitReason", "GapStatus", "KnownGapKind",
			"KnownGapSeverity", "Reason", "Subtype"),
		"runner": wordsOf(t, ".", "Reason"),
	}
	if len(words["protocol"]) < 100 || len(words["runner"]) < 16 {
		t.Fatalf("only %d and %d words were found", len(words["protocol"]), len(words["runner"]))
	}
	for origin, list := range words {
		for _, word := range list {
			if !d.says(word) && d.sections[protocol.MessageType(word)] == nil {
				t.Errorf("the document lacks %q of %s", word, origin)
			}
		}
	}
	for _, path := range fieldPaths("", reflect.TypeFor[protocol.Violation]()) {
		if !d.says(path) {
			t.Errorf("the document lacks the member %q of a violation", path)
		}
	}
	for _, word := range []string{string(manifest.CheckpointSlice), string(manifest.CheckpointRun),
		protocol.ScopeNotSupported,
		protocol.StreamCollectionFailed, protocol.PacePrefix, protocol.ClassRunCap, protocol.ClassUpstreamPressure} {
		if !d.says(word) {
			t.Errorf("the document lacks %q", word)
		}
	}
}

// wordsOf finds the string values of the named types: typed constants and the
// elements of literals of their slices.
func wordsOf(t *testing.T, dir string, types ...string) []string {
	t.Helper()
	var out []string
	add := func(e ast.Expr) {
		if lit, ok := e.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			if s, err := strconv.Unquote(lit.Value); err == nil && s != "" && !slices.Contains(out, s) {
				out = append(out, s)
			}
		}
	}
	named := func(e ast.Expr) bool {
		id, ok := e.(*ast.Ident)
		return ok && slices.Contains(types, id.Name)
	}
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				if named(n.Type) {
					for _, v := range n.Values {
						add(v)
					}
				}
			case *ast.CompositeLit:
				if list, ok := n.Type.(*ast.ArrayType); ok && named(list.Elt) {
					for _, v := range n.Elts {
						add(v)
					}
				}
			}
			return true
		})
	}
	return out
}

// The limits that the document promises are those of the code.
func TestProtocolDocumentLimits(t *testing.T) {
	d := readDocument(t)
	opts := Options{}.withDefaults()
	for _, limit := range []string{
		fmt.Sprintf("| one line | %d MiB |", protocol.DefaultMaxLine>>20),
		fmt.Sprintf("| nesting | %d levels, data included |", protocol.MaxDepth),
		fmt.Sprintf("| an open slice in memory | %d MiB |", opts.MaxOpenBytes>>20),
		fmt.Sprintf("| a page of gaps | %d KiB unless asked otherwise, %d KiB to %d MiB, at most %d gaps |",
			defaultGapPageBytes>>10, minGapPageBytes>>10, maxGapPageBytes>>20, maxGapCandidates),
		fmt.Sprintf("| silence | %g hours ", opts.NoProgress.Hours()),
		fmt.Sprintf("| exit after DONE, or after stdout is closed | %g seconds, then SIGTERM |", opts.ExitGrace.Seconds()),
		fmt.Sprintf("| SIGTERM to SIGKILL | %d milliseconds |", opts.KillGrace.Milliseconds()),
		fmt.Sprintf("| stderr | its last %d KiB |", childprocess.MaxStderrTail>>10),
		fmt.Sprintf("| %d KiB each, %d levels, %d members an object, %d entries a list, %d bytes a text;",
			maxDiagnosticBytes>>10, maxDiagnosticDepth, maxObjectMembers, maxDiagnosticList, maxDiagnosticText),
		fmt.Sprintf("| known gaps of one run | %d |", maxKnownGaps),
		fmt.Sprintf("| timeline of one run | %d,%03d entries; progress at most every %g seconds |", maxEvents/1000,
			maxEvents%1000, progressInterval.Seconds()),
		fmt.Sprintf("| requests for assistance | %d,%03d |", maxAssistance/1000, maxAssistance%1000),
		fmt.Sprintf("more than %g days counts as %g |", maxProviderWait.Hours()/24, maxProviderWait.Hours()/24),
		fmt.Sprintf("cut to %d bytes |", maxMessage),
	} {
		if !strings.Contains(d.text, limit) {
			t.Errorf("the document does not say %q", limit)
		}
	}
}

// The transcript in the document is a real run: a child sends its lines and receives the runner's lines as written,
// and the promised records are stored.
func TestProtocolTranscript(t *testing.T) {
	d := readDocument(t)
	start := decodeStart(t, d.fenced["transcript"][0], "R ")
	spoken := &dialogue{spec: d.spec(t, start)}
	spoken.spec.Scope = nil // the whole manifest, as in the transcript's START
	spoken.pending = slices.Clone(start.DetailGaps)
	spoken.asker = askerFunc(func(context.Context, protocol.Interaction) (protocol.InteractionResponse, error) {
		return protocol.InteractionResponse{Status: protocol.ResponseSuccess, Data: jsontext.Value(`{"code":"314159"}`)}, nil
	})
	o := act(t, spoken, t.Context(), "replays a transcript", "TRANSCRIPT="+strings.Join(d.fenced["transcript"], "\n"))
	if o.StderrTail != "" {
		t.Fatal(o.StderrTail)
	}
	mustSucceed(t, o)
	want := []string{
		"messages/m4", "attempt:gap_m4", "recovered:gap_m4",
		"threads/t9", "messages/m7", "gap:messages/m8", `threads={"after":"2026-02-28T19:00:00Z"}`,
		"labels/boats", "-labels/old", `labels={"etag":"77"}`,
	}
	stored := strings.Fields(strings.Join(spoken.log(), " "))
	slices.Sort(want)
	slices.Sort(stored)
	if diff := cmp.Diff(want, stored); diff != "" {
		t.Errorf("stored (-want +got):\n%s", diff)
	}
	if len(o.KnownGaps) != 1 || o.KnownGaps[0].Kind != protocol.KnownDetailGap {
		t.Errorf("known gaps: %+v", o.KnownGaps)
	}
}

// spec is a run of the document's manifest with the members of its START.
func (d *document) spec(t *testing.T, start *protocol.Start) Spec {
	t.Helper()
	m, err := manifest.Parse([]byte(strings.Join(d.fenced["manifest"], "\n")))
	if err != nil {
		t.Fatal(err)
	}
	return Spec{RunID: start.RunID, Manifest: m, Mode: start.CollectionMode, State: start.State,
		Scope: start.Scope.Streams, Bindings: start.Bindings}
}

func decodeStart(t *testing.T, line, prefix string) *protocol.Start {
	t.Helper()
	text, ok := strings.CutPrefix(line, prefix)
	if !ok {
		t.Fatalf("%q does not begin with START", line)
	}
	m, err := protocol.NewDecoder(protocol.ToConnector).Decode([]byte(text))
	start, isStart := m.(*protocol.Start)
	if err != nil || !isStart {
		t.Fatalf("%s: %v", line, err)
	}
	return start
}

// replayTranscript plays the connector of a transcript, and complains about every
// line that it does not hear as written.
func replayTranscript() {
	for line := range strings.Lines(os.Getenv("TRANSCRIPT")) {
		line = strings.TrimRight(line, "\n")
		if message, ok := strings.CutPrefix(line, "C "); ok {
			say(message)
			continue
		}
		heard, err := stdin.ReadString('\n')
		if want := strings.TrimPrefix(line, "R "); err != nil || !sameJSON(want, heard) {
			fmt.Fprintf(os.Stderr, "expected %s, heard %s (%v)", want, heard, err)
			os.Exit(1)
		}
	}
	if rest, err := io.ReadAll(stdin); err != nil || len(rest) > 0 {
		os.Exit(17) // stdin was not simply closed
	}
}

func sameJSON(a, b string) bool {
	x, y := jsontext.Value(a), jsontext.Value(b)
	return x.Canonicalize() == nil && y.Canonicalize() == nil && bytes.Equal(x, y)
}

// Each mistake of the document breaks exactly the rule beside it, and no rule is
// without one.
func TestProtocolMistakes(t *testing.T) {
	d := readDocument(t)
	lines := slices.Concat(d.fenced["mistakes"], d.fenced["rejections"])
	start := decodeStart(t, lines[0], "START ")
	mistakes := map[protocol.Subtype][]string{
		// too long to print
		protocol.LineTooLong: {`{"type":"PROGRESS","message":"` + strings.Repeat("x", protocol.DefaultMaxLine) + `"}`},
	}
	for _, line := range lines[2:] {
		rule, text, _ := strings.Cut(line, " ")
		mistakes[protocol.Subtype(rule)] = append(mistakes[protocol.Subtype(rule)], strings.TrimLeft(text, " "))
	}
	for _, word := range wordsOf(t, "../../../protocol", "Subtype") {
		if mistakes[protocol.Subtype(word)] == nil {
			t.Errorf("the document does not show %s", word)
		}
		if !strings.Contains(d.text, "\n| `"+word+"`") && !strings.Contains(d.text, ", `"+word+"`") {
			t.Errorf("the table of rules lacks %s", word)
		}
	}
	for rule, texts := range mistakes {
		t.Run(string(rule), func(t *testing.T) {
			spoken := &dialogue{spec: d.spec(t, start)}
			spoken.pending = slices.Clone(start.DetailGaps)
			if rule != protocol.NoInteractiveBinding {
				spoken.asker = askerFunc(nil) // an owner who does not answer
			}
			spoken.spec.Foreign = rule != protocol.KeyMismatch
			o := spoken.play(t.Context(), func(c *connector) int {
				c.start()
				for _, line := range texts {
					c.line(line)
				}
				if rule.OfRecord() {
					return c.done(protocol.DoneSucceeded)
				}
				for c.hear() != nil {
				}
				return 0
			})
			if rule.OfRecord() {
				mustReject(t, spoken, o, rule)
				return
			}
			mustViolate(t, o, rule)
		})
	}
}
